// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <opencv2/core/utility.hpp>
#include <thread>
#include <variant>

#include "kernels/cpu/tiles.h"
#include "kernels/precision.h"
#include "layers/mpm_layer.h"
#include "layers/opencv_adapter.h"
#include "layers/opencv_parallel.h"
#include "mpm/c_api.h"
#include "mpm/read_net.hpp"
#include "support/throws_with.h"

namespace mpm {
namespace {

class Layers : public testing::Test {
 protected:
  static void SetUpTestSuite() { registerLayers(); }
  static cv::dnn::LayerParams paramsOf(const std::string& op, const std::vector<cv::Mat>& constants) {
    cv::dnn::LayerParams params;
    params.name = "head/one";
    params.type = "ai.mpm." + op;
    params.set("special_tokens", 1);
    params.blobs = constants;
    return params;
  }
};

TEST_F(Layers, AMissingConstantIsAnError) {
  cv::dnn::LayerParams params = paramsOf("TokenNorm", {cv::Mat::ones(4, 1, CV_32F)});
  params.set("eps", 1e-6);
  EXPECT_CV_ERROR(cv::dnn::LayerFactory::createLayerInstance("ai.mpm.TokenNorm", params),
                  "layer 'head/one' (ai.mpm.TokenNorm): has 1 constants, expected 2");
}

TEST_F(Layers, WhatOnlyNetsInMemoryHaveIsAnError) {
  for (const char* const mark : {"waiting_weights", "reuse", "device"}) {
    cv::dnn::LayerParams params = paramsOf("MutualPairMerge", {});
    params.set(mark, 0);
    EXPECT_CV_ERROR(cv::dnn::LayerFactory::createLayerInstance(params.type, params),
                    "attribute '" + std::string(mark) + "' is for nets in memory; no file has it");
  }
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
       "convert again with another input size"},
      {"PatchEmbed", {image}, {patch, {5, 8}, {1, 8}}, "expects positions {4, 8}, got {5, 8}"},
      {"PatchEmbed", {image}, {patch, {4, 8}, {2, 8}}, "expects special rows {1, 8}, got {2, 8}"},
      {"SegmentLabels", {{2, 5, 3}}, {}, "expects scores {B, 4, C}, got {2, 5, 3}"},
  };
  for (const Case& c : cases) {
    cv::dnn::LayerParams params = paramsOf(c.type, {});
    for (const char* one : {"heads", "key_bias", "keep_special"}) params.set(one, 1);
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
    for (const auto& shape : c.inputs) inputs.push_back(opencv::MatShape(shape));
    EXPECT_CV_ERROR(layer->getMemoryShapes(inputs, 1, outputs, internals),
                    "layer 'head/one' (" + params.type + "): " + c.message);
  }
}

TEST_F(Layers, AsManyBiasesAsOutputs) {
  cv::dnn::LayerParams params = paramsOf("TokenLinear", {cv::Mat::zeros(4, 8, CV_32F), cv::Mat::zeros(3, 1, CV_32F)});
  const auto layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params);
  std::vector<cv::Mat> inputs{cv::Mat::zeros(2, 8, CV_32F)}, outputs{cv::Mat::zeros(2, 4, CV_32F)}, internals;
  EXPECT_CV_ERROR(layer->forward(inputs, outputs, internals), "has 3 biases for 4 outputs");
}

TEST_F(Layers, AConvolutionBesideInt8MultipliesAsWhatHasNoInt8) {
  const int weight[] = {96, 96, 1, 1}, maps[] = {1, 8, 8, 96};
  cv::Mat w(4, weight, CV_32F), x(4, maps, CV_32F);
  cv::randn(w, 0, 0.1);
  cv::randn(x, 0, 1);
  const auto run = [&](const std::string& precision, bool beside) {
    cv::dnn::LayerParams params = paramsOf("HeadConvolve", {w, cv::Mat::zeros(96, 1, CV_32F)});
    const int ones[] = {1, 1}, none[] = {0, 0}, size[] = {8, 8};
    for (const auto& [key, pair] : {std::pair("size", size), {"stride", ones}, {"dilation", ones}, {"pad", none}})
      params.set(key, cv::dnn::DictValue::arrayInt(pair, 2));
    params.set("groups", 1);
    params.set("precision", precision);
    if (beside) params.set("beside_int8", 1);
    const auto layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params);
    std::vector<cv::Mat> inputs{x}, outputs{cv::Mat(4, maps, CV_32F)}, internals;
    layer->forward(inputs, outputs, internals);
    return outputs[0];
  };
  const cv::Mat expected = run(toString(besideBlocks(Precision::kInt8)), false);
  EXPECT_EQ(cv::norm(run("int8", true), expected, cv::NORM_INF), 0);
  if (convolutionTiles(Precision::kInt8)) {
    EXPECT_GT(cv::norm(run("int8", false), expected, cv::NORM_INF), 0);
  }
}

// What stands in for ONNX's operator in a net on a device, and runs on the CPU where the device has no operator.
TEST_F(Layers, SoftmaxAlongAnAxis) {
  for (const auto& [axis, from_front] : {std::pair(1, 1), {-1, 2}, {0, 0}}) {
    cv::dnn::LayerParams params = paramsOf("HeadSoftmax", {});
    params.set("axis", axis);
    const auto layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params);
    const int sides[] = {2, 5, 3}, steps[] = {15, 3, 1};
    cv::Mat x(3, sides, CV_32F);
    cv::randn(x, 0, 40);
    std::vector<cv::Mat> inputs{x}, outputs{cv::Mat(3, sides, CV_32F)}, internals;
    layer->forward(inputs, outputs, internals);
    for (int i = 0; i < 30; ++i) {
      const int side = sides[from_front], step = steps[from_front], first = i - i / step % side * step;
      double sum = 0;
      for (int k = 0; k < side; ++k)
        sum += std::exp(static_cast<double>(x.ptr<float>()[first + k * step]) - static_cast<double>(x.ptr<float>()[i]));
      EXPECT_NEAR(static_cast<double>(outputs[0].ptr<float>()[i]), 1 / sum, 1e-6) << axis << ", " << i;
    }
  }
}

TEST_F(Layers, ALayerThatCannotBeMadeIsNamedByOpenCv) {
  cv::dnn::LayerParams params = paramsOf("TokenLinear", {cv::Mat::zeros(4, 8, CV_32F), cv::Mat::zeros(4, 1, CV_32F)});
  params.set("precision", "fp7");
  EXPECT_THAT([&] { cv::dnn::LayerFactory::createLayerInstance(params.type, params); },
              testing::ThrowsMessage<cv::Exception>(AllOf(HasSubstr("layer 'head/one'"), HasSubstr("fp7"))));
}

TEST_F(Layers, OpenCvKeepsNoWeightsThatTheLayerHas) {
  const cv::Mat weight = cv::Mat::zeros(4, 8, CV_32F);
  cv::dnn::LayerParams params = paramsOf("TokenLinear", {weight, cv::Mat::zeros(4, 1, CV_32F)});
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

// What operators of a head refuse, as a damaged file may have them. What they compute: tests/worlds/graphs.
using Attributes = std::vector<std::pair<const char*, std::variant<int, double, const char*, std::vector<int>>>>;

/// Operands whose position is in `constants` are given as constants.
cv::Mat run(const std::string& type, const Attributes& attributes, const std::vector<cv::Mat>& operands,
            const std::vector<int>& constants = {}) {
  registerLayers();
  cv::dnn::LayerParams params;
  params.name = "one/layer";
  params.type = "ai.mpm.Head" + type;
  for (const auto& [name, value] : attributes) {
    std::visit(
        [&, &name = name](const auto& one) {
          if constexpr (std::is_same_v<decltype(one), const std::vector<int>&>)
            params.set(name, cv::dnn::DictValue::arrayInt(one.data(), static_cast<int>(one.size())));
          else
            params.set(name, one);
        },
        value);
  }
  std::vector<cv::Mat> inputs;
  std::vector<opencv::MatShape> shapes, outputs, internals;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool constant = std::find(constants.begin(), constants.end(), static_cast<int>(i)) != constants.end();
    (constant ? params.blobs : inputs).push_back(operands[i]);
  }
  if (!constants.empty())
    params.set("constants", cv::dnn::DictValue::arrayInt(constants.data(), static_cast<int>(constants.size())));
  const auto layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params);
  for (const cv::Mat& input : inputs)
    shapes.push_back(opencv::MatShape(Shape(input.size.p, input.size.p + input.dims)));
  layer->getMemoryShapes(shapes, 1, outputs, internals);
  std::vector<cv::Mat> results, scratch;
  for (const opencv::MatShape& shape : outputs) results.emplace_back(Shape(shape.begin(), shape.end()), CV_32F);
  layer->forward(inputs, results, scratch);
  return results[0];
}

cv::Mat blob(const Shape& shape, float value = 0.5f) { return {shape, CV_32F, cv::Scalar(value)}; }

TEST(HeadLayers, RefuseWhatDoesNotFit) {
  const cv::Mat x = blob({2, 3});
  const auto index = [](float value) { return blob({1, 1}, value); };
  const struct {
    const char* why;
    const char* type;
    Attributes attributes;
    std::vector<cv::Mat> operands;
    std::vector<int> constants;
  } cases[] = {
      {"sides", "Elementwise", {{"function", "Add"}}, {x, blob({2, 4})}, {}},
      {"one operand of two", "Elementwise", {{"function", "Add"}}, {x}, {}},
      {"unknown function", "Elementwise", {{"function", "Hardmax"}}, {x}, {}},
      {"index below -1", "Window", {{"function", "Max"}, {"axis", 1}, {"fill", 0.5}}, {x, index(-2)}, {1}},
      {"fill of a sum", "Window", {{"function", "Sum"}, {"axis", 1}, {"fill", 0.5}}, {x, index(0), index(0)}, {1, 2}},
      {"axis at the rank", "Window", {{"function", "Max"}, {"axis", 2}}, {x, index(0)}, {1}},
      {"index at the side", "Window", {{"function", "Max"}, {"axis", 1}}, {x, index(3)}, {1}},
      {"index below 0", "Window", {{"function", "Max"}, {"axis", 1}}, {x, index(-1)}, {1}},
      {"unknown function", "Window", {{"function", "Mean"}, {"axis", 1}}, {x, index(0)}, {1}},
      {"sum without weights", "Window", {{"function", "Sum"}, {"axis", 1}}, {x, index(0)}, {1}},
      {"index at the side", "Gather", {{"function", "GatherElements"}, {"axis", 1}}, {x, blob({2, 1}, 3)}, {}},
      {"longer side", "Gather", {{"function", "GatherElements"}, {"axis", 1}}, {x, blob({3, 1}, 0)}, {}},
      {"channels of groups",
       "Normalize",
       {{"groups", 4}, {"eps", 1e-3}},
       {blob({1, 6, 2}), blob({1, 6}), blob({1, 6})},
       {1, 2}},
      {"places of one image",
       "GridSample",
       {{"mode", "linear"}, {"padding", "zeros"}},
       {blob({2, 2, 3, 3}), blob({1, 1, 2, 2})},
       {}},
      {"more than the side", "TopK", {{"axis", 1}, {"k", 4}}, {x}, {}},
      {"none", "TopK", {{"axis", 1}, {"k", 0}}, {x}, {}},
      {"axis at the rank", "Reduce", {{"function", "ReduceSum"}, {"axes", 2}}, {x}, {}},
      {"unknown function", "Reduce", {{"function", "ReduceMode"}, {"axes", 1}}, {x}, {}},
      {"no arrow", "Einsum", {{"equation", "ab,bc"}}, {x, blob({3, 2})}, {}},
      {"a letter twice", "Einsum", {{"equation", "aa,bc->ac"}}, {blob({2, 2}), blob({3, 2})}, {}},
      {"a new letter", "Einsum", {{"equation", "ab,bc->ad"}}, {x, blob({3, 2})}, {}},
      {"another rank", "Einsum", {{"equation", "ab,bc->ac"}}, {blob({2, 3, 1}), blob({3, 2})}, {}},
      {"sides", "Einsum", {{"equation", "ab,bc->ac"}}, {x, blob({2, 2})}, {}},
      {"three operands", "Einsum", {{"equation", "ab,bc->ac"}}, {x, blob({3, 2}), blob({2, 2})}, {}},
      {"a constant that is not there", "Elementwise", {{"function", "Add"}}, {x, x}, {1, 7}},
  };
  for (const auto& [why, type, attributes, operands, constants] : cases)
    EXPECT_THROW(run(type, attributes, operands, constants), cv::Exception) << type << ": " << why;
}

TEST(HeadLayers, TransposeLetsTwoRunsOfAxesChangePlaces) {
  const int sizes[] = {2, 67, 5, 33};
  cv::Mat x(4, sizes, CV_32F);
  cv::randn(x, 0, 1);
  for (const std::vector<int>& axes : {std::vector{0, 3, 1, 2}, {0, 2, 3, 1}, {0, 1, 3, 2}, {1, 2, 3, 0}}) {
    const cv::Mat y = run("Transpose", {{"perm", axes}}, {x});
    int from[4];
    for (int k = 0; k < 4; ++k) ASSERT_EQ(y.size[k], sizes[axes[static_cast<std::size_t>(k)]]);
    for (std::size_t i = 0; i < y.total(); ++i) {
      std::size_t rest = i;
      for (int k = 3; k >= 0; --k) {
        from[axes[static_cast<std::size_t>(k)]] = static_cast<int>(rest % static_cast<std::size_t>(y.size[k]));
        rest /= static_cast<std::size_t>(y.size[k]);
      }
      ASSERT_EQ(y.ptr<float>()[i], x.at<float>(from)) << i;
    }
  }
  const Attributes turned{{"perm", std::vector{3, 2, 1, 0}}};
  EXPECT_CV_ERROR(run("Transpose", turned, {x}), "runs on the CPU only where two runs of axes change places");
}

TEST(HeadLayers, GridSampleAtNoPlaceIsZero) {
  const cv::Mat found =
      run("GridSample", {{"mode", "linear"}, {"padding", "zeros"}}, {blob({1, 2, 3, 3}), blob({1, 1, 2, 2}, NAN)});
  EXPECT_EQ(cv::norm(found.reshape(1, 1), cv::NORM_INF), 0);
}

}  // namespace
}  // namespace mpm
