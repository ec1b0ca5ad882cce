// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "layers/row_tiles.h"

namespace mpm {
namespace {

class TokenNormLayer final : public TokenLayer {
 public:
  explicit TokenNormLayer(const cv::dnn::LayerParams& params)
      : TokenLayer(params, 2), eps_(attribute<float>(params, "eps")), rms_(params.get<int>("rms", 0) != 0) {}

  std::string onlyOnCpu() const override { return rms_ ? "RMSNorms" : ""; }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    return {tokensWithOptionalState(inputs)};
  }

  void takeConstants(const Blobs& constants) override {
    weight_ = constants[0].clone();
    bias_ = constants[1].clone();
    check(constants);
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& inputs) override {
    check(constants);
    const int dim = inputs[0].size[inputs[0].dims - 1];
    expectDim(dim, static_cast<int>(constants[0].total()));
    return device.tokenNorm({constants[0].ptr<float>(), constants[1].ptr<float>(), eps_}, dim, special_);
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
  void check(const Blobs& constants) const {
    const std::size_t weights = constants[0].total(), biases = constants[1].total();
    expect(weights == biases, "has " + std::to_string(weights) + " weights and " + std::to_string(biases) + " biases");
  }

  float eps_;
  bool rms_;
  cv::Mat weight_, bias_;
  RowTiles tiles_;
};

}  // namespace

LayerPtr makeTokenNorm(cv::dnn::LayerParams& params) { return cv::makePtr<TokenNormLayer>(params); }

}  // namespace mpm
