// SPDX-License-Identifier: Apache-2.0
#include "train/street_batches.h"

#include <gtest/gtest.h>

#include "scene/street.h"

namespace mpm::train {
namespace {

constexpr Size2 kSize = {64, 96};

StreetOptions options() { return {.size = kSize, .batch = 3, .per_street = 2, .scale_max = 1}; }

std::vector<Batch> batches(const StreetOptions& options, int count) {
  StreetBatches source(options);
  std::vector<Batch> all;
  for (int i = 0; i < count; ++i) all.push_back(source.next());
  return all;
}

cv::Mat imageOf(const Batch& batch, int i) {
  return {kSize.height, kSize.width, CV_8UC3, const_cast<uchar*>(batch.images.ptr(i))};
}
cv::Mat labelsOf(const Batch& batch, int i) {
  return {kSize.height, kSize.width, CV_8U, const_cast<uchar*>(batch.labels.ptr(i))};
}
bool same(const cv::Mat& a, const cv::Mat& b) { return cv::norm(a, b, cv::NORM_INF) == 0; }
bool same(const Batch& a, const Batch& b) {
  for (int i = 0; i < a.images.size[0]; ++i)
    if (!same(imageOf(a, i), imageOf(b, i)) || !same(labelsOf(a, i), labelsOf(b, i))) return false;
  return true;
}

TEST(StreetBatches, DependOnTheSeedAndNotOnTheThreads) {
  StreetOptions two = options(), other = options();
  two.workers = 2;
  other.seed = 2;
  const auto one = batches(options(), 3), again = batches(two, 3);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same(one[i], again[i])) << i;
  EXPECT_FALSE(same(one[0], batches(other, 1)[0]));
  double largest = 0;
  for (int a = 0; a < 9; ++a) {
    cv::minMaxLoc(labelsOf(one[a / 3], a % 3), nullptr, &largest);
    EXPECT_LT(largest, scene::kClasses) << a;
    for (int b = 0; b < a; ++b)
      EXPECT_FALSE(same(imageOf(one[a / 3], a % 3), imageOf(one[b / 3], b % 3))) << a << " " << b;
  }
}

// The shape of a street does not move: what the labels of one slot share without mirror images, streets do not.
TEST(StreetBatches, AnotherStreetComesWhenOneIsUsedUp) {
  StreetOptions wide = options();
  wide.batch = 1;
  wide.per_street = 4;
  const auto all = batches(wide, 8);
  const auto likeness = [&](std::size_t a, std::size_t b) {
    cv::Mat mirrored;
    cv::flip(labelsOf(all[b], 0), mirrored, 1);
    return std::max(cv::countNonZero(labelsOf(all[a], 0) == labelsOf(all[b], 0)),
                    cv::countNonZero(labelsOf(all[a], 0) == mirrored));
  };
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_GT(likeness(0, i), likeness(0, 4)) << i;
    EXPECT_GT(likeness(4, 4 + i), likeness(0, 4)) << i;
  }
}

TEST(StreetBatches, OnlyAShareOfTheStreetsIsVaried) {
  StreetOptions some = options(), all = options();
  some.batch = all.batch = 6;
  some.varied = 0.5;
  all.varied = 1;
  StreetOptions usual = some;
  usual.varied = 0;
  const Batch truth = batches(usual, 1)[0], half = batches(some, 1)[0], whole = batches(all, 1)[0];
  int unchanged = 0;
  for (int i = 0; i < 6; ++i) {
    EXPECT_FALSE(same(imageOf(truth, i), imageOf(whole, i))) << i;
    unchanged += same(imageOf(truth, i), imageOf(half, i));
  }
  EXPECT_TRUE(unchanged > 0 && unchanged < 6) << unchanged;
}

// Two windows of one rendering hold the same labels where they overlap, at one displacement.
TEST(StreetBatches, CutSeveralWindowsOutOfOneView) {
  StreetOptions twice = options();
  twice.batch = 1;
  twice.per_street = 4;
  twice.per_view = 2;
  twice.scale_min = twice.scale_max = 1.2;
  const auto all = batches(twice, 4);
  const auto overlap = [&](std::size_t one, std::size_t other) {
    const cv::Rect whole(0, 0, kSize.width, kSize.height);
    for (const bool mirror : {false, true}) {
      for (int dy = -13; dy <= 13; ++dy) {
        for (int dx = -20; dx <= 20; ++dx) {
          const cv::Rect inside = whole & (whole + cv::Point(dx, dy));
          cv::Mat a = labelsOf(all[one], 0), b;
          if (mirror)
            cv::flip(labelsOf(all[other], 0), b, 1);
          else
            b = labelsOf(all[other], 0);
          if (same(a(inside), b(inside - cv::Point(dx, dy)))) return true;
        }
      }
    }
    return false;
  };
  EXPECT_TRUE(overlap(0, 1));
  EXPECT_TRUE(overlap(2, 3));
  EXPECT_FALSE(overlap(1, 2));
}

// Labels that follow from the image: what moves pixels must move both alike. Colours change within their limits.
TEST(Augment, MirrorsImageAndLabelsAlike) {
  int mirrored = 0;
  double darkest = 255, brightest = 0;
  for (int i = 0; i < 100; ++i) {
    cv::Mat image(16, 24, CV_8UC3), labels(16, 24, CV_8U);
    for (int x = 0; x < 24; ++x) {
      image.col(x).setTo(cv::Scalar::all(x < 8 ? 60 : 160));
      labels.col(x).setTo(x < 8 ? 1 : 2);
    }
    Random random(5, static_cast<std::uint64_t>(i));
    augment(image, labels, random);
    const bool flipped = labels.at<uchar>(0, 0) == 2;
    mirrored += flipped;
    EXPECT_EQ(cv::countNonZero(labels == 1), 16 * 8);
    EXPECT_EQ(labels.at<uchar>(7, flipped ? 16 : 7), 1);
    const double dark = cv::mean(image.colRange(flipped ? 16 : 0, flipped ? 24 : 8))[1];
    const double light = cv::mean(image.colRange(flipped ? 0 : 8, flipped ? 16 : 24))[1];
    EXPECT_LT(dark, light) << i;
    darkest = std::min(darkest, light);
    brightest = std::max(brightest, light);
  }
  EXPECT_TRUE(mirrored > 30 && mirrored < 70) << mirrored;
  EXPECT_LT(darkest, 80) << "a tenth is underexposed";
  EXPECT_GT(brightest, 190);
}

}  // namespace
}  // namespace mpm::train
