// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Learned rows that become special rows, in front of the tokens. The order of keys does not matter to attention, so
/// rows that a model appends behind the patches come in front too.
class SpecialRowsLayer final : public TokenLayer {
 public:
  /// `keeps_special`: the rows join the special rows that are there; otherwise they take their place.
  SpecialRowsLayer(const cv::dnn::LayerParams& params, bool keeps_special)
      : TokenLayer(params, 1), dropped_(keeps_special ? 0 : special_) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shape& tokens = tokensWithState(inputs);
    expect(constants[0].size() == 2 && constants[0][1] == tokens[2],
           "its rows are " + shapeText(constants[0]) + ", the tokens " + shapeText(tokens));
    return {{tokens[0], constants[0][0] + tokens[1] - dropped_, tokens[2]}};
  }

  void takeConstants(const Blobs& constants) override { rows_ = constants[0].clone(); }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    if (dropped_ != special_) fail("runs on the CPU only");
    return device.classTokens(matrixOf(constants[0]), special_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const auto x = tokensOf(inputs[0], liveRows(inputs[1], special_));
    for (int b = 0; b < x.batch; ++b) {
      const auto image = x.image(b);
      float* const out = std::copy_n(rows_.ptr<float>(), rows_.total(), outputs[0].ptr<float>(b));
      std::copy_n(image.row(dropped_), static_cast<std::size_t>(image.rows - dropped_) * x.dim, out);
    }
  }

 private:
  int dropped_;
  cv::Mat rows_;
};

}  // namespace

// The class embeddings of Segmenter's mask transformer.
LayerPtr makeClassTokens(cv::dnn::LayerParams& params) { return cv::makePtr<SpecialRowsLayer>(params, false); }

// Rows that join between blocks, such as the queries of EoMT.
LayerPtr makePrependTokens(cv::dnn::LayerParams& params) { return cv::makePtr<SpecialRowsLayer>(params, true); }

}  // namespace mpm
