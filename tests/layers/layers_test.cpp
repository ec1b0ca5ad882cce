// SPDX-License-Identifier: Apache-2.0
#include <opencv2/core/utility.hpp>
#include <thread>

#include "layers/opencv_adapter.h"
#include "layers/opencv_parallel.h"
#include "mpm/c_api.h"
#include "mpm/read_net.hpp"
#include "support/throws_with.h"

namespace mpm {
namespace {

using testing::HasSubstr;

class Layers : public testing::Test {
 protected:
  static void SetUpTestSuite() { registerLayers(); }
};

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
      {"PatchEmbed",
       {{1, 3, 16, 4}},  // as many patches, another grid
       {patch, {4, 8}, {1, 8}},
       "got an image of shape {1, 3, 16, 4}, but the model was converted for {1, 3, 8, 8}; resize the image, or "
       "convert "
       "again with another input size"},
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
