// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "mpm/read_net.hpp"
#include "mpm/segmenter.hpp"

namespace mpm {
namespace {

const std::string kMask = std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx";
const std::string kClip = std::string(MPM_TEST_DATA_DIR) + "/hf_clip_ts17.onnx";  // a LayerNorm before its blocks

cv::Mat picture(Size2 size = {32, 64}) {
  cv::Mat small(7, 9, CV_8UC3), image;
  cv::RNG(3).fill(small, cv::RNG::UNIFORM, 0, 256);
  cv::resize(small, image, {size.width, size.height}, 0, 0, cv::INTER_CUBIC);
  return image;
}

SegmenterOptions options(Schedule schedule, bool inspect) {
  SegmenterOptions result;
  result.schedule = std::move(schedule);
  result.inspect = inspect;
  return result;
}

// Mutual nearest neighbours: the similarity of a pair is the largest that either of the two has with any token. The
// tokens come from a net that merges nowhere.
void expectSimilarityOfTheNearestNeighbour(const std::string& model, const Schedule& schedule,
                                           const std::string& last_layer_before) {
  SCOPED_TRACE(last_layer_before);
  Segmenter segmenter(model, options(schedule, true));
  const ModelInfo& info = segmenter.model();
  const cv::Mat image = picture(info.input);
  const Segmentation result = segmenter.segment(image);
  ASSERT_EQ(result.pair_similarity.size(), 2U);

  ReadOptions full;
  full.schedule = Schedule{};
  cv::dnn::Net net = readNet(model, full);
  net.setInput(cv::dnn::blobFromImage(image, 1 / 127.5, {}, cv::Scalar::all(127.5), true));
  cv::String before;
  for (const cv::String& layer : net.getLayerNames())
    if (layer.ends_with(last_layer_before)) before = layer;
  const cv::Mat tokens = net.forward(before);
  const auto cosine = [&](int i, int j) {
    const float* a = tokens.ptr<float>() + static_cast<std::ptrdiff_t>(info.special_tokens + i) * info.dim;
    const float* b = tokens.ptr<float>() + static_cast<std::ptrdiff_t>(info.special_tokens + j) * info.dim;
    double dot = 0, aa = 0, bb = 0;
    for (int c = 0; c < info.dim; ++c) {
      dot += static_cast<double>(a[c]) * b[c];
      aa += static_cast<double>(a[c]) * a[c];
      bb += static_cast<double>(b[c]) * b[c];
    }
    return dot / std::sqrt(aa * bb);
  };
  int paired = 0;
  for (int i = 0; i < info.tokens(); ++i) {
    const auto& map = result.cluster_of_token[0];
    const bool single = std::count(map.begin(), map.end(), map[i]) == 1;
    EXPECT_EQ(std::isnan(result.pair_similarity[0][i]), single) << i;
    if (single) continue;
    double nearest = -1;
    for (int j = 0; j < info.tokens(); ++j)
      if (j != i) nearest = std::max(nearest, cosine(i, j));
    EXPECT_NEAR(result.pair_similarity[0][i], nearest, 1e-5) << i;
    ++paired;
  }
  EXPECT_GE(paired, 2);
  for (int i = 0; i < info.tokens(); ++i)  // all patches of a cluster share the similarity of its last pair
    for (int j = 0; j < i; ++j)
      if (result.cluster_of_token[1][i] == result.cluster_of_token[1][j] && !std::isnan(result.pair_similarity[1][i])) {
        EXPECT_EQ(result.pair_similarity[1][i], result.pair_similarity[1][j]);
      }
}

TEST(Inspect, SimilarityIsThatOfTheNearestNeighbour) {
  expectSimilarityOfTheNearestNeighbour(kMask, {1, 2}, "backbone/block0");
  expectSimilarityOfTheNearestNeighbour(kMask, {0, 2}, "backbone/patch_embed");
  expectSimilarityOfTheNearestNeighbour(kClip, {0, 1}, "backbone/pre_norm");
}

TEST(Inspect, ChangesNoAnswerAndScoresAreShares) {
  const cv::Mat image = picture();
  const Segmentation plain = Segmenter(kMask, options({1}, false)).segment(image);
  Segmenter segmenter(kMask, options({1}, true));
  const Segmentation inspected = segmenter.segment(image);
  EXPECT_EQ(cv::countNonZero(plain.labels != inspected.labels), 0);
  EXPECT_EQ(plain.cluster_of_token, inspected.cluster_of_token);
  EXPECT_TRUE(plain.token_score.empty());
  EXPECT_TRUE(plain.pair_similarity.empty());
  ASSERT_EQ(static_cast<int>(inspected.token_score.size()), segmenter.model().tokens());
  for (const float score : inspected.token_score) {
    EXPECT_GE(score, 1.0F / static_cast<float>(segmenter.model().classes) - 1e-5F);  // the best of so many
    EXPECT_LE(score, 1.0F);
  }
}

}  // namespace
}  // namespace mpm
