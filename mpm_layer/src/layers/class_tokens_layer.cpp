// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Segmenter appends its class embeddings behind the patches. The order of keys does not matter to attention, so this
/// layer puts them in front, like other special rows.
class ClassTokensLayer final : public MpmLayer {
 public:
  explicit ClassTokensLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, 1), special_(intAttribute(params, "special_tokens")) {}

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& constants) const override {
    const Shape& tokens = tokensWithState(inputs, special_);
    expect(constants[0].size() == 2 && constants[0][1] == tokens[2],
           "its class embeddings are " + shapeText(constants[0]) + ", the tokens " + shapeText(tokens));
    return {{tokens[0], tokens[1] - special_ + constants[0][0], tokens[2]}};
  }

  void takeConstants(const std::vector<cv::Mat>& constants) override { embeddings_ = constants[0].clone(); }

  std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& device, const std::vector<cv::Mat>& constants,
                                         const std::vector<cv::Mat>& /*inputs*/) override {
    return device.classTokens(matrixOf(constants[0], constants[0].size[0], constants[0].size[1]), special_);
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    const auto x = tokensOf(inputs[0], liveRows(inputs[1], special_));
    for (int b = 0; b < x.batch; ++b) {
      const auto image = x.image(b);
      float* out = outputs[0].ptr<float>(b);
      out = std::copy_n(embeddings_.ptr<float>(), embeddings_.total(), out);
      std::copy_n(image.row(special_), static_cast<std::size_t>(image.rows - special_) * x.dim, out);
    }
  }

 private:
  int special_;
  cv::Mat embeddings_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makeClassTokens(cv::dnn::LayerParams& params) { return cv::makePtr<ClassTokensLayer>(params); }

}  // namespace mpm
