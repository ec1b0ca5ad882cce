// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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

/// The rows of this frame and those of earlier frames, together: in front of an op that needs all of them. Only in nets
/// in memory (net/graph_marks.h).
class KeepRowsLayer final : public TokenLayer {
 public:
  explicit KeepRowsLayer(const cv::dnn::LayerParams& params) : TokenLayer(params, 0) {
    expect(reuse() != nullptr, "belongs to a net that reuses rows");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    const Shape& tokens = tokensWithState(inputs);
    return {tokens, {tokens[0], 1 + 2 * (tokens[1] - special_)}};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return device.keepRows(memory(), special_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const auto computed = tokensOf(inputs[0], liveRows(inputs[1], special_)).image(0);
    const auto state = stateOf(inputs[1], 0);
    const int width = computed.cols, live = special_ + state.live();
    const MatrixView<float> kept(reuse()->keep(name, inputs[0].total()), inputs[0].size[1], width);
    for (int i = 0; i < computed.rows; ++i)
      std::copy_n(computed.row(i), width, kept.row(i < special_ ? i : special_ + state.computedRow(i - special_)));
    std::copy_n(kept.data, static_cast<std::size_t>(live) * width, outputs[0].ptr<float>());
    std::copy_n(state.data, outputs[1].total(), outputs[1].ptr<float>());
  }
};

}  // namespace

LayerPtr makeRestoreTokens(cv::dnn::LayerParams& params) { return cv::makePtr<RestoreTokensLayer>(params); }

LayerPtr makeKeepRows(cv::dnn::LayerParams& params) { return cv::makePtr<KeepRowsLayer>(params); }

}  // namespace mpm
