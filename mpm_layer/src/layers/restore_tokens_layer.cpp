// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "merging/merge_tokens.h"

namespace mpm {
namespace {

class RestoreTokensLayer final : public TokenLayer {
 public:
  explicit RestoreTokensLayer(const cv::dnn::LayerParams& params)
      : TokenLayer(params, 0), keep_special_(attribute<int>(params, "keep_special") != 0) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    const Shape& tokens = tokensWithState(inputs);
    return {{tokens[0], keep_special_ ? tokens[1] : tokens[1] - special_, tokens[2]}};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return device.restoreTokens(special_, keep_special_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const auto merged = tokensOf(inputs[0], liveRowsOfClusters(inputs[1], special_));
    parallel_.run(merged.batch, [&](int b) {
      restoreRows(merged.image(b), special_, stateOf(inputs[1], b), keep_special_,
                  {outputs[0].ptr<float>(b), outputs[0].size[1], merged.dim});
    });
  }

 private:
  bool keep_special_;
};

}  // namespace

LayerPtr makeRestoreTokens(cv::dnn::LayerParams& params) { return cv::makePtr<RestoreTokensLayer>(params); }

}  // namespace mpm
