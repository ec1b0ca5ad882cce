// SPDX-License-Identifier: Apache-2.0
#include "mpm/estimator.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kEstimatorData = MPM_TEST_DATA_DIR;
const std::string kOfLabels = kEstimatorData + "/segmenter_linear_ts12.onnx";  // 3 blocks
const std::string kOfQueries = kEstimatorData + "/hf_eomt_ts17.onnx";          // 4 blocks, 4 classes
const std::string kOfDepth = kEstimatorData + "/hf_dpt_depth_ts17.onnx";       // 4 blocks
const std::string kOfScores = kEstimatorData + "/timm_vit_ts17.onnx";          // a classifier

cv::Mat noise() {
  cv::Mat image(45, 61, CV_8UC3);
  cv::RNG(3).fill(image, cv::RNG::UNIFORM, 0, 256);
  return image;
}

EstimatorOptions mergingOptions(std::optional<Task> task = {}) {
  EstimatorOptions options;
  options.read.convert.schedule = Schedule{1, 2};
  options.inspect = true;
  options.task = task;
  return options;
}

void expectSimilarities(const RunReport& report) {
  ASSERT_EQ(report.pair_similarity.size(), 2u);
  const std::vector<float>& last = report.pair_similarity.back();
  EXPECT_EQ(static_cast<int>(last.size()), report.grid.height * report.grid.width);
  EXPECT_TRUE(std::any_of(last.begin(), last.end(), [](float one) { return !std::isnan(one); }));
}

TEST(Estimator, IsTheOneOfTheTask) {
  EXPECT_TRUE(std::holds_alternative<Segmenter>(readEstimator(kOfLabels)));
  EXPECT_TRUE(std::holds_alternative<DepthEstimator>(readEstimator(kOfDepth)));
  EXPECT_TRUE(std::holds_alternative<Segmenter>(readEstimator(kOfQueries))) << "no JSON says otherwise";
  const mpm::test::TemporaryFolder folder;
  std::filesystem::copy_file(kOfQueries, folder / "m.onnx");
  std::ofstream(folder / "m.json") << R"({"task": "instance"})";
  Estimator estimator = readEstimator(folder / "m.onnx");
  ASSERT_TRUE(std::holds_alternative<PanopticSegmenter>(estimator));
  EXPECT_EQ(std::get<PanopticSegmenter>(estimator).task(), Task::kInstance);
  EXPECT_TRUE(std::holds_alternative<Segmenter>(readEstimator(folder / "m.onnx", mergingOptions(Task::kSemantic))));
  const Estimator tokens = readEstimator(kOfScores);
  ASSERT_TRUE(std::holds_alternative<Segmenter>(tokens));
  EXPECT_FALSE(std::get<Segmenter>(tokens).model().givesLabels());
}

TEST(Estimator, GivesWhatTheClassOfTheTaskGives) {
  const cv::Mat image = noise();
  const ReadOptions read = mergingOptions().read;
  Estimator depth = readEstimator(kOfDepth, mergingOptions());
  const DepthMap map = std::get<DepthEstimator>(depth).estimate(image);
  EXPECT_EQ(cv::norm(map.depth, DepthEstimator(kOfDepth, {.read = read}).estimate(image).depth, cv::NORM_INF), 0);
  expectSimilarities(map);

  EstimatorOptions options = mergingOptions(Task::kPanoptic);
  options.min_score = 0.2;
  options.min_overlap = 0.1;
  options.labels = true;
  Estimator segments = readEstimator(kOfQueries, options);
  const PanopticMap found = std::get<PanopticSegmenter>(segments).segment(image);
  PanopticSegmenter alone(kOfQueries, {.read = read, .task = Task::kPanoptic, .min_score = 0.2, .min_overlap = 0.1});
  const PanopticMap expected = alone.segment(image);
  EXPECT_EQ(cv::norm(found.ids, expected.ids, cv::NORM_INF), 0);
  ASSERT_GT(expected.segments.size(), 0u);
  EXPECT_EQ(found.segments.size(), expected.segments.size());
  EXPECT_TRUE(expected.labels.empty());
  Segmenter semantic(kOfQueries, {.read = read});
  EXPECT_EQ(cv::norm(found.labels, semantic.segment(image).labels, cv::NORM_INF), 0);
  expectSimilarities(found);
}

TEST(Estimator, RefusesWhatTheModelOrTheOptionsLack) {
  EXPECT_MPM_ERROR(readEstimator(kOfScores, mergingOptions(Task::kSemantic)),
                   "gives no labels (its head is 'classifier')");
  EXPECT_MPM_ERROR(readEstimator(kOfLabels, mergingOptions(Task::kDepth)), "does not estimate depth");
  EXPECT_MPM_ERROR(readEstimator(kOfLabels, mergingOptions(Task::kInstance)), "gives no segments");
  EstimatorOptions options;
  options.min_score = 2;
  EXPECT_MPM_ERROR(readEstimator(kOfQueries, options), "shares, 0 to 1");
}

}  // namespace
}  // namespace mpm
