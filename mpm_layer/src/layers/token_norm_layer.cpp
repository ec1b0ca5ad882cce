// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "layers/row_tiles.h"

namespace mpm {
namespace {

class TokenNormLayer final : public MpmLayer {
 public:
  explicit TokenNormLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, 2),
        special_(intAttribute(params, "special_tokens")),
        eps_(floatAttribute(params, "eps")),
        rms_(params.get<int>("rms", 0) != 0) {}

  std::string onlyOnCpu() const override { return rms_ ? "RMSNorms" : ""; }

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& /*constants*/) const override {
    return {tokensWithOptionalState(inputs, special_)};
  }

  void takeConstants(const std::vector<cv::Mat>& constants) override {
    weight_ = constants[0].clone();
    bias_ = constants[1].clone();
    check(constants);
  }

  std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& device, const std::vector<cv::Mat>& constants,
                                         const std::vector<cv::Mat>& inputs) override {
    check(constants);
    const int dim = inputs[0].size[inputs[0].dims - 1];
    expectDim(constants[0], dim);
    return device.tokenNorm({constants[0].ptr<float>(), constants[1].ptr<float>(), eps_}, dim, special_);
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    const int* rows = inputs.size() > 1 ? liveRows(inputs[1], special_) : tiles_.allRows(inputs[0]);
    const auto x = tokensOf(inputs[0], rows);
    const auto y = tokensOf(outputs[0], rows);
    expectDim(weight_, x.dim);
    tiles_.run(x, y, parallel_, [&](MatrixView<const float> from, MatrixView<float> to) {
      norm(from, {weight_.ptr<float>(), bias_.ptr<float>(), eps_, rms_}, to);
    });
  }

 private:
  void check(const std::vector<cv::Mat>& constants) const {
    const std::size_t weights = constants[0].total(), biases = constants[1].total();
    expect(weights == biases, "has " + std::to_string(weights) + " weights and " + std::to_string(biases) + " biases");
  }
  void expectDim(const cv::Mat& weight, int dim) const {
    expect(static_cast<int>(weight.total()) == dim,
           "got tokens of dim " + std::to_string(dim) + ", the weights are for " + std::to_string(weight.total()));
  }

  int special_;
  float eps_;
  bool rms_;
  cv::Mat weight_, bias_;
  RowTiles tiles_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makeTokenNorm(cv::dnn::LayerParams& params) { return cv::makePtr<TokenNormLayer>(params); }

}  // namespace mpm
