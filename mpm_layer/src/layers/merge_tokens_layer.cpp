// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "merging/kept_groups.h"
#include "merging/merge_tokens.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

MergeGroups groupsOf(const cv::dnn::LayerParams& params) {
  const std::string groups = params.get<cv::String>("groups", "mutual_pairs");
  if (groups == "mutual_pairs") return MergeGroups::kMutualPairs;
  if (groups == "even_odd") return MergeGroups::kEvenOdd;
  if (groups == "windows") return MergeGroups::kWindows;
  if (groups == "scored_windows") return MergeGroups::kScoredWindows;
  throw Error("groups '" + groups + "' are unknown; they can be mutual_pairs, even_odd, windows or scored_windows");
}

/// MergeTokens, and MutualPairMerge, which is MergeTokens without attributes.
class MergeTokensLayer final : public MpmLayer {
 public:
  explicit MergeTokensLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, 0),
        special_(intAttribute(params, "special_tokens")),
        plain_mpm_(!params.has("groups")),
        rule_{.groups = groupsOf(params),
              .count = params.get<int>("count", -1),
              .similarity = params.get<float>("similarity", -2.f),
              .deviations = params.get<float>("deviations", -1.f),
              .weighted = params.get<int>("weighted", 0) != 0,
              .grid_width = params.get<int>("grid_w", 0)} {}

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& /*constants*/) const override {
    expect(!scored() || inputs.size() == 4,
           "expects tokens, state, scores and rows, got " + std::to_string(inputs.size()) + " inputs");
    const bool compares = inputs.size() == 3;  // the rows that are compared
    const std::vector<Shape> merged(inputs.begin(), inputs.end() - (scored() ? 2 : compares ? 1 : 0));
    const Shape& tokens = tokensWithState(merged, special_);
    const int patches = tokens[1] - special_, width = rule_.grid_width;
    expect(!(scored() || rule_.groups == MergeGroups::kWindows) ||
               (width > 0 && width % 2 == 0 && patches % (2 * width) == 0),
           "a grid of " + std::to_string(patches) + " tokens, " + std::to_string(width) +
               " to a row, has no windows of 2x2");
    if (compares)
      expect(inputs[2].size() == 3 && inputs[2][0] == tokens[0] && inputs[2][1] == tokens[1],
             "expects as many rows to compare as tokens " + shapeText(tokens) + ", got " + shapeText(inputs[2]));
    if (scored()) {
      const Shape scores{tokens[0], 1, patches / (2 * width), width / 2}, rows{tokens[0], patches / 4, tokens[2]};
      expect(inputs[2] == scores && inputs[3] == rows, "expects scores " + shapeText(scores) + " and rows " +
                                                           shapeText(rows) + " of its windows, got " +
                                                           shapeText(inputs[2]) + " and " + shapeText(inputs[3]));
    }
    return merged;
  }

  std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& device, const std::vector<cv::Mat>& /*constants*/,
                                         const std::vector<cv::Mat>& /*inputs*/) override {
    return plain_mpm_ ? device.mutualPairMerge(special_) : nullptr;
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    const int* rows = liveRows(inputs[1], special_);
    expectClustersAreLive(inputs[1]);
    const auto tokens = tokensOf(inputs[0], rows);
    const auto metric = tokensOf(inputs.size() == 3 ? inputs[2] : inputs[0], rows);
    const auto windows = static_cast<std::size_t>(stateOf(inputs[1], 0).patches / 4);
    const auto merged = tokensOf(outputs[0], rows);
    const auto notFinite = [&](int b) {
      return "a token of image " + std::to_string(b) +
             " holds a NaN or an infinity, so nothing was merged; check the input image and the weights";
    };
    const bool key_frame = reuse() == nullptr || stateOf(inputs[1], 0).computedRows() == stateOf(inputs[1], 0).live();
    if (!key_frame) {
      expect(kept_.merge(rule_, tokens.image(0), metric.image(0), special_, stateOf(inputs[1], 0),
                         {merged.data, rows[0], tokens.dim}, stateOf(outputs[1], 0), parallel_),
             notFinite(0));
      return;
    }
    for (int b = 0; b < tokens.batch; ++b) {
      const TokenState<const float> state = stateOf(inputs[1], b);
      expect(!(scored() || rule_.groups == MergeGroups::kWindows) || state.live() == state.patches,
             "windows need the full grid, but tokens were merged before");
      MatrixView<const float> shared;
      if (scored()) {
        expect(findScoredWindows(rule_, {inputs[2].ptr<float>(b), windows}, found_),
               "the policy network gives image " + std::to_string(b) +
                   " a NaN or an infinity as a score; check the input image and the policy");
        shared = {inputs[3].ptr<float>(b), static_cast<int>(windows), tokens.dim};
      } else {
        expect(findGroups(rule_, metric.image(b), special_, found_, parallel_), notFinite(b));
      }
      mergeGroups(rule_, found_, tokens.image(b), special_, state, merged.image(b), stateOf(outputs[1], b), shared);
      if (reuse() != nullptr) keepGroups(state, stateOf(outputs[1], b));
    }
  }

 private:
  /// Of a frame that was computed whole, for the frames behind it.
  void keepGroups(TokenState<const float> before, TokenState<float> after) {
    after.computed[0] = after.data[0];
    std::iota(after.computed + 1, after.computed + 1 + after.live(), 0.f);
    kept_.takeOver(found_, before, {after.data, after.patches});
  }

  bool scored() const { return rule_.groups == MergeGroups::kScoredWindows; }

  int special_;
  bool plain_mpm_;
  MergeRule rule_;
  GroupsOfImage found_;
  KeptGroups kept_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makeMergeTokens(cv::dnn::LayerParams& params) { return cv::makePtr<MergeTokensLayer>(params); }

}  // namespace mpm
