// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "merging/reference_merge.h"
#include "mpm/estimator.hpp"
#include "mpm/read_net.hpp"
#include "net/inspect.h"
#include "support/pictures.h"
#include "support/plain_net.h"
#include "support/temporary_folder.h"

namespace mpm {
namespace {

const std::string kSegmenterModel = std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx";
const std::string kClip = std::string(MPM_TEST_DATA_DIR) + "/hf_clip_ts17.onnx";  // a LayerNorm before its blocks
const std::string kJoinedQueries =
    std::string(MPM_TEST_DATA_DIR) + "/hf_eomt_ts17.onnx";  // queries join between its blocks

EstimatorOptions options(Schedule schedule, bool inspect) {
  return {.reduce = mpmBefore(schedule), .inspect = inspect};
}

// A value of the net with that schedule for an image of its size.
cv::Mat valueOf(const std::string& model, const Schedule& schedule, const cv::Mat& image, const std::string& name) {
  return test::forwardPlain(readNet(model, {.reduce = mpmBefore(schedule), .outputs = {name}}).net, image, name);
}

TEST(Inspect, ProbabilitiesOfLogitsAreTheirSoftmax) {
  cv::Mat scores(std::vector<int>{2, 1, 3}, CV_32F);
  const std::vector<float> logits{0, 5, -200, std::log(3.0F), 5, 200};
  std::copy(logits.begin(), logits.end(), scores.ptr<float>());
  toProbabilities(scores, true, Serial());
  EXPECT_FLOAT_EQ(scores.at<float>(1, 0, 0), 0.75F);
  EXPECT_FLOAT_EQ(scores.at<float>(1, 0, 1), 0.5F);
  EXPECT_FLOAT_EQ(scores.at<float>(1, 0, 2), 1.0F);
}

TEST(Inspect, ScoresThatAreAllZeroAreEqualShares) {
  cv::Mat scores(std::vector<int>{4, 1, 2}, CV_32F, cv::Scalar(0));
  scores.at<float>(1, 0, 0) = 0.5F;
  toProbabilities(scores, false, Serial());
  for (int c = 0; c < 4; ++c) {
    EXPECT_FLOAT_EQ(scores.at<float>(c, 0, 0), c == 1 ? 1.0F : 0.0F);
    EXPECT_FLOAT_EQ(scores.at<float>(c, 0, 1), 0.25F);
  }
}

// Five patches in clusters {0, 3}, {1}, {2}, {4}; then 0 and 2 of these pair, and 1 and 3 stay.
TEST(Inspect, SimilarityOfASecondMergeIsThatOfItsRows) {
  const std::vector<float> rows{3, 4, 1, 0, 4, 3, 0, 1};
  const std::vector<float> similarity = pairSimilarity({rows.data(), 4, 2}, {0, 1, 2, 0, 3}, {0, 1, 0, 0, 2});
  ASSERT_EQ(similarity.size(), 5U);
  for (const int paired : {0, 2, 3}) EXPECT_FLOAT_EQ(similarity[paired], 24 / 25.F) << paired;
  for (const int alone : {1, 4}) EXPECT_TRUE(std::isnan(similarity[alone])) << alone;
}

// Mutual nearest neighbours: the similarity of a pair is the largest that either of the two has with any token. The
// tokens that go into an insertion come from a net without that insertion. Patches are the last rows of the first.
void expectSimilarityOfTheNearestNeighbour(const std::string& model, const Schedule& schedule,
                                           const std::string& first_layer_before) {
  SCOPED_TRACE(first_layer_before);
  Estimator segmenter(model, options(schedule, true));
  const ModelInfo& info = segmenter.model();
  const cv::Mat image = test::smoothPicture(info.input.height, info.input.width, 3);
  const Estimate result = segmenter.estimate(image);
  ASSERT_EQ(result.pair_similarity.size(), schedule.size());
  std::vector<int> before(info.tokens());
  std::iota(before.begin(), before.end(), 0);
  for (std::size_t k = 0; k < schedule.size(); ++k) {
    SCOPED_TRACE(k);
    const Schedule up_to_here(schedule.begin(), schedule.begin() + static_cast<std::ptrdiff_t>(k));
    const std::string layer = k == 0 ? first_layer_before : "backbone/block" + std::to_string(schedule[k] - 1);
    const cv::Mat tokens = valueOf(model, up_to_here, image, layer);
    const auto row = [&](int i) {
      const float* const values =
          tokens.ptr<float>(0, (k == 0 ? tokens.size[1] - info.tokens() : info.special_tokens) + i);
      return std::vector<double>(values, values + info.dim);
    };
    const std::vector<int>& after = result.cluster_of_token[k];
    int paired = 0;
    for (int i = 0; i < info.tokens(); ++i) {
      bool single = true;
      for (int j = 0; j < info.tokens(); ++j) single = single && (after[j] != after[i] || before[j] == before[i]);
      EXPECT_EQ(std::isnan(result.pair_similarity[k][i]), single) << i;
      if (single) continue;
      double nearest = -1;
      for (int j = 0; j < static_cast<int>(result.tokens[k]); ++j)
        if (j != before[i]) nearest = std::max(nearest, test::cosine(row(before[i]), row(j)));
      EXPECT_NEAR(result.pair_similarity[k][i], nearest, 1e-5) << i;
      ++paired;
    }
    EXPECT_GE(paired, 2);
    before = after;
  }
}

TEST(Inspect, SimilarityIsThatOfTheNearestNeighbour) {
  expectSimilarityOfTheNearestNeighbour(kSegmenterModel, {1, 2}, "backbone/block0");
  expectSimilarityOfTheNearestNeighbour(kSegmenterModel, {0, 2}, "backbone/patch_embed");
  expectSimilarityOfTheNearestNeighbour(kClip, {0, 1}, "backbone/pre_norm");
  expectSimilarityOfTheNearestNeighbour(kJoinedQueries, {3}, "backbone/block2");
}

TEST(Inspect, ChangesNoAnswerAndScoresAreShares) {
  const cv::Mat image = test::smoothPicture(32, 64, 3);
  const Estimate plain = Estimator(kSegmenterModel, options({1}, false)).estimate(image);
  Estimator segmenter(kSegmenterModel, options({1}, true));
  const Estimate inspected = segmenter.estimate(image);
  EXPECT_EQ(cv::countNonZero(plain.labels != inspected.labels), 0);
  EXPECT_EQ(plain.cluster_of_token, inspected.cluster_of_token);
  EXPECT_TRUE(plain.token_score.empty());
  EXPECT_TRUE(plain.pair_similarity.empty());
  ASSERT_EQ(static_cast<int>(inspected.token_score.size()), segmenter.model().tokens());
  const cv::Mat scores = valueOf(kSegmenterModel, {1}, image, "restore/scores");
  for (int i = 0; i < segmenter.model().tokens(); ++i) {
    const float* const row = scores.ptr<float>(0, i);
    const float best = *std::max_element(row, row + segmenter.model().classes);
    double sum = 0;
    for (int c = 0; c < segmenter.model().classes; ++c) sum += std::exp(static_cast<double>(row[c]) - best);
    EXPECT_NEAR(inspected.token_score[i], 1 / sum, 1e-4) << i;
  }
}

// Masks 16x16 and maps of classes 64x64, of a grid of 4x4 patches and one of 2x2: the probability at a patch is about
// that of the pixels in its middle.
TEST(Inspect, ScoresOfTokensAreThoseOfTheHeadsMapOfClasses) {
  const test::TemporaryFolder folder;
  const std::string map_of_classes = folder / "m.onnx";
  std::filesystem::copy_file(std::string(MPM_TEST_DATA_DIR) + "/hf_dpt_seg_dynamo18.onnx", map_of_classes);
  std::ofstream(folder / "m.json") << R"({"task": "semantic"})";
  for (const std::string& model : {std::string(MPM_TEST_DATA_DIR) + "/hf_eomt_ts17.onnx", map_of_classes}) {
    EstimatorOptions inspecting = options({1}, true);
    inspecting.scores = true;
    Estimator estimator(model, inspecting);
    const Size2 grid = estimator.model().grid, patch = estimator.model().patch;
    const cv::Mat image = test::smoothPicture(estimator.model().input.height, estimator.model().input.width, 3);
    const Estimate result = estimator.estimate(image);
    ASSERT_EQ(static_cast<int>(result.token_score.size()), grid.height * grid.width) << model;
    for (int i = 0; i < grid.height * grid.width; ++i) {
      const int y = i / grid.width * patch.height + patch.height / 2,
                x = i % grid.width * patch.width + patch.width / 2;
      float best = 0;
      for (int c = 0; c < estimator.model().classes; ++c) {
        float around = 0;
        for (const auto& [dy, dx] : {std::pair(-1, -1), {-1, 0}, {0, -1}, {0, 0}})
          around += result.scores.at<float>(c, y + dy, x + dx) / 4;
        best = std::max(best, around);
      }
      EXPECT_NEAR(result.token_score[i], best, 0.02) << model << ", token " << i;
    }
  }
}

}  // namespace
}  // namespace mpm
