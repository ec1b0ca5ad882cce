// SPDX-License-Identifier: Apache-2.0
// One layer alone on hand-made tokens and states: which it refuses. What layers compute: tests/worlds/graphs.

#include <map>

#include "mpm/read_net.hpp"
#include "support/matchers.h"

namespace mpm {
namespace {

constexpr int kSpecial = 1;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class OneLayer : public testing::Test {
 protected:
  static void SetUpTestSuite() { registerLayers(); }

  // With the attributes that one op or another demands; `constants` are its blobs.
  static cv::Ptr<cv::dnn::Layer> layer(const std::string& type, const std::vector<cv::Mat>& constants = {},
                                       const std::map<std::string, double>& attributes = {}) {
    cv::dnn::LayerParams params;
    params.name = "one/layer";
    params.type = "ai.mpm." + type;
    for (const char* one : {"special_tokens", "heads", "key_bias", "keep_special"}) params.set(one, 1);
    params.set("head_dim", 8);
    for (const char* eps : {"eps", "norm1_eps", "norm2_eps"}) params.set(eps, 0.25);
    params.set("scale", 1.);
    params.set("activation", "relu");
    params.set("mode", "mean");
    for (const auto& [name, value] : attributes)
      value == std::floor(value) ? params.set(name, static_cast<int>(value)) : params.set(name, value);
    params.blobs = constants;
    return cv::dnn::LayerFactory::createLayerInstance(params.type, params);
  }

  static cv::Mat normal(const std::vector<int>& shape, int seed) {
    cv::Mat values(shape, CV_32F);
    cv::RNG(static_cast<std::uint64_t>(seed)).fill(values, cv::RNG::NORMAL, 0, 1);
    return values;
  }

  // States {batch, 1 + 2N} in which the first `live` patches are their own clusters and the rest belongs to the first.
  static cv::Mat states(int patches, const std::vector<int>& live) {
    cv::Mat blob(static_cast<int>(live.size()), 1 + 2 * patches, CV_32F, cv::Scalar(0));
    for (int b = 0; b < blob.rows; ++b) {
      float* const state = blob.ptr<float>(b);
      state[0] = static_cast<float>(live[b]);
      for (int i = 0; i < live[b]; ++i) {
        state[1 + i] = static_cast<float>(i);
        state[1 + patches + i] = 1;
      }
      state[1 + patches] += static_cast<float>(patches - live[b]);
    }
    return blob;
  }
};

std::string refusal(cv::dnn::Layer& layer, const std::vector<cv::Mat>& inputs, const std::vector<int>& output) {
  std::vector<cv::Mat> outputs{cv::Mat(output, CV_32F)}, internals;
  if (layer.type == "ai.mpm.MutualPairMerge" || layer.type == "ai.mpm.MergeReport")
    outputs.emplace_back(inputs[1].size[0], inputs[1].size[1], CV_32F);
  try {
    layer.forward(inputs, outputs, internals);
  } catch (const cv::Exception& error) {
    return error.what();
  }
  return "";
}

// What a damaged or edited file may wire in place of a state: the live count and the clusters are indices to the ops.
TEST_F(OneLayer, AStateThatNoOpWroteIsAnError) {
  constexpr int kPatches = 6, kDim = 8;
  constexpr const char* kMessage = "(ai.mpm.%s): its state blob is not one that an ai.mpm op wrote";
  const std::vector<cv::Mat> norm{normal({kDim, 1}, 1), normal({kDim, 1}, 2)};
  const std::vector<cv::Mat> block{
      norm[0], norm[1], normal({24, kDim}, 3), normal({24, 1}, 4), normal({kDim, 8}, 5),  norm[0],
      norm[0], norm[1], normal({16, kDim}, 6), normal({16, 1}, 7), normal({kDim, 16}, 8), norm[0]};
  struct Op {
    std::string type;
    bool reads_clusters;
    std::vector<cv::Mat> constants;
    std::vector<int> output;
  };
  const std::vector<int> like_input{2, kSpecial + kPatches, kDim};
  const std::vector<Op> ops = {
      {"TransformerBlock", false, block, like_input},
      {"TokenNorm", false, norm, like_input},
      {"TokenLinear", false, {normal({kDim, kDim}, 9), norm[0]}, like_input},
      {"ClassTokens", false, {normal({3, kDim}, 10)}, {2, 3 + kPatches, kDim}},
      {"MaskScores",
       false,
       {normal({kDim, kDim}, 11), normal({kDim, kDim}, 12), normal({1, 1}, 13), normal({1, 1}, 14)},
       {2, kPatches, 1}},
      {"PoolTokens", false, {}, {2, kDim}},
      {"MutualPairMerge", true, {}, like_input},
      {"RestoreTokens", true, {}, like_input},
      {"MergeReport", true, {}, {2, 1, kPatches}},
  };
  const cv::Mat good = states(kPatches, {4, 5}), tokens = normal(like_input, 15);
  const auto changed = [&](int entry, float value) {
    cv::Mat state = good.clone();
    state.at<float>(1, entry) = value;
    return state;
  };
  for (const Op& op : ops) {
    SCOPED_TRACE(op.type);
    const auto one = layer(op.type, op.constants);
    const auto run = [&](const cv::Mat& state) {
      return refusal(*one, {op.type == "MergeReport" ? good : tokens, state}, op.output);
    };
    const std::string message = cv::format(kMessage, op.type.c_str());
    EXPECT_EQ(run(good), "");
    for (const float live : {kPatches + 1.F, -1.F, kNaN})
      EXPECT_THAT(run(changed(0, live)), HasSubstr(message)) << live;
    if (!op.reads_clusters) continue;
    for (const float cluster : {5.F, 1e9F, -1.F, kNaN})
      EXPECT_THAT(run(changed(kPatches, cluster)), HasSubstr(message)) << cluster;
  }
}

TEST_F(OneLayer, TokensOfAnotherDimAreAnError) {
  const cv::Mat tokens = normal({2, 7, 9}, 1), state = states(6, {4, 5});
  const auto vector = [](int size) { return cv::Mat::zeros(size, 1, CV_32F); };
  const auto matrix = [](int rows, int cols) { return cv::Mat::zeros(rows, cols, CV_32F); };
  std::vector<cv::Mat> block{vector(8), vector(8), matrix(24, 8), vector(24), matrix(8, 8),  vector(8),
                             vector(8), vector(8), matrix(16, 8), vector(16), matrix(8, 16), vector(8)};
  const std::vector<int> output{2, 7, 9};
  EXPECT_THAT(refusal(*layer("TransformerBlock", block), {tokens, state}, output),
              HasSubstr("(ai.mpm.TransformerBlock): got tokens of dim 9, the weights are for 8"));
  EXPECT_THAT(refusal(*layer("TokenNorm", {vector(8), vector(8)}), {tokens, state}, output),
              HasSubstr("(ai.mpm.TokenNorm): got tokens of dim 9, the weights are for 8"));
  block[2] = matrix(8, 24);
  EXPECT_THAT(refusal(*layer("TransformerBlock", block), {tokens, state}, output),
              HasSubstr("constant 2 is {8, 24}, expected {24, 8}"));
}

TEST_F(OneLayer, ANanIsAnErrorThatNamesTheImage) {
  cv::Mat tokens = normal({2, 7, 9}, 1);
  tokens.ptr<float>(1, 3)[5] = kNaN;
  EXPECT_THAT(refusal(*layer("MutualPairMerge"), {tokens, states(6, {4, 5})}, {2, 7, 9}),
              HasSubstr("layer 'one/layer' (ai.mpm.MutualPairMerge): a token of image 1 holds a NaN"));
}

TEST_F(OneLayer, WindowsAndPositionsOfOtherRowsAreAnError) {
  const std::vector<int> shape{1, 7, 8};
  const cv::Mat tokens = normal(shape, 1), positions = normal({3, 8}, 2), all = states(6, {6});
  const auto run = [&](std::vector<float> rows, const cv::Mat& of_rows, const cv::Mat& state) {
    const cv::Mat ones = cv::Mat::ones(8, 1, CV_32F);
    const std::vector<cv::Mat> attention{ones,
                                         ones,
                                         normal({24, 8}, 3),
                                         normal({24, 1}, 4),
                                         normal({8, 8}, 5),
                                         ones,
                                         cv::Mat(2, 4, CV_32F, rows.data()),
                                         of_rows,
                                         positions};
    const auto one = layer("WindowAttention", attention, {{"relative_positions", 1}});
    return refusal(*one, {tokens, state}, shape);
  };
  const std::vector<float> good{0, 1, 2, 3, 4, 5, 6, -1};
  EXPECT_EQ(run(good, positions, all), "");
  EXPECT_THAT(run(good, positions, states(6, {5})), HasSubstr("has windows for 7 tokens, got 6"));
  EXPECT_THAT(run({0, 1, 2, 3, 4, 5, 6, 6}, positions, all), HasSubstr("windows that are not of rows, each once"));
  for (const float row : {8.F, 1e9F, -2.F, kNaN})
    EXPECT_THAT(run({0, 1, 2, 3, 4, 5, 6, row}, positions, all), HasSubstr("windows that are not of rows, each once"));
  EXPECT_THAT(run({0, 1, 2, 3, 4, 5, 7, -1}, positions, all), HasSubstr("windows that leave rows out"));
  EXPECT_THAT(run(good, normal({2, 8}, 6), all), HasSubstr("has relative positions {2, 8}, expected an odd number"));
  EXPECT_THAT(run(good, normal({5, 8}, 6), all), HasSubstr("has relative positions for 6 tokens in windows of 4"));
}

}  // namespace
}  // namespace mpm
