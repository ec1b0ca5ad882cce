// SPDX-License-Identifier: Apache-2.0
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

}  // namespace

LayerPtr makeActivate(cv::dnn::LayerParams& params) { return cv::makePtr<ActivateLayer>(params); }

}  // namespace mpm
