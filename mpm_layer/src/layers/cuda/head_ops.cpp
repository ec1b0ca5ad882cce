// SPDX-License-Identifier: Apache-2.0
// Operators of heads (docs/ops.md) on a device. All of them work on plain arrays.
#include <algorithm>

#include "kernels/cuda/tensor.h"
#include "layers/cuda/net.h"
#include "layers/cuda/work_op.h"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

using Call = DeviceOp::Call;

ElementLayout layoutOf(const Shape& result) {
  if (result.size() > ElementLayout::kMaxRank)
    throw Error("has a tensor of rank " + std::to_string(result.size()) + ", and a GPU takes up to " +
                std::to_string(ElementLayout::kMaxRank));
  ElementLayout layout;
  layout.rank = static_cast<int>(result.size());
  std::copy(result.begin(), result.end(), layout.shape);
  return layout;
}

/// An array on the device and its shape.
struct Operand {
  Shape shape;
  const float* data;
};

void broadcast(const Operand& operand, int k, ElementLayout& layout) {
  const std::vector<std::size_t> steps = broadcastStrides(operand.shape, static_cast<std::size_t>(layout.rank));
  std::copy(steps.begin(), steps.end(), layout.steps[k]);
}

}  // namespace

DeviceOpPtr Net::convolve(const ConvolutionSpec& spec) {
  return opOf([this, convolution = Convolution(stream, spec)](const Call& call) {
    const cv::Mat &from = call.inputs[0], &to = call.outputs[0];
    std::vector<const float*> addends;
    for (std::size_t i = 1; i < call.inputs.size(); ++i) addends.push_back(dense(call.inputs[i]));
    const MapsView<const float> x{dense(from), from.size[0], from.size[1], from.size[2], from.size[3]};
    const MapsView<float> y{newDense(to), to.size[0], to.size[1], to.size[2], to.size[3]};
    convolution.run(stream, gemm, convolution_workspace, x, addends, y);
  });
}

DeviceOpPtr Net::activateElements(Activation activation) {
  return opOf([this, activation](const Call& call) {
    const float* const x = dense(call.inputs[0]);
    activate(stream, activation, false, 1, static_cast<int>(call.inputs[0].total()), Number::kFloat, x,
             newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::mapElements(const std::string& name, const std::vector<int>& constant_at,
                             const std::vector<cv::Mat>& constants) {
  const std::optional<DeviceFunction> function = deviceFunction(name);
  if (!function) return nullptr;
  struct Constant {
    std::size_t at;
    Shape shape;
    Buffer<float> values;
  };
  std::vector<Constant> kept;
  for (std::size_t i = 0; i < constants.size(); ++i)
    kept.push_back({static_cast<std::size_t>(constant_at[i]), shapeOf(constants[i]),
                    uploaded(stream, std::vector<float>(constants[i].ptr<float>(),
                                                        constants[i].ptr<float>() + constants[i].total()))});
  return opOf([this, function = *function, kept = std::move(kept)](const Call& call) {
    std::vector<Operand> from;
    for (const cv::Mat& input : call.inputs) from.push_back({shapeOf(input), dense(input)});
    for (const Constant& constant : kept)
      from.insert(from.begin() + static_cast<std::ptrdiff_t>(std::min(constant.at, from.size())),
                  {constant.shape, constant.values.data()});
    ElementLayout layout = layoutOf(shapeOf(call.outputs[0]));
    const float* x[3];
    for (int k = 0; k < 3; ++k) {
      const Operand& operand = from[std::min<std::size_t>(static_cast<std::size_t>(k), from.size() - 1)];
      x[k] = operand.data;
      broadcast(operand, k, layout);
    }
    cuda::mapElements(stream, function, layout, x, newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::windows(const WindowsSpec& spec) {
  return opOf([this, axis = spec.axis,
               windows = Windows(stream, spec.indices, spec.weights, spec.taps, spec.fill)](const Call& call) {
    const Shape shape = shapeOf(call.inputs[0]);
    const float* const x = dense(call.inputs[0]);
    windows.run(stream, x, countOf(shape, 0, axis), shape[axis], countOf(shape, axis + 1), newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::normaliseGroups(int groups, float eps, const std::vector<float>& scale,
                                 const std::vector<float>& offset) {
  return opOf([this, groups, eps, channels = static_cast<int>(scale.size()), scales = uploaded(stream, scale),
               offsets = uploaded(stream, offset)](const Call& call) {
    const Shape shape = shapeOf(call.inputs[0]);
    const std::size_t width = countOf(shape, 2);
    const std::size_t size = static_cast<std::size_t>(channels / groups) * width;
    const std::size_t slices = static_cast<std::size_t>(shape[0]) * static_cast<std::size_t>(groups);
    const float* const x = dense(call.inputs[0]);
    cuda::normaliseGroups(stream, x, slices, size, width, channels, eps, scales.data(), offsets.data(),
                          newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::einsum(const EinsumLetters& letters) {
  struct Ordered {
    Buffer<float> operands[2], products;
  };
  // Both operands become rows {batch, rows or columns, summed}, their products {batch, rows, columns}.
  return opOf([this, letters, memory = Ordered()](const Call& call) mutable {
    const Shapes shapes = {shapeOf(call.inputs[0]), shapeOf(call.inputs[1])};
    const auto sides = [&](const std::string& axes) { return letters.sides(axes, shapes); };
    const auto count = [&](const std::string& axes) { return static_cast<int>(countOf(sides(axes))); };
    const int batch = count(letters.batch), rows = count(letters.rows), columns = count(letters.columns),
              depth = count(letters.summed);
    // Copies an array, whose axes are `own` with these steps, in the order `axes`.
    const auto reorder = [&](const float* data, const std::string& own, const std::vector<std::size_t>& steps,
                             const std::string& axes, float* to) {
      ElementLayout layout = layoutOf(sides(axes));
      for (std::size_t i = 0; i < axes.size(); ++i)
        if (const std::size_t axis = own.find(axes[i]); axis != std::string::npos)
          layout.steps[0][i] = static_cast<long long>(steps[axis]);
      const float* const x[3] = {data, data, data};
      cuda::mapElements(stream, DeviceFunction::kCopy, layout, x, to);
    };
    const float* ordered[2];
    for (int k = 0; k < 2; ++k) {
      const std::string axes = letters.batch + (k == 0 ? letters.rows : letters.columns) + letters.summed;
      float* const to = memory.operands[k].atLeast(stream, area(batch * (k == 0 ? rows : columns), depth));
      reorder(dense(call.inputs[static_cast<std::size_t>(k)]), letters.operand[k],
              broadcastStrides(shapes[k], shapes[k].size()), axes, to);
      ordered[k] = to;
    }
    float* const products = memory.products.atLeast(stream, area(batch * rows, columns));
    for (int b = 0; b < batch; ++b)
      gemm.run(stream,
               {Precision::kFp32, rows, depth, columns, ordered[0] + area(b * rows, depth),
                ordered[1] + area(b * columns, depth), nullptr, Into::kFloat, products + area(b * rows, columns)});
    const std::string made = letters.batch + letters.rows + letters.columns;
    reorder(products, made, stridesOf(sides(made)), letters.out, newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::reshape() {
  return opOf([this](const Call& call) {
    dense(call.inputs[0]);
    successor(call.inputs[0], call.outputs[0], call.takes_first);
  });
}

DeviceOpPtr Net::transpose(const std::vector<int>& axes) {
  return opOf([this, axes](const Call& call) {
    ElementLayout layout = layoutOf(shapeOf(call.outputs[0]));
    const std::vector<std::size_t> steps = stridesOf(shapeOf(call.inputs[0]));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      layout.steps[0][i] = static_cast<long long>(steps[static_cast<std::size_t>(axes[i])]);
    }
    const float* const data = dense(call.inputs[0]);
    const float* const x[3] = {data, data, data};
    cuda::mapElements(stream, DeviceFunction::kCopy, layout, x, newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::concatenate(std::size_t axis) {
  return opOf([this, axis](const Call& call) {
    const Shape shape = shapeOf(call.outputs[0]);
    const std::size_t rows = countOf(shape, 0, axis), inner = countOf(shape, axis + 1);
    const std::size_t stride = static_cast<std::size_t>(shape[axis]) * inner;
    float* to = newDense(call.outputs[0]);
    for (const cv::Mat& input : call.inputs) {
      const std::size_t width = static_cast<std::size_t>(input.size[static_cast<int>(axis)]) * inner;
      copyBlocks(stream, dense(input), rows, width, stride, to);
      to += width;
    }
  });
}

}  // namespace mpm::cuda
