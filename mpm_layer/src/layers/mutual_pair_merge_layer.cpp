// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "merging/mutual_pair_merge.h"

namespace mpm {
namespace {

class MutualPairMergeLayer final : public MpmLayer {
 public:
  explicit MutualPairMergeLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, 0), special_(intAttribute(params, "special_tokens")) {}

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& /*constants*/) const override {
    tokensWithState(inputs, special_);
    return inputs;
  }

  std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& device, const std::vector<cv::Mat>& /*constants*/,
                                         const std::vector<cv::Mat>& /*inputs*/) override {
    return device.mutualPairMerge(special_);
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    const int* rows = liveRows(inputs[1], special_);
    expectClustersAreLive(inputs[1]);
    const auto tokens = tokensOf(inputs[0], rows);
    const auto merged = tokensOf(outputs[0], rows);
    for (int b = 0; b < tokens.batch; ++b) {
      const bool finite = mergeMutualPairs(tokens.image(b), special_, stateOf(inputs[1], b), merged.image(b),
                                           stateOf(outputs[1], b), parallel_);
      expect(finite, "a token of image " + std::to_string(b) +
                         " holds a NaN or an infinity, so nothing was merged; check the input image and the weights");
    }
  }

 private:
  int special_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makeMutualPairMerge(cv::dnn::LayerParams& params) {
  return cv::makePtr<MutualPairMergeLayer>(params);
}

}  // namespace mpm
