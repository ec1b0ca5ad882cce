// SPDX-License-Identifier: Apache-2.0
// One layer alone on hand-made tokens and states: how many rows it computes, and which states it refuses.

#include <map>

#include "kernels/block_weights.h"
#include "kernels/reference.h"
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

  /// The output of this shape; 7 where the layer writes nothing.
  static cv::Mat forward(cv::dnn::Layer& layer, const std::vector<cv::Mat>& inputs, const std::vector<int>& shape) {
    std::vector<cv::Mat> outputs{cv::Mat(shape, CV_32F, cv::Scalar(7))}, internals;
    layer.forward(inputs, outputs, internals);
    return outputs[0];
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

// Rows are computed in tiles of 64: images end before, at and after the ends of tiles. Rows after the live ones must be
// neither read nor written.
void expectEveryLiveRow(cv::dnn::Layer& layer, const cv::Mat& x, const cv::Mat& state, int out_dim,
                        const std::function<double(const float* row, int column)>& expected) {
  constexpr float kUntouched = 1234.5F;
  const int capacity = x.size[1], dim = x.size[2];
  cv::Mat poisoned = x.clone(), y(std::vector<int>{x.size[0], capacity, out_dim}, CV_32F, cv::Scalar(kUntouched));
  for (int b = 0; b < x.size[0]; ++b) {
    const int rows = kSpecial + static_cast<int>(state.at<float>(b, 0));
    std::fill(poisoned.ptr<float>(b, rows), poisoned.ptr<float>(b) + capacity * dim, kNaN);
  }
  std::vector<cv::Mat> inputs{poisoned, state}, outputs{y}, internals;
  layer.forward(inputs, outputs, internals);
  for (int b = 0; b < x.size[0]; ++b) {
    const int rows = kSpecial + static_cast<int>(state.at<float>(b, 0));
    for (int i = 0; i < capacity; ++i)
      for (int c = 0; c < out_dim; ++c) {
        const float value = y.ptr<float>(b, i)[c];
        if (i < rows)
          ASSERT_NEAR(value, expected(x.ptr<float>(b, i), c), 1e-5) << "row " << i << " of " << rows;
        else
          ASSERT_EQ(value, kUntouched) << "row " << i << " of " << rows;
      }
  }
}

const std::vector<std::vector<int>> kUnequalCounts = {{62, 129}, {63, 198}, {64, 199}, {199, 1}};

// Large and all different, so that no two can be exchanged.
TEST_F(OneLayer, EachNormOfABlockHasItsEpsilon) {
  test::BlockOptions options;
  options.qk_norm = options.mlp_norm = true;
  options.activation = Activation::kRelu;
  const test::BlockWeights weights(options);
  TransformerBlockSpec spec = weights.spec();
  spec.scale = 1;
  spec.norm1.eps = 0.1F, spec.norm2.eps = 0.2F, spec.mlp_norm_weights.eps = 0.4F;
  spec.q_norm.eps = spec.k_norm.eps = 0.3F;
  std::vector<cv::Mat> constants;
  const auto add = [&](const float* values, int rows, int columns = 1) {
    constants.emplace_back(rows, columns, CV_32F, const_cast<float*>(values));
  };
  const auto norm = [&](const NormWeights& of, int size) { add(of.weight, size), add(of.bias, size); };
  const auto linear = [&](const LinearWeights& of) {
    add(of.weight.data, of.weight.rows, of.weight.cols), add(of.bias, of.weight.rows);
  };
  norm(spec.norm1, spec.dim), linear(spec.qkv), norm(spec.q_norm, spec.head_dim), norm(spec.k_norm, spec.head_dim);
  linear(spec.proj), norm(spec.norm2, spec.dim), linear(spec.fc1), norm(spec.mlp_norm_weights, options.hidden);
  linear(spec.fc2);
  const cv::Mat x = normal({1, 7, spec.dim}, 45);
  const cv::Mat y = forward(*layer("TransformerBlock", constants,
                                   {{"heads", spec.heads},
                                    {"head_dim", spec.head_dim},
                                    {"key_bias", 0},
                                    {"qk_norm", 1},
                                    {"mlp_norm", 1},
                                    {"norm1_eps", 0.1},
                                    {"norm2_eps", 0.2},
                                    {"qk_norm_eps", 0.3},
                                    {"mlp_norm_eps", 0.4}}),
                            {x, states(6, {6})}, {1, 7, spec.dim});
  const MatrixView<const float> rows(x.ptr<float>(), 7, spec.dim);
  EXPECT_LE(test::maxError({y.ptr<float>(), 7, spec.dim}, test::block(spec, test::Reference(rows), nullptr)), 1e-4);
}

TEST_F(OneLayer, AttentionPoolsEveryMemberOfEveryCluster) {
  const int dim = 6, width = 4, patches = 9;
  const cv::Mat query = normal({1, width}, 41), weight = normal({2 * width, dim}, 42),
                bias = normal({1, 2 * width}, 43);
  const cv::Mat x = normal({2, kSpecial + patches, dim}, 44), state = states(patches, {5, 9});
  cv::Mat poisoned = x.clone();
  for (int i = kSpecial + 5; i < kSpecial + patches; ++i) std::fill_n(poisoned.ptr<float>(0, i), dim, kNaN);
  const cv::Mat y = forward(*layer("AttentionPool", {query, weight, bias}), {poisoned, state}, {2, width});
  for (int b = 0; b < 2; ++b) {
    const int rows = kSpecial + static_cast<int>(state.at<float>(b, 0));
    const test::Reference projected = test::linear(test::Reference(MatrixView<const float>(x.ptr<float>(b), rows, dim)),
                                                   {{weight.ptr<float>(), 2 * width, dim}, bias.ptr<float>()});
    double total = 0;
    std::vector<double> sums(width, 0.);
    for (int i = 0; i < rows; ++i) {
      const float size = i < kSpecial ? 1.f : state.at<float>(b, 1 + patches + i - kSpecial);
      double logit = 0;
      for (int j = 0; j < width; ++j) logit += query.at<float>(j) * projected.at(i, j);
      total += size * std::exp(logit);
      for (int j = 0; j < width; ++j) sums[j] += size * std::exp(logit) * projected.at(i, width + j);
    }
    for (int j = 0; j < width; ++j) EXPECT_NEAR(y.at<float>(b, j), sums[j] / total, 1e-5);
  }
}

TEST_F(OneLayer, PoolingIsThatOfTheRestoredGrid) {
  const int dim = 5, patches = 7;
  const cv::Mat x = normal({2, 2 + patches, dim}, 36), state = states(patches, {4, 7});  // 4 rows of 4, 1, 1, 1 patches
  const cv::Mat mean = forward(*layer("PoolTokens", {}, {{"special_tokens", 2}}), {x, state}, {2, dim});
  for (int b = 0; b < 2; ++b)
    for (int c = 0; c < dim; ++c) {
      float sum = 0;
      for (int i = 0; i < patches; ++i) sum += x.ptr<float>(b, 2 + (b == 0 && i > 3 ? 0 : i))[c];
      EXPECT_NEAR(mean.at<float>(b, c), sum / patches, 1e-6) << b;
    }
}

TEST_F(OneLayer, PrependedTokensAreInFrontOfTheLiveRows) {
  const int dim = 5, late = 3, patches = 7;
  const cv::Mat rows = normal({late, dim}, 31), x = normal({2, kSpecial + patches, dim}, 32),
                state = states(patches, {4, 7});
  const cv::Mat y = forward(*layer("PrependTokens", {rows}), {x, state}, {2, late + kSpecial + patches, dim});
  for (int b = 0; b < 2; ++b) {
    const int live = kSpecial + static_cast<int>(state.at<float>(b, 0));
    for (int i = 0; i < late + kSpecial + patches; ++i)
      for (int c = 0; c < dim; ++c) {
        const float* const from = i < late ? rows.ptr<float>(i) : x.ptr<float>(b, std::min(i - late, live - 1));
        EXPECT_EQ(y.ptr<float>(b, i)[c], i < late + live ? from[c] : 7) << "image " << b << ", row " << i;
      }
  }
}

TEST_F(OneLayer, RowsAndPositionsAreAddedAsMeansOfTheMembers) {
  const int dim = 5, patches = 7;
  const std::vector<int> shape{2, kSpecial + patches, dim};
  const cv::Mat x = normal(shape, 34), state = states(patches, {4, 7});  // patches 4 to 6 of image 0 are in its row 0
  // `added`: at least the rows of the patches, for each image or for all.
  const auto expectAdded = [&](const cv::Mat& y, const cv::Mat& added) {
    const int batch = added.dims == 3 ? 1 : 0, first = kSpecial + patches - added.size[batch];
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < kSpecial + patches; ++i)
        for (int c = 0; c < dim; ++c) {
          const auto row = [&](int r) {
            return r < first ? 0 : (batch ? added.ptr<float>(b, r - first) : added.ptr<float>(r - first))[c];
          };
          const float mean = b == 0 && i == 1 ? (row(1) + row(5) + row(6) + row(7)) / 4 : row(i);
          const float expected = b == 1 || i < kSpecial + 4 ? x.ptr<float>(b, i)[c] + mean : 7;
          EXPECT_NEAR(y.ptr<float>(b, i)[c], expected, 1e-6) << "image " << b << ", row " << i;
        }
  };
  const cv::Mat positions = normal({kSpecial + patches, dim}, 33);
  expectAdded(forward(*layer("AddPositions", {positions}), {x, state}, shape), positions);
  for (const int first : {0, kSpecial}) {  // the rows of the special tokens may be left out
    const cv::Mat rows = normal({2, kSpecial + patches - first, dim}, 35);
    expectAdded(forward(*layer("AddRows"), {x, state, rows}, shape), rows);
  }
}

TEST_F(OneLayer, NormComputesEveryLiveRow) {
  const int dim = 12;
  const cv::Mat weight = normal({dim, 1}, 1), bias = normal({dim, 1}, 2), x = normal({2, 200, dim}, 3);
  const auto expected = [&](const float* row, int column) {
    const test::Reference alone(MatrixView<const float>(row, 1, dim));
    return test::norm(alone, {weight.ptr<float>(), bias.ptr<float>(), 0.25F}).at(0, column);
  };
  for (const auto& live : kUnequalCounts)
    expectEveryLiveRow(*layer("TokenNorm", {weight, bias}), x, states(199, live), dim, expected);
}

TEST_F(OneLayer, LinearComputesEveryLiveRow) {
  const int dim = 12, out = 7;
  const cv::Mat weight = normal({out, dim}, 4), bias = normal({out, 1}, 5), x = normal({2, 200, dim}, 6);
  const auto expected = [&](const float* row, int column) {
    const test::Reference alone(MatrixView<const float>(row, 1, dim));
    const test::Reference all = test::linear(alone, {{weight.ptr<float>(), out, dim}, bias.ptr<float>()});
    return std::max(0., all.at(0, column));  // the activation of all layers here
  };
  for (const auto& live : kUnequalCounts)
    expectEveryLiveRow(*layer("TokenLinear", {weight, bias}), x, states(199, live), out, expected);
}

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
