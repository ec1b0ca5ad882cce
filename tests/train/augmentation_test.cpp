// SPDX-License-Identifier: Apache-2.0
#include "train/augmentation.h"

#include <gmock/gmock.h>

#include <opencv2/core.hpp>

#include "mpm/error.hpp"
#include "train/samples.h"
#include "train/shapes.h"

namespace mpm::train {
namespace {

// Labels that follow from the image: whatever moves pixels must move both alike.
TrainingSample columns(int height, int width) {
  TrainingSample sample{cv::Mat(height, width, CV_8UC3), cv::Mat(height, width, CV_8U)};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      sample.labels.at<std::uint8_t>(y, x) = static_cast<std::uint8_t>((x + 3 * y) % 200);
      sample.image.at<cv::Vec3b>(y, x) = cv::Vec3b::all(sample.labels.at<std::uint8_t>(y, x));
    }
  return sample;
}

void expectAligned(const TrainingSample& sample, int ignore) {
  int counted = 0;
  for (int y = 0; y < sample.labels.rows; ++y)
    for (int x = 0; x < sample.labels.cols; ++x) {
      const int label = sample.labels.at<std::uint8_t>(y, x);
      if (label == ignore) continue;
      ASSERT_EQ(sample.image.at<cv::Vec3b>(y, x)[1], label) << "at " << x << ", " << y;
      ++counted;
    }
  EXPECT_GT(counted, 0);
}

double meanOf(const cv::Mat& mat) { return cv::mean(mat.reshape(1))[0]; }

TEST(RandomWindow, CutsImageAndLabelsAlike) {
  for (int i = 0; i < 20; ++i) {
    Random random(1, static_cast<std::uint64_t>(i));
    const TrainingSample cut = randomWindow(columns(60, 90), {32, 32}, 60. / 32, 255, random);
    EXPECT_EQ(cut.image.size(), cv::Size(32, 32));
    expectAligned(cut, 255);
    EXPECT_EQ(cv::countNonZero(cut.labels == 255), 0);
  }
}

TEST(RandomWindow, FillsWhatTheImageDoesNotReachWithIgnore) {
  Random random(3, 0);
  const TrainingSample cut = randomWindow(columns(32, 32), {64, 64}, 0.5, 254, random);
  expectAligned(cut, 254);
  EXPECT_EQ(cv::countNonZero(cut.labels != 254), 32 * 32);
}

TEST(RandomWindow, ScaleOneCoversTheWindow) {
  Random random(3, 1);
  const TrainingSample cut = randomWindow(columns(50, 100), {64, 32}, 1, 255, random);
  EXPECT_EQ(cut.labels.size(), cv::Size(32, 64));
  EXPECT_EQ(cv::countNonZero(cut.labels == 255), 0);
}

TEST(Augment, DoesNothingWithoutAnyStrength) {
  const TrainingSample before = columns(16, 24);
  TrainingSample after{before.image.clone(), before.labels.clone()};
  Random random(1, 1);
  augment(after, test::noAugmentation(), random);
  EXPECT_EQ(cv::norm(before.image, after.image, cv::NORM_INF), 0);
  EXPECT_EQ(cv::norm(before.labels, after.labels, cv::NORM_INF), 0);
}

TEST(Augment, MirrorsLabelsWithTheImage) {
  AugmentationOptions options = test::noAugmentation();
  options.flip = 1;
  TrainingSample sample = columns(16, 24);
  const int corner = sample.labels.at<std::uint8_t>(0, 23);
  Random random(1, 1);
  augment(sample, options, random);
  EXPECT_EQ(sample.labels.at<std::uint8_t>(0, 0), corner);
  expectAligned(sample, 255);
}

TEST(Augment, ChangesColoursWithinItsLimitsAndNeverLabels) {
  AugmentationOptions options = test::noAugmentation();
  options.brightness = 0.5;
  const double lowest = 100 * std::exp2(-0.5) - 1, highest = 100 * std::exp2(0.5) + 1;
  double smallest = 255, largest = 0;
  for (int i = 0; i < 100; ++i) {
    TrainingSample sample{cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(100)), cv::Mat::ones(8, 8, CV_8U)};
    Random random(5, static_cast<std::uint64_t>(i));
    augment(sample, options, random);
    smallest = std::min(smallest, meanOf(sample.image));
    largest = std::max(largest, meanOf(sample.image));
    EXPECT_EQ(cv::countNonZero(sample.labels != 1), 0);
  }
  EXPECT_GE(smallest, lowest);
  EXPECT_LE(largest, highest);
  EXPECT_LT(smallest, 80);
  EXPECT_GT(largest, 125);
}

TEST(Augment, SaturationKeepsGreyGrey) {
  AugmentationOptions options = test::noAugmentation();
  options.saturation = 0.9;
  TrainingSample sample{cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(77)), cv::Mat::zeros(8, 8, CV_8U)};
  Random random(5, 9);
  augment(sample, options, random);
  EXPECT_LE(cv::norm(sample.image, cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(77)), cv::NORM_INF), 1);
}

TEST(Augment, NoiseKeepsTheMean) {
  AugmentationOptions options = test::noAugmentation();
  options.noise = 1;
  TrainingSample sample{cv::Mat(200, 200, CV_8UC3, cv::Scalar::all(128)), cv::Mat::zeros(200, 200, CV_8U)};
  Random random(2, 2);
  augment(sample, options, random);
  cv::Scalar mean, deviation;
  cv::meanStdDev(sample.image, mean, deviation);
  EXPECT_NEAR(mean[0], 128, 1);
  EXPECT_GT(deviation[0], 2);
}

TEST(Augment, SameRandomSameImage) {
  for (int i = 0; i < 5; ++i) {
    TrainingSample one = test::shapes(i, {32, 48}), two = test::shapes(i, {32, 48});
    Random a(8, static_cast<std::uint64_t>(i)), b(8, static_cast<std::uint64_t>(i));
    augment(one, {}, a);
    augment(two, {}, b);
    EXPECT_EQ(cv::norm(one.image, two.image, cv::NORM_INF), 0);
  }
}

TEST(AugmentationOptions, RefusesWhatMakesNoSense) {
  AugmentationOptions options;
  EXPECT_NO_THROW(options.validate());
  options.scale_min = 2;
  EXPECT_THROW(options.validate(), Error);
  options = {};
  options.flip = 1.5;
  EXPECT_THROW(options.validate(), Error);
}

TEST(Random, IsUniformAndNormal) {
  Random random(11, 0);
  double sum = 0, squares = 0, normals = 0, normal_squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform(), z = random.normal();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
    normals += z;
    normal_squares += z * z;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(squares / kDraws, 1. / 3, 0.005);
  EXPECT_NEAR(normals / kDraws, 0, 0.015);
  EXPECT_NEAR(normal_squares / kDraws, 1, 0.02);
}

TEST(Random, NeighbouringStreamsDiffer) {
  EXPECT_NE(Random(1, 0).bits(), Random(1, 1).bits());
  EXPECT_NE(Random(0, 1).bits(), Random(1, 0).bits());
  EXPECT_EQ(Random(1, 1).bits(), Random(1, 1).bits());
}

}  // namespace
}  // namespace mpm::train
