// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// The states in the form that callers read: composed maps and token counts after each insertion.
class MergeReportLayer final : public MpmLayer {
 public:
  explicit MergeReportLayer(const cv::dnn::LayerParams& params) : MpmLayer(params, 0) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    expect(!inputs.empty(), "needs the state of PatchEmbed as its first input");
    expect((inputs[0].size() == 2 || inputs[0].size() == 3) &&
               std::equal(inputs.begin() + 1, inputs.end(), inputs.begin()),
           "expects states {B, 1 + 2N} of one shape, the first is " + shapeText(inputs[0]));
    const int insertions = static_cast<int>(inputs.size()) - 1;
    const int patches = (inputs[0].back() - 1) / 2;
    return {{inputs[0][0], std::max(insertions, 1), patches}, {inputs[0][0], insertions + 1}};
  }

  /// Groups that outlive frames are numbered on the host, where they merged.
  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& inputs) override {
    return inputs[0].dims == 3 && inputs.size() > 1 ? nullptr : device.mergeReport();
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    cv::Mat& maps = outputs[0];
    cv::Mat& counts = outputs[1];
    const int states = static_cast<int>(inputs.size());
    for (const cv::Mat& state : inputs) liveRowsOfClusters(state, 0);  // callers use these numbers as indices
    for (int b = 0; b < maps.size[0]; ++b) {
      for (int k = 0; k < states; ++k) {
        const auto state = stateOf(inputs[k], b);
        float* const map = maps.ptr<float>(b, std::max(k - 1, 0));
        counts.at<float>(b, k) = state.computed != nullptr ? numberGroups(state, map) : state.data[0];
        if (k == 0 && states > 1) continue;  // before the first insertion every token is its own cluster
        if (state.computed == nullptr) std::copy_n(state.clusterOfToken(), state.patches, map);
      }
    }
  }

 private:
  /// Numbers the groups by their first members: rows that outlive frames are in no order. Returns how many there are.
  static float numberGroups(TokenState<const float> state, float* map) {
    std::vector<float> number(state.live(), -1.f);
    float next = 0;
    for (int i = 0; i < state.patches; ++i) {
      float& of_row = number[static_cast<std::size_t>(state.clusterOfToken()[i])];
      if (of_row < 0) of_row = next++;
      map[i] = of_row;
    }
    return next;
  }
};

}  // namespace

LayerPtr makeMergeReport(cv::dnn::LayerParams& params) { return cv::makePtr<MergeReportLayer>(params); }

}  // namespace mpm
