// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "kernels/elementwise.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "merging/kept_groups.h"
#include "merging/merge_tokens.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

MergeGroups groupsOf(const cv::dnn::LayerParams& params) {
  const std::string groups = params.get<cv::String>("groups", "mutual_pairs");
  std::string names;
  for (const auto& [known, name] : kMergeGroups) {
    if (groups == name) return known;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw Error("groups '" + groups + "' are unknown; they can be " + names);
}

/// MergeTokens, and MutualPairMerge, which is MergeTokens without attributes.
class MergeTokensLayer final : public TokenLayer {
 public:
  explicit MergeTokensLayer(const cv::dnn::LayerParams& params)
      : TokenLayer(params, 0),
        rule_{.groups = groupsOf(params),
              .count = params.get<int>("count", -1),
              .similarity = params.get<float>("similarity", -2.f),
              .deviations = params.get<float>("deviations", -1.f),
              .weighted = params.get<int>("weighted", 0) != 0,
              .grid_width = params.get<int>("grid_w", 0),
              .block = params.get<int>("block", 0)} {}

  void setRule(const MergeFunction& rule) override { function_ = rule; }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    expect(!scored() || inputs.size() == 4,
           "expects tokens, state, scores and rows, got " + std::to_string(inputs.size()) + " inputs");
    const bool by_function = rule_.groups == MergeGroups::kRule;
    expect(!by_function || (inputs.size() >= 3 && inputs.back().size() == 4 && inputs.back()[0] == inputs[0][0]),
           "expects tokens, state, perhaps keys, and the images {B, C, H, W} last");
    const bool compares = inputs.size() == (by_function ? 4 : 3);  // the rows that are compared
    const Shapes merged(inputs.begin(), inputs.begin() + std::min<std::ptrdiff_t>(2, std::ssize(inputs)));
    const Shape& tokens = tokensWithState(merged);
    const int patches = tokens[1] - special_, width = rule_.grid_width;
    expect(!(scored() || rule_.groups == MergeGroups::kWindows) ||
               (width > 0 && width % 2 == 0 && patches % (2 * width) == 0),
           "a grid of " + std::to_string(patches) + " tokens, " + std::to_string(width) +
               " to a row, has no windows of 2x2");
    if (compares) {
      expect(inputs[2].size() == 3 && inputs[2][0] == tokens[0] && inputs[2][1] == tokens[1],
             "expects as many rows to compare as tokens " + shapeText(tokens) + ", got " + shapeText(inputs[2]));
    }
    if (scored()) {
      const Shape scores{tokens[0], 1, patches / (2 * width), width / 2}, rows{tokens[0], patches / 4, tokens[2]};
      expect(inputs[2] == scores && inputs[3] == rows, "expects scores " + shapeText(scores) + " and rows " +
                                                           shapeText(rows) + " of its windows, got " +
                                                           shapeText(inputs[2]) + " and " + shapeText(inputs[3]));
    }
    return merged;
  }

  /// Groups that outlive frames are on the host.
  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return reuse() != nullptr ? nullptr : device.mergeTokens(rule_, special_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const int* rows = liveRowsOfClusters(inputs[1], special_);
    const auto tokens = tokensOf(inputs[0], rows);
    const auto metric = tokensOf(inputs.size() == 3 ? inputs[2] : inputs[0], rows);
    const auto windows = static_cast<std::size_t>(stateOf(inputs[1], 0).patches / 4);
    const auto merged = tokensOf(outputs[0], rows);
    const bool key_frame = reuse() == nullptr || stateOf(inputs[1], 0).computedRows() == stateOf(inputs[1], 0).live();
    if (!key_frame) {
      expect(keptGroups().merge(rule_, tokens.image(0), metric.image(0), special_, stateOf(inputs[1], 0),
                                {merged.data, rows[0], tokens.dim}, stateOf(outputs[1], 0), parallel_),
             notFinite(0));
      return;
    }
    for (int b = 0; b < tokens.batch; ++b) {
      const TokenState<const float> state = stateOf(inputs[1], b);
      expect(!(scored() || rule_.groups == MergeGroups::kWindows) || state.live() == state.patches,
             "windows need the full grid, but tokens were merged before");
      if (rule_.groups == MergeGroups::kRule) {
        groupByFunction(inputs, tokens.image(b).rowRange(special_, special_ + state.live()), b, state);
        mergeRows(cluster_of_row_, clusters_, rule_.weighted, tokens.image(b), special_, state, merged.image(b),
                  stateOf(outputs[1], b));
        continue;
      }
      MatrixView<const float> shared;
      if (scored()) {
        expect(findScoredWindows(rule_, {inputs[2].ptr<float>(b), windows}, found_),
               "the policy network gives image " + std::to_string(b) +
                   " a NaN or an infinity as a score; check the input image and the policy");
        shared = {inputs[3].ptr<float>(b), static_cast<int>(windows), tokens.dim};
      } else {
        expect(findGroups(rule_, metric.image(b), special_, found_, parallel_), notFinite(b));
      }
      const TokenState<float> after = stateOf(outputs[1], b);
      mergeGroups(rule_, found_, tokens.image(b), special_, state, merged.image(b), after, shared);
      if (reuse() == nullptr) continue;
      // Keeps the groups of a frame that was computed whole, for the frames that follow.
      after.computed[0] = after.data[0];
      std::iota(after.computed + 1, after.computed + 1 + after.live(), 0.f);
      keptGroups().takeOver(found_, state, {after.data, after.patches});
    }
  }

 private:
  /// Of the camera whose frame this is: several may share the net.
  KeptGroups& keptGroups() { return reuse()->keepObject<KeptGroups>(name); }

  /// Fills cluster_of_row_: groups in the order of their first members.
  void groupByFunction(const Blobs& inputs, MatrixView<const float> rows, int image, TokenState<const float> state) {
    const auto count = static_cast<std::size_t>(rows.rows);
    expect(static_cast<bool>(function_), "merges by a function of the program, which ReadOptions::rule gives");
    expect(allFinite(rows.data, count * static_cast<std::size_t>(rows.cols)), notFinite(image));
    const cv::Mat& pictures = inputs.back();
    const int height = pictures.size[2], width = pictures.size[3];
    const std::vector<int> row_of_patch(state.clusterOfToken(), state.clusterOfToken() + state.patches);
    RuleInput seen{.rows = {rows.data, count * static_cast<std::size_t>(rows.cols)},
                   .sizes = {state.clusterSize(), count},
                   .row_of_patch = row_of_patch,
                   .image = {pictures.ptr<float>(image), static_cast<std::size_t>(pictures.size[1]) * height * width},
                   .grid = {state.patches / rule_.grid_width, rule_.grid_width},
                   .image_size = {height, width},
                   .block = rule_.block};
    if (inputs.size() > 3) {
      const int special = special_;
      const cv::Mat& keys = inputs[2];
      seen.keys = {keys.ptr<float>(image, special), count * static_cast<std::size_t>(keys.size[2])};
    }
    const std::vector<std::int64_t> groups = function_(seen);
    expect(groups.size() == count, "the rule gave " + std::to_string(groups.size()) + " groups for " +
                                       std::to_string(count) + " rows; it gives one number for each row");
    std::unordered_map<std::int64_t, int> clusters;
    cluster_of_row_.clear();
    for (const std::int64_t group : groups)
      cluster_of_row_.push_back(clusters.emplace(group, static_cast<int>(clusters.size())).first->second);
    clusters_ = static_cast<int>(clusters.size());
  }

  std::string notFinite(int image) const {
    return "a token of image " + std::to_string(image) +
           " holds a NaN or an infinity, so nothing was merged; check the input image and the weights";
  }

  bool scored() const { return rule_.groups == MergeGroups::kScoredWindows; }

  MergeRule rule_;
  MergeFunction function_;  // of kRule
  std::vector<int> cluster_of_row_;
  int clusters_ = 0;
  GroupsOfImage found_;
};

}  // namespace

LayerPtr makeMergeTokens(cv::dnn::LayerParams& params) { return cv::makePtr<MergeTokensLayer>(params); }

}  // namespace mpm
