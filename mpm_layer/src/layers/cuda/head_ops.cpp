// SPDX-License-Identifier: Apache-2.0
// Operators of heads (docs/ops.md) on a device. All of them work on plain arrays.
#include <algorithm>

#include "kernels/cuda/reduce.h"
#include "kernels/cuda/sampling.h"
#include "kernels/cuda/tensor.h"
#include "layers/cuda/net.h"
#include "layers/cuda/work_op.h"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

using Call = DeviceOp::Call;

ElementLayout layoutOf(const Shape& result) {
  if (result.size() > ElementLayout::kMaxRank) {
    throw Error("has a tensor of rank " + std::to_string(result.size()) + ", and a GPU takes up to " +
                std::to_string(ElementLayout::kMaxRank));
  }
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

/// The operands of an operator: its inputs, and constants that stay on the device.
class Operands {
 public:
  Operands(const Stream& stream, const ConstantOperands& constants) {
    for (std::size_t i = 0; i < constants.values.size(); ++i) {
      const cv::Mat& value = constants.values[i];
      kept_.push_back({static_cast<std::size_t>(std::max(constants.at[i], 0)), shapeOf(value),
                       uploaded(stream, std::vector<float>(value.ptr<float>(), value.ptr<float>() + value.total()))});
    }
  }

  std::vector<Operand> of(Net& net, const Call& call) const {
    std::vector<Operand> all;
    for (const cv::Mat& input : call.inputs) all.push_back({shapeOf(input), net.dense(input)});
    for (const Constant& constant : kept_) {
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(std::min(constant.at, all.size())),
                 {constant.shape, constant.values.data()});
    }
    return all;
  }

 private:
  struct Constant {
    std::size_t at;
    Shape shape;
    Buffer<float> values;
  };
  std::vector<Constant> kept_;
};

void broadcast(const Operand& operand, int k, ElementLayout& layout) {
  const std::vector<std::size_t> steps = broadcastStrides(operand.shape, static_cast<std::size_t>(layout.rank));
  std::copy(steps.begin(), steps.end(), layout.steps[k]);
}

/// Axes with these sides, and their steps in an operand.
ElementLayout layoutOf(const Shape& sides, const std::vector<std::size_t>& steps) {
  ElementLayout layout = layoutOf(sides);
  std::copy(steps.begin(), steps.end(), layout.steps[0]);
  return layout;
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

DeviceOpPtr Net::mapElements(const std::string& name, const ConstantOperands& constants) {
  const std::optional<DeviceFunction> function = deviceFunction(name);
  if (!function) return nullptr;
  return opOf([this, function = *function, operands = Operands(stream, constants)](const Call& call) {
    const std::vector<Operand> from = operands.of(*this, call);
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

DeviceOpPtr Net::einsum(const EinsumLetters& letters, const ConstantOperands& constants) {
  struct Ordered {
    Buffer<float> operands[2], products;
  };
  // Both operands become rows {batch, rows or columns, summed}, their products {batch, rows, columns}.
  return opOf([this, letters, memory = Ordered(), operands = Operands(stream, constants)](const Call& call) mutable {
    const std::vector<Operand> from = operands.of(*this, call);
    const Shapes shapes = {from[0].shape, from[1].shape};
    const auto sides = [&](const std::string& axes) { return letters.sides(axes, shapes); };
    const auto count = [&](const std::string& axes) { return static_cast<int>(countOf(sides(axes))); };
    const int batch = count(letters.batch), rows = count(letters.rows), columns = count(letters.columns),
              depth = count(letters.summed);
    // Copies an array, whose axes are `own` with these steps, in the order `axes`.
    const auto reorder = [&](const float* data, const std::string& own, const std::vector<std::size_t>& steps,
                             const std::string& axes, float* to) {
      ElementLayout layout = layoutOf(sides(axes));
      for (std::size_t i = 0; i < axes.size(); ++i) {
        if (const std::size_t axis = own.find(axes[i]); axis != std::string::npos)
          layout.steps[0][i] = static_cast<long long>(steps[axis]);
      }
      const float* const x[3] = {data, data, data};
      cuda::mapElements(stream, DeviceFunction::kCopy, layout, x, to);
    };
    const float* ordered[2];
    for (int k = 0; k < 2; ++k) {
      const std::string axes = letters.batch + (k == 0 ? letters.rows : letters.columns) + letters.summed;
      float* const to = memory.operands[k].atLeast(stream, area(batch * (k == 0 ? rows : columns), depth));
      reorder(from[static_cast<std::size_t>(k)].data, letters.operand[k], broadcastStrides(shapes[k], shapes[k].size()),
              axes, to);
      ordered[k] = to;
    }
    float* const products = memory.products.atLeast(stream, area(batch * rows, columns));
    for (int b = 0; b < batch; ++b) {
      gemm.run(stream,
               {Precision::kFp32, rows, depth, columns, ordered[0] + area(b * rows, depth),
                ordered[1] + area(b * columns, depth), nullptr, Into::kFloat, products + area(b * rows, columns)});
    }
    const std::string made = letters.batch + letters.rows + letters.columns;
    reorder(products, made, stridesOf(sides(made)), letters.out, newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::reduce(const ReduceSpec& spec) {
  const std::optional<DeviceReduction> function = deviceReduction(spec.function);
  if (!function) return nullptr;
  return opOf([this, function = *function, axes = spec.axes, last = spec.last](const Call& call) {
    const auto [kept, gone] = reductionAxes(shapeOf(call.inputs[0]), axes);
    const float* const x = dense(call.inputs[0]);
    reduceElements(stream, function, last, layoutOf(kept.sides, kept.strides), layoutOf(gone.sides, gone.strides), x,
                   newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::softmax(std::size_t axis) {
  return opOf([this, axis](const Call& call) {
    const Shape shape = shapeOf(call.inputs[0]);
    const float* const x = dense(call.inputs[0]);
    softmaxAlong(stream, x, countOf(shape, 0, axis), shape[axis], countOf(shape, axis + 1), newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::topK(std::size_t axis, int k, bool largest) {
  return opOf([this, axis, k, largest](const Call& call) {
    const Shape shape = shapeOf(call.inputs[0]);
    const float* const x = dense(call.inputs[0]);
    float* const values = newDense(call.outputs[0]);
    extremesAlong(stream, x, countOf(shape, 0, axis), shape[axis], countOf(shape, axis + 1), k, largest, values,
                  newDense(call.outputs[1]));
  });
}

DeviceOpPtr Net::gridSample(const GridSampling& sampling, const ConstantOperands& constants) {
  return opOf([this, sampling, operands = Operands(stream, constants)](const Call& call) {
    const std::vector<Operand> from = operands.of(*this, call);
    const Shape &maps = from[0].shape, &grid = from[1].shape;
    const GridSampleCall sample{.batch = maps[0],
                                .channels = maps[1],
                                .height = maps[2],
                                .width = maps[3],
                                .places = grid[1] * grid[2],
                                .maps = from[0].data,
                                .grid = from[1].data,
                                .one_grid = grid[0] == 1};
    cuda::gridSample(stream, sampling, sample, newDense(call.outputs[0]));
  });
}

DeviceOpPtr Net::gather(const std::string& function, std::size_t axis, const ConstantOperands& constants) {
  return opOf([this, function, axis, operands = Operands(stream, constants)](const Call& call) {
    const std::vector<Operand> from = operands.of(*this, call);
    const Shape &x = from[0].shape, &indices = from[1].shape;
    std::vector<std::size_t> strides = stridesOf(x);
    const std::size_t depth = function == "GatherND" ? static_cast<std::size_t>(indices.back()) : 1;
    GatherCall gather{};
    gather.depth = static_cast<int>(depth);
    gather.width = function == "GatherElements" ? 1 : countOf(x, axis + depth);
    for (std::size_t k = 0; k < depth; ++k) {
      gather.sides[k] = x[axis + k];
      gather.steps[k] = static_cast<long long>(strides[axis + k]);
    }
    gather.index_rows = countOf(indices) / std::max<std::size_t>(depth, 1);
    const std::size_t per_batch = countOf(x, axis), outer = countOf(x, 0, axis);
    if (function == "GatherElements") {
      strides[axis] = 0;
      gather.slices = layoutOf(indices, strides);
    } else {
      // Slices of one entry of the outer axes follow each other.
      const std::size_t slices =
          function == "Gather" ? gather.index_rows : gather.index_rows / std::max<std::size_t>(outer, 1);
      gather.slices = layoutOf({static_cast<int>(outer), static_cast<int>(slices)}, {per_batch, 0});
    }
    gather.x = from[0].data;
    gather.indices = from[1].data;
    float* const y = newDense(call.outputs[0]);
    if (!unmarked([&](int* outside) { gatherSlices(stream, gather, y, outside); }))
      throw Error("takes an index outside of its operand");
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
