// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/depth_pictures.h"

#include <gtest/gtest.h>

namespace mpm::vision {
namespace {

const cv::Mat kDepths = cv::Mat(std::vector<float>{1, 4, 2.5f, 9, 3, 300}).reshape(1, 2).clone();

TEST(DepthRange, IsTheLeastTheMedianAndTheLargest) {
  const DepthRange range = depthRange(cv::Mat(kDepths, cv::Rect(0, 0, 3, 1)));
  EXPECT_EQ(range.min, 1);
  EXPECT_EQ(range.median, 2.5);
  EXPECT_EQ(range.max, 4);
}

TEST(DepthRange, DifferencesAreSharesOfIt) {
  const cv::Mat depth = kDepths(cv::Rect(0, 0, 3, 1));  // 1 to 4
  EXPECT_NEAR(depthDifference(depth, depthRange(depth), depth + 0.6), 0.2, 1e-6);
  EXPECT_EQ(depthDifference(depth, {1, 1, 1}, depth + 0.6), 0) << "one depth everywhere";
}

TEST(DepthImage, OfMetresHasAFixedStep) {
  const DepthImage image = depthImage(kDepths, DepthUnit::kMetre);
  ASSERT_EQ(image.pixels.type(), CV_16U);
  EXPECT_EQ(image.offset, 0);
  EXPECT_EQ(image.step, 1.0 / 256);
  EXPECT_EQ(image.pixels.at<std::uint16_t>(0, 2), 640);
  EXPECT_EQ(image.pixels.at<std::uint16_t>(1, 2), 65535) << "farther than 255.996 m";
}

TEST(DepthImage, WithoutAUnitUsesAllOfItsValues) {
  for (const DepthUnit unit : {DepthUnit::kRelative, DepthUnit::kInverse}) {
    const DepthImage image = depthImage(kDepths, unit);
    EXPECT_EQ(image.pixels.at<std::uint16_t>(0, 0), 0);
    EXPECT_EQ(image.pixels.at<std::uint16_t>(1, 2), 65535);
    for (int i = 0; i < 6; ++i)
      EXPECT_NEAR(image.offset + image.step * image.pixels.at<std::uint16_t>(i / 3, i % 3),
                  kDepths.at<float>(i / 3, i % 3), image.step / 2 * 1.01);
  }
  const DepthImage flat = depthImage(cv::Mat(2, 2, CV_32F, cv::Scalar(7)), DepthUnit::kRelative);
  EXPECT_EQ(flat.offset + flat.step * flat.pixels.at<std::uint16_t>(0, 0), 7);
}

TEST(DepthPicture, RunsFromTheFirstColourToTheLast) {
  const cv::Mat picture = depthPicture(kDepths, {1, 0, 9});
  ASSERT_EQ(picture.type(), CV_8UC3);
  EXPECT_EQ(picture.at<cv::Vec3b>(0, 0), depthColors()[0]);
  EXPECT_EQ(picture.at<cv::Vec3b>(1, 0), depthColors()[255]);
  EXPECT_EQ(picture.at<cv::Vec3b>(1, 2), depthColors()[255]) << "beyond the range";
  EXPECT_NE(depthColors()[0], depthColors()[255]);
  EXPECT_EQ(depthPicture(kDepths, {1, 1, 1}).size(), kDepths.size()) << "one depth everywhere";
}

}  // namespace
}  // namespace mpm::vision
