// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <opencv2/core/utility.hpp>
#include <thread>

#include "layers/opencv_adapter.h"
#include "layers/opencv_parallel.h"
#include "layers/reference_net.h"
#include "mpm/c_api.h"
#include "mpm/read_net.hpp"
#include "support/throws_with.h"

namespace mpm {
namespace {

using test::forward;
using test::relativeError;
using test::TinySegmenter;
using testing::HasSubstr;

class Layers : public testing::Test {
 protected:
  static void SetUpTestSuite() { registerLayers(); }
  void TearDown() override { cv::setNumThreads(-1); }

  void expectAsDoubleLoops(const std::vector<int>& schedule, const std::vector<test::InnerMerge>& inside = {}) const {
    const cv::Mat images = TinySegmenter::randomImages(3, 5);
    for (const bool proportional : {false, true}) {
      SCOPED_TRACE(testing::Message() << schedule.size() << " + " << inside.size()
                                      << (proportional ? ", weighted" : ""));
      cv::dnn::Net net = model_.net(schedule, proportional, inside);
      const auto outputs = forward(net, images, {"scores", "features", "report"});
      for (int b = 0; b < 3; ++b) {
        const auto expected = model_.evaluate(images.ptr<float>(b), schedule, proportional, inside);
        ASSERT_EQ(expected.maps.size(), schedule.size() + inside.size());
        EXPECT_LT(relativeError(outputs[0], b, expected.scores), 1e-4);
        EXPECT_LT(relativeError(outputs[1], b, expected.features), 1e-4);
        for (std::size_t k = 0; k < expected.maps.size(); ++k) {
          const float* row = outputs[2].ptr<float>(b, static_cast<int>(k));
          EXPECT_EQ(std::vector<int>(row, row + TinySegmenter::kTokens), expected.maps[k]) << k;
        }
      }
    }
  }

  const TinySegmenter model_{11};
};

/// `groups` and the other attributes of MergeTokens.
cv::dnn::LayerParams mergeParams(const std::string& groups, int count) {
  cv::dnn::LayerParams params;
  params.set("groups", groups);
  params.set("count", count);
  params.set("weighted", 1);
  return params;
}

TEST_F(Layers, NetsThatMergeInsideBlocksAgreeWithDoubleLoops) {
  const auto gradual = [](int block) {
    return test::InnerMerge{block, mergeParams("mutual_pairs", 4), false,
                            [](const test::Rows& x, const test::Rows&, int special, const std::vector<double>& sizes) {
                              return test::mergeMutual(x, special, sizes, 4, -2, true);
                            }};
  };
  const auto tome = [](int block) {
    return test::InnerMerge{
        block, mergeParams("even_odd", 5), true,
        [](const test::Rows& x, const test::Rows& keys, int special, const std::vector<double>& sizes) {
          return test::mergeTome(x, keys, special, sizes, 5);
        }};
  };
  const std::vector<std::vector<test::InnerMerge>> nets = {
      {gradual(0), gradual(1), gradual(3)}, {tome(0), tome(1), tome(2), tome(3)}, {tome(1), gradual(2)}};
  for (const auto& net : nets) expectAsDoubleLoops({}, net);
}

TEST_F(Layers, WholeNetAgreesWithDoubleLoops) {
  for (const std::vector<int>& schedule : {std::vector<int>{}, {1}, {0, 2}, {1, 2, 3}}) expectAsDoubleLoops(schedule);
}

TEST_F(Layers, ReportCountsTokensPerImage) {
  cv::dnn::Net net = model_.net({1, 3});
  const cv::Mat images = TinySegmenter::randomImages(4, 6);
  net.setInput(images);
  std::vector<std::vector<cv::Mat>> outputs;
  net.forward(outputs, std::vector<cv::String>{"report"});
  ASSERT_EQ(outputs[0].size(), 2u);
  const cv::Mat& counts = outputs[0][1];
  std::vector<int> last;
  for (int b = 0; b < 4; ++b) {
    const auto expected = model_.evaluate(images.ptr<float>(b), {1, 3});
    EXPECT_EQ(std::vector<int>(counts.ptr<float>(b), counts.ptr<float>(b) + 3), expected.counts);
    last.push_back(expected.counts.back());
  }
  EXPECT_NE(*std::min_element(last.begin(), last.end()), *std::max_element(last.begin(), last.end()))
      << "the images were meant to keep different numbers of tokens";
}

TEST_F(Layers, PoolingIsThatOfTheRestoredGrid) {
  cv::dnn::Net net = model_.net({1, 2});
  const cv::Mat images = TinySegmenter::randomImages(2, 8);
  const auto outputs = forward(net, images, {"pooled_mean", "pooled_token"});
  for (int b = 0; b < 2; ++b) {
    const auto features = model_.evaluate(images.ptr<float>(b), {1, 2}).features;
    test::Reference mean(1, features.cols);
    for (int c = 0; c < features.cols; ++c)
      for (int i = TinySegmenter::kSpecial; i < features.rows; ++i)
        mean.at(0, c) += features.at(i, c) / TinySegmenter::kTokens;
    EXPECT_LT(relativeError(outputs[0], b, mean), 1e-4);
    EXPECT_LT(relativeError(outputs[1], b, features.rowRange(1, 2)), 1e-4);
  }
}

TEST_F(Layers, LabelsAreTheArgmaxOfTheLogits) {
  cv::dnn::Net net = model_.net({1});
  const auto outputs = forward(net, TinySegmenter::randomImages(2, 9), {"labels", "logits"});
  const int pixels = TinySegmenter::kTokens * TinySegmenter::kPatch * TinySegmenter::kPatch;
  int differ = 0;
  for (int b = 0; b < 2; ++b) {
    for (int p = 0; p < pixels; ++p) {
      int best = 0;
      const float* logits = outputs[1].ptr<float>(b);
      for (int k = 1; k < TinySegmenter::kClasses; ++k) {
        if (logits[k * pixels + p] > logits[best * pixels + p]) best = k;
      }
      differ += outputs[0].ptr<float>(b)[p] != static_cast<float>(best);
    }
  }
  EXPECT_LE(differ, 1);  // two logits may agree to within rounding
}

TEST_F(Layers, ABatchIsItsImages) {
  cv::dnn::Net net = model_.net({1, 2});
  const cv::Mat images = TinySegmenter::randomImages(3, 10);
  const auto together = forward(net, images, {"scores", "labels", "report"});
  for (int b = 0; b < 3; ++b) {
    cv::Mat image({1, images.size[1], images.size[2], images.size[3]}, CV_32F);
    std::copy_n(images.ptr<float>(b), image.total(), image.ptr<float>());
    const auto alone = forward(net, image, {"scores", "labels", "report"});
    for (std::size_t o = 0; o < alone.size(); ++o) {
      const float* expected = together[o].ptr<float>(b);
      EXPECT_TRUE(std::equal(expected, expected + alone[o].total(), alone[o].ptr<float>())) << "output " << o;
    }
  }
}

TEST_F(Layers, SameBytesForAnyNumberOfThreads) {
  const cv::Mat images = TinySegmenter::randomImages(2, 12);
  std::vector<cv::Mat> expected;
  for (int threads = 1; threads <= 4; ++threads) {
    cv::setNumThreads(threads);
    cv::dnn::Net net = model_.net({1, 2});
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto outputs = forward(net, images, {"scores", "features", "report"});
      if (expected.empty()) expected = outputs;
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        EXPECT_TRUE(std::equal(outputs[o].ptr<float>(), outputs[o].ptr<float>() + outputs[o].total(),
                               expected[o].ptr<float>()));
      }
    }
  }
}

TEST_F(Layers, ANanIsAnErrorThatNamesTheLayer) {
  cv::dnn::Net net = model_.net({2});
  cv::Mat images = TinySegmenter::randomImages(2, 14);
  images.ptr<float>(1)[17] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_CV_ERROR(forward(net, images, {"scores"}),
                  "layer 'merge/before_block2' (ai.mpm.MutualPairMerge): a token of image 1 holds a NaN");
}

TEST_F(Layers, AnImageOfAnotherSizeIsAnErrorThatSaysWhatToDo) {
  cv::dnn::Net net = model_.net({2});
  // 6 x 5 patches in place of 5 x 6: as many tokens, another grid.
  const cv::Mat image(std::vector<int>{1, 3, 24, 20}, CV_32F, cv::Scalar(0));
  EXPECT_CV_ERROR(
      forward(net, image, {"scores"}),
      "layer 'backbone/patch_embed' (ai.mpm.PatchEmbed): got an image of shape {1, 3, 24, 20}, but the model "
      "was converted for {1, 3, 20, 24}; resize the image, or convert again with another input size");
}

TEST_F(Layers, AMissingConstantIsAnError) {
  cv::dnn::LayerParams params;
  params.name = "backbone/norm";
  params.type = "ai.mpm.TokenNorm";
  params.set("special_tokens", 1);
  params.set("eps", 1e-6);
  params.blobs = {cv::Mat::ones(4, 1, CV_32F)};
  EXPECT_CV_ERROR(cv::dnn::LayerFactory::createLayerInstance("ai.mpm.TokenNorm", params),
                  "layer 'backbone/norm' (ai.mpm.TokenNorm): has 1 constants, expected 2");
}

// What no converter writes, but a damaged or edited file holds.
TEST_F(Layers, ShapesThatDoNotFitAreErrors) {
  using Shapes = std::vector<std::vector<int>>;
  struct Case {
    std::string type;
    Shapes inputs, constants;
    std::string message;
  };
  const std::vector<int> tokens{2, 7, 8}, state{2, 13}, image{1, 3, 8, 8}, patch{8, 3, 4, 4};
  const std::string wrong_state = "expects the state of 6 tokens for its tokens {2, 7, 8}, ";
  const std::vector<Case> cases = {
      {"TokenLinear", {{}}, {{4, 8}, {4, 1}}, "expects tokens {B, rows, d} or {B, d}, got {}"},
      {"TokenLinear", {{2, 7, 9}}, {{4, 8}, {4, 1}}, "its weight is {4, 8}, the tokens {2, 7, 9}"},
      {"TokenLinear", {tokens, {2, 11}}, {{4, 8}, {4, 1}}, wrong_state},
      {"TokenNorm", {{8}}, {{8, 1}, {8, 1}}, "expects tokens {B, rows, d} or {B, d}"},
      {"MutualPairMerge", {tokens}, {}, "expects tokens and their state, got 1 inputs"},
      {"RestoreTokens", {{2, 7}, state}, {}, "expects tokens {B, rows, d}, got {2, 7}"},
      {"PoolTokens", {tokens, {1, 13}}, {}, wrong_state + "got {1, 13}"},
      {"ClassTokens", {tokens, state}, {{3, 9}}, "its rows are {3, 9}, the tokens {2, 7, 8}"},
      {"MaskScores", {tokens, {13}}, {{8, 8}, {8, 8}, {1, 1}, {1, 1}}, wrong_state + "got {13}"},
      {"MaskScores", {tokens, state}, {{8, 9}, {8, 8}, {1, 1}, {1, 1}}, "its projections are {8, 9} and {8, 8}"},
      {"MaskScores", {tokens, state}, {{8, 8}, {8, 9}, {1, 1}, {1, 1}}, "its projections are {8, 8} and {8, 9}"},
      {"MaskScores", {tokens, state}, {{8, 8}, {7, 8}, {1, 1}, {1, 1}}, "its projections are {8, 8} and {7, 8}"},
      {"TransformerBlock", {tokens, {2, 12}}, Shapes(12, {8, 1}), wrong_state + "got {2, 12}"},
      {"MergeReport", {state, {2, 11}}, {}, "expects states {B, 1 + 2N} of one shape"},
      {"PatchEmbed", {{3, 8, 8}}, {patch, {4, 8}, {1, 8}}, "expects an image {B, C, H, W}, got {3, 8, 8}"},
      {"PatchEmbed", {image}, {patch, {5, 8}, {1, 8}}, "expects positions {4, 8}, got {5, 8}"},
      {"PatchEmbed", {image}, {patch, {4, 8}, {2, 8}}, "expects special rows {1, 8}, got {2, 8}"},
      {"SegmentLabels", {{2, 5, 3}}, {}, "expects scores {B, 4, C}, got {2, 5, 3}"},
  };
  for (const Case& c : cases) {
    cv::dnn::LayerParams params;
    params.name = "head/wrong";
    params.type = "ai.mpm." + c.type;
    for (const char* one : {"special_tokens", "heads", "key_bias", "keep_special"}) params.set(one, 1);
    for (const char* size : {"height", "width", "head_dim"}) params.set(size, 8);
    for (const char* stride : {"stride_h", "stride_w"}) params.set(stride, 4);
    for (const char* grid : {"grid_h", "grid_w"}) params.set(grid, 2);
    for (const char* real : {"eps", "norm1_eps", "norm2_eps", "scale"}) params.set(real, 1e-6);
    params.set("activation", "relu");
    params.set("mode", "mean");
    for (const auto& shape : c.constants) params.blobs.emplace_back(shape, CV_32F, cv::Scalar(0));
    const cv::Ptr<cv::dnn::Layer> layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params);
    ASSERT_TRUE(layer) << c.type;
    std::vector<opencv::MatShape> inputs, outputs, internals;
    for (const auto& shape : c.inputs) inputs.push_back(opencv::makeShape(shape));
    EXPECT_CV_ERROR(layer->getMemoryShapes(inputs, 1, outputs, internals),
                    "layer 'head/wrong' (" + params.type + "): " + c.message);
  }
}

TEST_F(Layers, AsManyBiasesAsOutputs) {
  cv::dnn::LayerParams params;
  params.name = "head/linear";
  params.type = "ai.mpm.TokenLinear";
  params.set("special_tokens", 0);
  params.blobs = {cv::Mat::zeros(4, 8, CV_32F), cv::Mat::zeros(3, 1, CV_32F)};
  const auto layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params);
  std::vector<cv::Mat> inputs{cv::Mat::zeros(2, 8, CV_32F)}, outputs{cv::Mat::zeros(2, 4, CV_32F)}, internals;
  EXPECT_CV_ERROR(layer->forward(inputs, outputs, internals), "has 3 biases for 4 outputs");
}

TEST_F(Layers, ALayerThatCannotBeMadeIsNamedByOpenCv) {
  cv::dnn::LayerParams params;
  params.name = "head/linear";
  params.type = "ai.mpm.TokenLinear";
  params.set("special_tokens", 0);
  params.set("precision", "fp7");
  params.blobs = {cv::Mat::zeros(4, 8, CV_32F), cv::Mat::zeros(4, 1, CV_32F)};
  EXPECT_THAT([&] { cv::dnn::LayerFactory::createLayerInstance(params.type, params); },
              testing::ThrowsMessage<cv::Exception>(AllOf(HasSubstr("layer 'head/linear'"), HasSubstr("fp7"))));
}

TEST_F(Layers, OpenCvKeepsNoWeightsThatTheLayerHas) {
  cv::dnn::LayerParams params;
  params.type = "ai.mpm.TokenLinear";
  params.set("special_tokens", 0);
  const cv::Mat weight = cv::Mat::zeros(4, 8, CV_32F);
  params.blobs = {weight, cv::Mat::zeros(4, 1, CV_32F)};
  const auto layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params);
  std::vector<cv::Mat> inputs{cv::Mat::zeros(2, 8, CV_32F)}, outputs{cv::Mat::zeros(2, 4, CV_32F)}, internals;
  layer->forward(inputs, outputs, internals);
  EXPECT_EQ(weight.u->refcount, 1) << "packed once, and held by the caller alone";
}

TEST_F(Layers, RegistrationIsIdempotentAndThreadSafe) {
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { failures += mpm_register_layers(); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  cv::dnn::LayerParams params;
  params.set("special_tokens", 1);
  EXPECT_TRUE(cv::dnn::LayerFactory::createLayerInstance("ai.mpm.MutualPairMerge", params));
}

TEST(OpenCvParallelTest, RunsEveryTaskOnceAndRethrows) {
  for (const int threads : {1, 2, 4}) {
    cv::setNumThreads(threads);
    std::vector<std::atomic<int>> calls(101);
    OpenCvParallel().run(101, [&](int task) { ++calls[task]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
    OpenCvParallel().run(0, [&](int) { FAIL() << "no task was asked for"; });
    EXPECT_THROW(OpenCvParallel().run(50,
                                      [](int task) {
                                        if (task == 7) throw std::runtime_error("seven");
                                      }),
                 std::runtime_error);
  }
  cv::setNumThreads(-1);
}

}  // namespace
}  // namespace mpm
