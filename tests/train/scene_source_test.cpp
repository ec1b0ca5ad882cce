// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "train/samples.h"

namespace mpm::train {
namespace {

constexpr Size2 kSceneSize = {96, 144};

std::unique_ptr<SampleSource> open(std::uint64_t seed, double varied = 0) {
  SceneOptions scene;
  scene.varied = varied;
  scene.samples_per_street = 3;
  scene.held_out_streets = 2;
  scene.held_out_per_street = 4;
  return openScenes(scene, {}, seed, 255);
}

bool same(const TrainingSample& a, const TrainingSample& b) {
  return cv::norm(a.image, b.image, cv::NORM_INF) == 0 && cv::norm(a.labels, b.labels, cv::NORM_INF) == 0;
}

TEST(SceneSource, AChunkIsAFunctionOfSeedAndNumber) {
  const auto one = open(1), again = open(1), other = open(2);
  const auto chunk = one->trainingChunk(5, kSceneSize);
  ASSERT_EQ(chunk.size(), 3u);
  for (const TrainingSample& sample : chunk) {
    EXPECT_EQ(sample.image.size(), cv::Size(kSceneSize.width, kSceneSize.height));
    EXPECT_EQ(sample.labels.size(), sample.image.size());
  }
  one->trainingChunk(6, kSceneSize);
  const auto repeated = again->trainingChunk(5, kSceneSize);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(same(chunk[i], repeated[i])) << i;
  EXPECT_FALSE(same(chunk[0], other->trainingChunk(5, kSceneSize)[0]));
  EXPECT_FALSE(same(chunk[0], one->trainingChunk(6, kSceneSize)[0]));
  EXPECT_FALSE(same(chunk[0], chunk[1]));
}

TEST(SceneSource, HoldsOutDaysAndNightsWhateverTheSeed) {
  const auto one = open(1), other = open(2);
  ASSERT_EQ(one->heldOutCount(), 8);
  EXPECT_TRUE(one->knowsNight());
  int nights = 0;
  for (int i = 0; i < 8; ++i) {
    const TrainingSample sample = one->heldOut(i, kSceneSize);
    nights += sample.night;
    EXPECT_TRUE(same(sample, other->heldOut(i, kSceneSize)));
    double largest = 0;
    cv::minMaxLoc(sample.labels, nullptr, &largest);
    EXPECT_LT(largest, static_cast<double>(one->classes().size()));
  }
  EXPECT_GT(nights, 0);
  EXPECT_LT(nights, 8);
}

TEST(SceneSource, AShareOfTheTrainingStreetsIsVaried) {
  const auto usual = open(1), some = open(1, 0.5), all = open(1, 1);
  int unchanged = 0;
  for (std::uint64_t chunk = 0; chunk < 8; ++chunk) {
    const TrainingSample truth = usual->trainingChunk(chunk, kSceneSize)[0];
    EXPECT_FALSE(same(truth, all->trainingChunk(chunk, kSceneSize)[0])) << chunk;
    unchanged += same(truth, some->trainingChunk(chunk, kSceneSize)[0]);
  }
  EXPECT_TRUE(unchanged > 0 && unchanged < 8) << unchanged;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(same(usual->heldOut(i, kSceneSize), all->heldOut(i, kSceneSize))) << i;
}

TEST(SceneSource, CutsSeveralWindowsOutOfOneView) {
  AugmentationOptions no_change{2, 2, 0, 0, 0, 0, 0, 0, 0};
  SceneOptions scene;
  scene.samples_per_street = 4;
  scene.windows_per_view = 2;
  const auto chunk = openScenes(scene, no_change, 1, 255)->trainingChunk(0, kSceneSize);
  ASSERT_EQ(chunk.size(), 4u);
  EXPECT_FALSE(same(chunk[0], chunk[1]));
  // The same rendering holds both windows: where they overlap they are equal, byte by byte, at one displacement.
  const auto overlap = [&](const TrainingSample& a, const TrainingSample& b) {
    for (int dy = -kSceneSize.height + 16; dy < kSceneSize.height - 16; ++dy)
      for (int dx = -kSceneSize.width + 16; dx < kSceneSize.width - 16; ++dx) {
        const cv::Rect whole(0, 0, kSceneSize.width, kSceneSize.height);
        const cv::Rect in_a = whole & (whole + cv::Point(dx, dy));
        const cv::Mat first = a.labels(in_a), second = b.labels(in_a - cv::Point(dx, dy));
        if (first.at<std::uint8_t>(0, 0) == second.at<std::uint8_t>(0, 0) &&
            cv::norm(first, second, cv::NORM_INF) == 0 &&
            cv::norm(a.image(in_a), b.image(in_a - cv::Point(dx, dy)), cv::NORM_INF) == 0)
          return true;
      }
    return false;
  };
  EXPECT_TRUE(overlap(chunk[0], chunk[1]));
  EXPECT_FALSE(overlap(chunk[1], chunk[2]));
}

}  // namespace
}  // namespace mpm::train
