// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Learned rows that join between blocks, such as the queries of EoMT, as further special rows in front.
class PrependTokensLayer final : public MpmLayer {
 public:
  explicit PrependTokensLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, 1), special_(intAttribute(params, "special_tokens")) {}

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& constants) const override {
    const Shape& tokens = tokensWithState(inputs, special_);
    expect(constants[0].size() == 2 && constants[0][1] == tokens[2],
           "its rows are " + shapeText(constants[0]) + ", the tokens " + shapeText(tokens));
    return {{tokens[0], constants[0][0] + tokens[1], tokens[2]}};
  }

  void takeConstants(const std::vector<cv::Mat>& constants) override { rows_ = constants[0].clone(); }

  std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& /*device*/, const std::vector<cv::Mat>& /*constants*/,
                                         const std::vector<cv::Mat>& /*inputs*/) override {
    fail("runs on the CPU only");
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    const auto x = tokensOf(inputs[0], liveRows(inputs[1], special_));
    for (int b = 0; b < x.batch; ++b) {
      const auto image = x.image(b);
      float* const out = std::copy_n(rows_.ptr<float>(), rows_.total(), outputs[0].ptr<float>(b));
      std::copy_n(image.data, static_cast<std::size_t>(image.rows) * x.dim, out);
    }
  }

 private:
  int special_;
  cv::Mat rows_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makePrependTokens(cv::dnn::LayerParams& params) {
  return cv::makePtr<PrependTokensLayer>(params);
}

}  // namespace mpm
