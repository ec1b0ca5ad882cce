// SPDX-License-Identifier: Apache-2.0
#include "kernels/mask_scores.h"

#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// The special rows are those of the classes.
class MaskScoresLayer final : public TokenLayer {
 public:
  explicit MaskScoresLayer(const cv::dnn::LayerParams& params)
      : TokenLayer(params, 4),
        eps_(attribute<float>(params, "eps")),
        precision_(parsePrecision(params.get<cv::String>("precision", "fp32"))) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shape& tokens = tokensWithState(inputs);
    for (const Shape& projection : {constants[0], constants[1]}) {
      expect(projection.size() == 2 && projection[1] == tokens[2] && projection[0] == constants[0][0],
             "its projections are " + shapeText(constants[0]) + " and " + shapeText(constants[1]) + ", the tokens " +
                 shapeText(tokens));
    }
    const auto classes = static_cast<std::size_t>(special_);
    expect(countOf(constants[2]) == classes && countOf(constants[3]) == classes,
           "its mask norm is not over " + std::to_string(special_) + " classes");
    return {{tokens[0], tokens[1] - special_, special_}};
  }

  void takeConstants(const Blobs& constants) override {
    proj_patch_ = PackedLinear(matrixOf(constants[0]), nullptr);
    proj_classes_ = PackedLinear(matrixOf(constants[1]), nullptr);
    norm_weight_ = constants[2].clone();
    norm_bias_ = constants[3].clone();
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    return device.maskScores(matrixOf(constants[0]), matrixOf(constants[1]),
                             {constants[2].ptr<float>(), constants[3].ptr<float>(), eps_}, special_, precision_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const auto tokens = tokensOf(inputs[0], liveRows(inputs[1], special_));
    for (int b = 0; b < tokens.batch; ++b) {
      const auto image = tokens.image(b);
      maskScores(image, special_, proj_patch_, proj_classes_, norm_weight_.ptr<float>(), norm_bias_.ptr<float>(), eps_,
                 {outputs[0].ptr<float>(b), image.rows - special_, special_}, parallel_);
    }
  }

 private:
  float eps_;
  Precision precision_;  // on a device; the CPU uses fp32
  PackedLinear proj_patch_, proj_classes_;
  cv::Mat norm_weight_, norm_bias_;
};

}  // namespace

LayerPtr makeMaskScores(cv::dnn::LayerParams& params) { return cv::makePtr<MaskScoresLayer>(params); }

}  // namespace mpm
