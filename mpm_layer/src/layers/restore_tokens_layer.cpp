// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "merging/merge_tokens.h"

namespace mpm {
namespace {

class RestoreTokensLayer final : public MpmLayer {
 public:
  explicit RestoreTokensLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, 0),
        special_(intAttribute(params, "special_tokens")),
        keep_special_(intAttribute(params, "keep_special") != 0) {}

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& /*constants*/) const override {
    const Shape& tokens = tokensWithState(inputs, special_);
    return {{tokens[0], keep_special_ ? tokens[1] : tokens[1] - special_, tokens[2]}};
  }

  std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& device, const std::vector<cv::Mat>& /*constants*/,
                                         const std::vector<cv::Mat>& /*inputs*/) override {
    return device.restoreTokens(special_, keep_special_);
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    const auto merged = tokensOf(inputs[0], liveRows(inputs[1], special_));
    expectClustersAreLive(inputs[1]);
    parallel_.run(merged.batch, [&](int b) {
      restoreRows(merged.image(b), special_, stateOf(inputs[1], b), keep_special_,
                  {outputs[0].ptr<float>(b), outputs[0].size[1], merged.dim});
    });
  }

 private:
  int special_;
  bool keep_special_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makeRestoreTokens(cv::dnn::LayerParams& params) {
  return cv::makePtr<RestoreTokensLayer>(params);
}

}  // namespace mpm
