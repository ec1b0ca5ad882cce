// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/element_functions.h"
#include "kernels/elementwise.h"
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// The activations of TransformerBlock on a tensor of any shape.
class ActivateLayer final : public HeadLayer {
 public:
  explicit ActivateLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params), activation_(parseActivation(params.get<cv::String>("activation", ""))) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override { return {inputs[0]}; }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return device.activateElements(activation_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    forRanges(parallel_, inputs[0].total(), 1, [&](std::size_t begin, std::size_t end) {
      float* const y = outputs[0].ptr<float>() + begin;
      std::copy(inputs[0].ptr<float>() + begin, inputs[0].ptr<float>() + end, y);
      activate(activation_, MatrixView<float>(y, 1, static_cast<int>(end - begin)));
    });
  }

 private:
  Activation activation_;
};

/// One row of the result. Steps of the operands are 0 or 1.
struct RowOf {
  const float* x[3] = {};
  std::size_t step[3] = {};
  float* y = nullptr;
  std::size_t count = 0;
};

template <std::size_t kIndex>
void row(const RowOf& r) {
  constexpr auto kValue = kElementFunctions<float>[kIndex].value;
  if (r.step[0] == 1 && r.step[1] == 1 && r.step[2] == 1) {
    for (std::size_t i = 0; i < r.count; ++i) r.y[i] = kValue(r.x[0][i], r.x[1][i], r.x[2][i]);
  } else {
    for (std::size_t i = 0; i < r.count; ++i)
      r.y[i] = kValue(r.x[0][i * r.step[0]], r.x[1][i * r.step[1]], r.x[2][i * r.step[2]]);
  }
}

using Row = void (*)(const RowOf&);

template <std::size_t... kIndices>
Row rowOf(std::size_t index, std::index_sequence<kIndices...>) {
  static constexpr Row kRows[] = {row<kIndices>...};
  return kRows[index];
}

class ElementwiseLayer final : public HeadLayer {
 public:
  explicit ElementwiseLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params), function_(elementFunction<float>(params.get<cv::String>("function", ""))) {
    expect(function_, "does not know the function '" + params.get<cv::String>("function", "") + "'");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shapes from = operands(inputs, constants);
    expect(from.size() == static_cast<std::size_t>(function_->operands),
           "has " + std::to_string(from.size()) + " operands, expected " + std::to_string(function_->operands));
    Shape result;
    for (const Shape& shape : from) {
      result.insert(result.begin(), std::max(shape.size(), result.size()) - result.size(), 1);
      const std::size_t missing = result.size() - shape.size();
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        int& side = result[missing + axis];
        expect(side == shape[axis] || side == 1 || shape[axis] == 1,
               "cannot broadcast " + shapeText(shape) + " and " + shapeText(result));
        if (side == 1) side = shape[axis];
      }
    }
    return {result};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    return device.mapElements(std::string(function_->name), constantOperands(constants));
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Row each = rowOf(static_cast<std::size_t>(function_ - kElementFunctions<float>),
                           std::make_index_sequence<std::size(kElementFunctions<float>)>());
    const Shape shape = shapeOf(outputs[0]);
    const Blobs from = operands(inputs);
    std::vector<std::vector<std::size_t>> strides;
    for (const cv::Mat& operand : from) strides.push_back(broadcastStrides(shapeOf(operand), shape.size()));
    const auto width = static_cast<std::size_t>(shape.back());
    forRows(parallel_, width > 0 ? outputs[0].total() / width : 0, width, [&](std::size_t i) {
      RowOf r;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t operand = std::min(k, from.size() - 1);
        r.x[k] = from[operand].ptr<float>() + offsetAt(i, shape, strides[operand], shape.size() - 1);
        r.step[k] = strides[operand].back();
      }
      r.y = outputs[0].ptr<float>() + i * width;
      r.count = width;
      each(r);
    });
  }

 private:
  const ElementFunction<float>* function_;
};

}  // namespace

LayerPtr makeActivate(cv::dnn::LayerParams& params) { return cv::makePtr<ActivateLayer>(params); }

LayerPtr makeElementwise(cv::dnn::LayerParams& params) { return cv::makePtr<ElementwiseLayer>(params); }

}  // namespace mpm
