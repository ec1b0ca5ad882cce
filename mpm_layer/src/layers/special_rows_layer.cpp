// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Learned rows that become special rows, in front of the tokens. The order of keys does not matter to attention, so
/// rows that a model appends behind the patches come in front too.
class SpecialRowsLayer final : public MpmLayer {
 public:
  /// `keeps_special`: the rows join the special rows that are there; otherwise they take their place.
  SpecialRowsLayer(const cv::dnn::LayerParams& params, bool keeps_special)
      : MpmLayer(params, 1), special_(intAttribute(params, "special_tokens")), dropped_(keeps_special ? 0 : special_) {}

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& constants) const override {
    const Shape& tokens = tokensWithState(inputs, special_);
    expect(constants[0].size() == 2 && constants[0][1] == tokens[2],
           "its rows are " + shapeText(constants[0]) + ", the tokens " + shapeText(tokens));
    return {{tokens[0], constants[0][0] + tokens[1] - dropped_, tokens[2]}};
  }

  void takeConstants(const std::vector<cv::Mat>& constants) override { rows_ = constants[0].clone(); }

  std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& device, const std::vector<cv::Mat>& constants,
                                         const std::vector<cv::Mat>& /*inputs*/) override {
    if (dropped_ != special_) fail("runs on the CPU only");
    return device.classTokens(matrixOf(constants[0], constants[0].size[0], constants[0].size[1]), special_);
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    const auto x = tokensOf(inputs[0], liveRows(inputs[1], special_));
    for (int b = 0; b < x.batch; ++b) {
      const auto image = x.image(b);
      float* const out = std::copy_n(rows_.ptr<float>(), rows_.total(), outputs[0].ptr<float>(b));
      std::copy_n(image.row(dropped_), static_cast<std::size_t>(image.rows - dropped_) * x.dim, out);
    }
  }

 private:
  int special_, dropped_;
  cv::Mat rows_;
};

}  // namespace

// The class embeddings of Segmenter's mask transformer.
cv::Ptr<cv::dnn::Layer> makeClassTokens(cv::dnn::LayerParams& params) {
  return cv::makePtr<SpecialRowsLayer>(params, false);
}

// Rows that join between blocks, such as the queries of EoMT.
cv::Ptr<cv::dnn::Layer> makePrependTokens(cv::dnn::LayerParams& params) {
  return cv::makePtr<SpecialRowsLayer>(params, true);
}

}  // namespace mpm
