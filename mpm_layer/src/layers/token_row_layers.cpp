// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "kernels/elementwise.h"
#include "kernels/linear.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "layers/row_tiles.h"

namespace mpm {
namespace {

class TokenNormLayer final : public TokenLayer {
 public:
  explicit TokenNormLayer(const cv::dnn::LayerParams& params)
      : TokenLayer(params, 2), eps_(attribute<float>(params, "eps")), rms_(params.get<int>("rms", 0) != 0) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const std::size_t weights = countOf(constants[0]), biases = countOf(constants[1]);
    expect(weights == biases, "has " + std::to_string(weights) + " weights and " + std::to_string(biases) + " biases");
    return {tokensWithOptionalState(inputs)};
  }

  void takeConstants(const Blobs& constants) override {
    weight_ = constants[0].clone();
    bias_ = constants[1].clone();
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& inputs) override {
    const int dim = inputs[0].size[inputs[0].dims - 1];
    expectDim(dim, static_cast<int>(constants[0].total()));
    return device.tokenNorm({constants[0].ptr<float>(), constants[1].ptr<float>(), eps_, rms_}, dim, special_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const int* rows = inputs.size() > 1 ? liveRows(inputs[1], special_) : tiles_.allRows(inputs[0]);
    const auto x = tokensOf(inputs[0], rows);
    const auto y = tokensOf(outputs[0], rows);
    expectDim(x.dim, static_cast<int>(weight_.total()));
    tiles_.run(x, y, parallel_, [&](MatrixView<const float> from, MatrixView<float> to) {
      norm(from, {weight_.ptr<float>(), bias_.ptr<float>(), eps_, rms_}, to);
    });
  }

 private:
  float eps_;
  bool rms_;
  cv::Mat weight_, bias_;
  RowTiles tiles_;
};

class TokenLinearLayer final : public TokenLayer {
 public:
  explicit TokenLinearLayer(const cv::dnn::LayerParams& params) : TokenLayer(params, 2) {
    precision_ = parsePrecision(params.get<cv::String>("precision", "fp32"));
    if (params.has("activation")) activation_ = parseActivation(params.get<cv::String>("activation"));
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    Shape shape = tokensWithOptionalState(inputs);
    const Shape& weight = constants[0];
    expect(weight.size() == 2 && weight[1] == shape.back(),
           "its weight is " + shapeText(weight) + ", the tokens " + shapeText(shape));
    shape.back() = weight[0];
    return {shape};
  }

  void takeConstants(const Blobs& constants) override {
    const LinearWeights weights = weightsOf(constants);
    linear_ =
        PackedLinear(weights.weight, weights.bias, precision_ == Precision::kInt8 ? Precision::kFp32 : precision_);
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    return device.tokenLinear(weightsOf(constants), activation_, precision_, special_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const int* rows = inputs.size() > 1 ? liveRows(inputs[1], special_) : tiles_.allRows(inputs[0]);
    const auto x = tokensOf(inputs[0], rows);
    tiles_.run(x, tokensOf(outputs[0], rows), parallel_, [&](MatrixView<const float> from, MatrixView<float> to) {
      linear_.run(from, to);
      if (activation_) activate(*activation_, to);
    });
  }

 private:
  LinearWeights weightsOf(const Blobs& constants) const {
    const int out = constants[0].size[0];
    expect(constants[1].total() == static_cast<std::size_t>(out),
           "has " + std::to_string(constants[1].total()) + " biases for " + std::to_string(out) + " outputs");
    return {matrixOf(constants[0]), constants[1].ptr<float>()};
  }

  Precision precision_ = Precision::kFp32;
  std::optional<Activation> activation_;
  PackedLinear linear_;
  RowTiles tiles_;
};

}  // namespace

LayerPtr makeTokenNorm(cv::dnn::LayerParams& params) { return cv::makePtr<TokenNormLayer>(params); }

LayerPtr makeTokenLinear(cv::dnn::LayerParams& params) { return cv::makePtr<TokenLinearLayer>(params); }

}  // namespace mpm
