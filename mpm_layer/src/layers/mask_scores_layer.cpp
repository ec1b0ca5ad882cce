// SPDX-License-Identifier: Apache-2.0
#include "kernels/mask_scores.h"

#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

class MaskScoresLayer final : public MpmLayer {
 public:
  explicit MaskScoresLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, 4),
        classes_(intAttribute(params, "special_tokens")),
        eps_(floatAttribute(params, "eps")),
        precision_(parsePrecision(params.get<cv::String>("precision", "fp32"))) {}

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& constants) const override {
    const Shape& tokens = tokensWithState(inputs, classes_);
    for (const Shape& projection : {constants[0], constants[1]})
      expect(projection.size() == 2 && projection[1] == tokens[2] && projection[0] == constants[0][0],
             "its projections are " + shapeText(constants[0]) + " and " + shapeText(constants[1]) + ", the tokens " +
                 shapeText(tokens));
    return {{tokens[0], tokens[1] - classes_, classes_}};
  }

  void takeConstants(const std::vector<cv::Mat>& constants) override {
    const auto projection = [](const cv::Mat& constant) {
      return PackedLinear(matrixOf(constant, constant.size[0], constant.size[1]), nullptr);
    };
    proj_patch_ = projection(constants[0]);
    proj_classes_ = projection(constants[1]);
    norm_weight_ = constants[2].clone();
    norm_bias_ = constants[3].clone();
    checkNorm(constants);
  }

  std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& device, const std::vector<cv::Mat>& constants,
                                         const std::vector<cv::Mat>& /*inputs*/) override {
    const auto matrix = [](const cv::Mat& constant) { return matrixOf(constant, constant.size[0], constant.size[1]); };
    checkNorm(constants);
    return device.maskScores(matrix(constants[0]), matrix(constants[1]),
                             {constants[2].ptr<float>(), constants[3].ptr<float>(), eps_}, classes_, precision_);
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    const auto tokens = tokensOf(inputs[0], liveRows(inputs[1], classes_));
    for (int b = 0; b < tokens.batch; ++b) {
      const auto image = tokens.image(b);
      maskScores(image, classes_, proj_patch_, proj_classes_, norm_weight_.ptr<float>(), norm_bias_.ptr<float>(), eps_,
                 {outputs[0].ptr<float>(b), image.rows - classes_, classes_}, parallel_);
    }
  }

 private:
  void checkNorm(const std::vector<cv::Mat>& constants) const {
    const auto classes = static_cast<std::size_t>(classes_);
    expect(constants[2].total() == classes && constants[3].total() == classes,
           "its mask norm is not over " + std::to_string(classes_) + " classes");
  }

  int classes_;
  float eps_;
  Precision precision_;  // on a device; the CPU uses fp32
  PackedLinear proj_patch_, proj_classes_;
  cv::Mat norm_weight_, norm_bias_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makeMaskScores(cv::dnn::LayerParams& params) { return cv::makePtr<MaskScoresLayer>(params); }

}  // namespace mpm
