// SPDX-License-Identifier: Apache-2.0
// Reuse of rows in whole models: every exported model of tests/data, and the Estimator on frames.
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "mpm/convert.hpp"
#include "mpm/estimator.hpp"
#include "net/graph_marks.h"
#include "net/image_net.h"
#include "onnx/model/graph_proto.h"
#include "support/pictures.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kFiles = MPM_TEST_DATA_DIR;

std::vector<std::string> convertibleModels() {
  std::vector<std::string> names;
  for (const nlohmann::json& model : nlohmann::json::parse(std::ifstream(kFiles + "/models.json"))) {
    if (model.at("verdict") == "convert" &&
        model.at("file") != "timm_vit_dynamic_ts17.onnx")  // no size fits it unasked
      names.push_back(model.at("file"));
  }
  return names;
}

/// A model twice: as it is, and with reuse.
struct Twins {
  ReuseNet reuse;
  LoadedNet full, reusing;

  Twins(const std::string& file, const std::string& reduction) {
    ReadOptions options;
    options.reduce = parseReduction(reduction);
    const auto outputs = [](const onnx::GraphProto&, const ModelInfo& info) { return info.outputs; };
    try {
      full = readNet(kFiles + "/" + file, options, outputs);
    } catch (const Error&) {  // its graph leaves the size of the image open
      options.input_size = Size2{48, 64};
      full = readNet(kFiles + "/" + file, options, outputs);
    }
    reusing = readNet(kFiles + "/" + file, options, outputs, &reuse);
  }

  cv::Mat image(int seed) const {
    cv::Mat blob(std::vector<int>{1, 3, full.info.input.height, full.info.input.width}, CV_32F);
    cv::RNG(static_cast<std::uint64_t>(seed)).fill(blob, cv::RNG::NORMAL, 0, 1);
    return blob;
  }
  static std::vector<cv::Mat> run(LoadedNet& loaded, const cv::Mat& image) {
    loaded.net.setInput(image);
    std::vector<cv::Mat> blobs;
    loaded.net.forward(blobs, std::vector<cv::String>(loaded.info.outputs.begin(), loaded.info.outputs.end()));
    for (cv::Mat& blob : blobs) blob = blob.clone();
    return blobs;
  }
};

bool sameBytes(const cv::Mat& a, const cv::Mat& b) {
  return a.size == b.size && std::equal(a.ptr<float>(), a.ptr<float>() + a.total(), b.ptr<float>());
}

double worst(const cv::Mat& a, const cv::Mat& b) {
  cv::Scalar mean, deviation;
  cv::meanStdDev(b.reshape(1, 1), mean, deviation);
  return cv::norm(a.reshape(1, 1), b.reshape(1, 1), cv::NORM_INF) / (deviation[0] + 1e-9);
}

// A key frame is the full model. On the same image, rows that are computed again are what they were: whichever they
// are, the outputs stay. So do they when none is.
TEST(ReuseOfModels, SameImageGivesTheSameOutputs) {
  std::set<std::string> refused;
  for (const char* name :
       {"beit_ts17", "hf_rf_detr_dynamo18", "hf_rf_detr_seg_dynamo18", "hf_sam_dynamo18", "hf_vitdet_dynamo18",
        "hf_yolos_dynamo18", "samvit_224_dynamo18", "samvit_ts17", "vit_adapter_no_shapes_dynamo18"})
    refused.insert(std::string(name) + ".onnx");
  for (const std::string& file : convertibleModels()) {
    SCOPED_TRACE(file);
    if (refused.contains(file)) {
      EXPECT_MPM_ERROR(Twins(file, "none"), "rows of earlier frames cannot be reused: node '");
      continue;
    }
    Twins twins(file, "none");
    const cv::Mat image = twins.image(1);
    const auto expected = Twins::run(twins.full, image), key = Twins::run(twins.reusing, image);
    std::mt19937 random(7);
    for (std::size_t i = 0; i < key.size(); ++i) EXPECT_TRUE(sameBytes(key[i], expected[i])) << i;
    for (const unsigned share : {0u, 1u, 3u}) {
      twins.reuse.session->changed.emplace();
      for (int patch = 0; patch < twins.full.info.tokens(); ++patch)
        if (random() % 4 < share) twins.reuse.session->changed->push_back(patch);
      const auto again = Twins::run(twins.reusing, image);
      for (std::size_t i = 0; i < again.size(); ++i)
        EXPECT_LE(worst(again[i], expected[i]), 1e-5) << i << ", " << share;
    }
    // Another image, computed whole, leaves nothing behind.
    twins.reuse.session->changed.reset();
    const cv::Mat other = twins.image(2);
    const auto whole = Twins::run(twins.reusing, other), plain = Twins::run(twins.full, other);
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_TRUE(sameBytes(whole[i], plain[i])) << i;
  }
}

TEST(ReuseOfModels, MergedKeyFramesAreThoseOfTheFullModel) {
  for (const char* file :
       {"segmenter_mask_ts17.onnx", "hf_dinov3_dynamo18.onnx", "hf_eomt_ts17.onnx", "dpt_ts16.onnx"}) {
    for (const char* reduction :
         {"mpm:blocks=1", "mpm:blocks=0,1:attention=proportional", "gradual:blocks=0,1:count=3"}) {
      SCOPED_TRACE(std::string(file) + " " + reduction);
      Twins twins(file, reduction);
      for (int frame = 0; frame < 3; ++frame) {
        const cv::Mat image = twins.image(frame);
        twins.reuse.session->changed = std::vector<int>{1, 2, 5};
        if (frame > 0) {
          for (const cv::Mat& blob : Twins::run(twins.reusing, image)) EXPECT_TRUE(cv::checkRange(blob.reshape(1, 1)));
        }
        twins.reuse.session->changed.reset();
        const auto key = Twins::run(twins.reusing, image), expected = Twins::run(twins.full, image);
        for (std::size_t i = 0; i < key.size(); ++i) EXPECT_TRUE(sameBytes(key[i], expected[i])) << frame << ", " << i;
      }
    }
  }
}

TEST(ReuseOfModels, GraphsThatTheConverterDoesNotWrite) {
  onnx::GraphProto graph;
  ModelInfo info;
  info.grid = {2, 2};
  EXPECT_MPM_ERROR(onnx_graph::reuseRows(graph, info), "the model has no op PatchEmbed");
  onnx::NodeProto& embed = *graph.add_node();
  const std::int64_t side = 8, stride = 4;
  onnx_graph::describeNode(embed, "PatchEmbed", {"image", "weight"}, {"tokens", "state"},
                           {{"height", side}, {"width", side}, {"stride_h", stride}, {"stride_w", stride}});
  embed.set_domain(onnx_graph::kOurDomain);
  *graph.add_node() = graph.node(0);
  EXPECT_MPM_ERROR(onnx_graph::reuseRows(graph, info), "cuts patches a second time");
  onnx_graph::requireUnmarked(graph);
  onnx_graph::addAttribute(*graph.mutable_node(0), {"reuse", side});
  EXPECT_MPM_ERROR(onnx_graph::requireUnmarked(graph), "which no file has: convert the original model again");
}

TEST(ReuseOfModels, OtherReductionsAreRefused) {
  for (const char* reduction : {"tome:count=3", "algm:blocks=0,1"})
    EXPECT_MPM_ERROR(Twins("segmenter_mask_ts17.onnx", reduction), "groups outlive frames with mpm and gradual only");
}

constexpr const char* kSegmenter = "/segmenter_mask_ts17.onnx";  // input 32x64, patch 8

EstimatorOptions reusing(const std::string& spec, const std::string& reduction = "none") {
  return {.reduce = parseReduction(reduction), .reuse = parseReuse(spec)};
}

cv::Mat scene(int seed, int height = 96, int width = 128) { return test::smoothPicture(height, width, seed); }

bool same(const cv::Mat& a, const cv::Mat& b) { return a.size() == b.size() && cv::countNonZero(a != b) == 0; }

TEST(ReuseOfFrames, AChangeIsWhereItWasMade) {
  Estimator estimator(kFiles + kSegmenter, reusing("threshold=12"));
  cv::Mat image = scene(1, 32, 64);
  estimator.estimate(image);
  image(cv::Rect(17, 9, 4, 4)) = cv::Scalar(255, 0, 255);  // patch (1, 2) of 4 x 8
  const Estimate result = estimator.estimate(image);
  EXPECT_EQ(result.reuse->patches, std::vector{1 * 8 + 2});
  EXPECT_DOUBLE_EQ(result.reuse->rows, 1.0 / 32);
}

TEST(ReuseOfFrames, AnotherSizeAndResetAreKeyFrames) {
  Estimator estimator(kFiles + kSegmenter, reusing("threshold=12"));
  Estimator full(kFiles + kSegmenter, reusing("off"));
  estimator.estimate(scene(1));
  const Estimate larger = estimator.estimate(scene(1, 120, 160)), again = estimator.estimate(scene(1, 120, 160)),
                 expected = full.estimate(scene(1, 120, 160));
  EXPECT_TRUE(larger.reuse->key_frame);
  EXPECT_FALSE(again.reuse->key_frame);
  EXPECT_EQ(again.reuse->rows, 0) << "a still scene is computed once";
  EXPECT_GT(again.reuse->kept_bytes, 0u);
  EXPECT_FALSE(expected.reuse);
  for (const Estimate* result : {&larger, &again}) {
    EXPECT_TRUE(same(result->labels, expected.labels));
    EXPECT_EQ(result->tokens, expected.tokens);
  }
  estimator.reset();
  EXPECT_TRUE(estimator.estimate(scene(1, 120, 160)).reuse->key_frame);
  EXPECT_FALSE(estimator.estimate(scene(1, 120, 160)).reuse->key_frame);
  EXPECT_MPM_ERROR(estimator.estimate(cv::Mat()), "the image is empty");
  EXPECT_TRUE(estimator.estimate(scene(1, 120, 160)).reuse->key_frame) << "after an error";
}

// Two cameras take turns on one net. Each gets what it would get from a net of its own.
TEST(ReuseOfFrames, CamerasOfOneNetDoNotMix) {
  for (const char* reduction : {"none", "mpm:blocks=0,1"}) {
    SCOPED_TRACE(reduction);
    const EstimatorOptions options = reusing("threshold=12", reduction);
    Estimator one(kFiles + kSegmenter, options), alone(kFiles + kSegmenter, options);
    Estimator two = one.another();
    cv::Mat image = scene(1, 32, 64);
    for (int frame = 0; frame < 4; ++frame) {
      image(cv::Rect(8 * frame, 9, 4, 4)) = cv::Scalar(255, 0, 255);
      const Estimate result = one.estimate(image, frame), expected = alone.estimate(image, frame);
      EXPECT_EQ(two.estimate(scene(2 + frame / 2), frame).reuse->rows, frame % 2 == 0 ? 1 : 0);
      EXPECT_EQ(result.reuse->patches, expected.reuse->patches);
      EXPECT_EQ(result.reuse->kept_bytes, expected.reuse->kept_bytes);
      EXPECT_EQ(result.cluster_of_token, expected.cluster_of_token) << frame;
      EXPECT_TRUE(same(result.labels, expected.labels)) << frame;
    }
    two.reset();
    EXPECT_FALSE(one.estimate(image, 4).reuse->key_frame) << "reset() is for one camera";
  }
}

TEST(ReuseOfFrames, AKeyFrameThatIsDueComparesAndIsExact) {
  for (const char* reduction : {"none", "mpm:blocks=1"}) {
    Estimator estimator(kFiles + kSegmenter, reusing("threshold=40:refresh=10", reduction));
    Estimator full(kFiles + kSegmenter, reusing("off", reduction));
    estimator.estimate(scene(1), 100);
    EXPECT_FALSE(estimator.estimate(scene(1), 109).reuse->agreement);
    cv::Mat image = scene(1);
    image(cv::Rect(0, 0, 64, 40)) *= 0.5;
    const Estimate due = estimator.estimate(image, 110);
    ASSERT_TRUE(due.reuse->agreement) << reduction;
    EXPECT_TRUE(due.reuse->key_frame);
    EXPECT_EQ(due.reuse->rows, 1);
    EXPECT_TRUE(due.reuse->patches.empty()) << "all patches of a key frame count, and none is listed";
    EXPECT_GE(*due.reuse->agreement, 0);
    EXPECT_LE(*due.reuse->agreement, 100);
    EXPECT_TRUE(same(due.labels, full.estimate(image).labels)) << reduction;
  }
}

TEST(ReuseOfFrames, DepthAndSegmentsReuseToo) {
  for (const auto& [file, task] : {std::pair{"/hf_depth_anything_dynamo18.onnx", Task::kDepth},
                                   {"/hf_eomt_ts17.onnx", Task::kPanoptic},
                                   {"/hf_eomt_ts17.onnx", Task::kInstance}}) {
    SCOPED_TRACE(file);
    EstimatorOptions options = reusing("threshold=12:refresh=5");
    options.task = task;
    options.min_score = options.min_overlap = 0;
    Estimator estimator(kFiles + file, options);
    const Estimate first = estimator.estimate(scene(3), 0), second = estimator.estimate(scene(3), 1),
                   due = estimator.estimate(scene(3), 6);
    EXPECT_EQ(second.reuse->rows, 0);
    ASSERT_TRUE(due.reuse->agreement);
    EXPECT_EQ(*due.reuse->agreement, 100);
    const cv::Mat &map = task == Task::kDepth ? first.depth : first.ids,
                  &repeated = task == Task::kDepth ? second.depth : second.ids;
    EXPECT_TRUE(same(map, repeated));
    EXPECT_NE(map.data, repeated.data) << "a result shares no memory";
  }
}

TEST(ReuseOfFrames, WhatDoesNotGoTogetherIsOneLine) {
  EstimatorOptions options = reusing("auto");
  options.fit = Fit::kWindow;
  EXPECT_MPM_ERROR(Estimator(kFiles + kSegmenter, options), "not by sliding windows");
  options = reusing("auto");
  options.reuse.flush = 2;
  EXPECT_MPM_ERROR(Estimator(kFiles + kSegmenter, options), "flush");
}

}  // namespace
}  // namespace mpm
