// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/outlines.h"

#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>

namespace mpm::vision {
namespace {

// Blobs with holes, islands in holes, bridges of one pixel and single pixels, at all borders.
TEST(Outlines, FillsExactlyTheMask) {
  cv::RNG random(7);
  for (int i = 0; i < 40; ++i) {
    cv::Mat noise(3 + i % 11, 2 + i % 17, CV_8U), mask, filled;
    random.fill(noise, cv::RNG::UNIFORM, 0, 256);
    cv::resize(noise, noise, {}, i % 4 + 1, i % 3 + 1, cv::INTER_LINEAR);
    mask = noise > random.uniform(40, 200);
    filled = cv::Mat::zeros(mask.size(), CV_8U);
    for (const auto& polygon : outlines(mask))
      cv::fillPoly(filled, std::vector<std::vector<cv::Point>>{polygon}, cv::Scalar(255));
    ASSERT_EQ(cv::countNonZero(filled != mask), 0) << i << "\n" << mask;
  }
}

TEST(Outlines, ARegionWithoutAHoleIsOnePolygon) {
  cv::Mat mask = cv::Mat::zeros(30, 40, CV_8U);
  EXPECT_TRUE(outlines(mask).empty());
  cv::circle(mask, {20, 15}, 9, cv::Scalar(1), cv::FILLED);
  EXPECT_EQ(outlines(mask).size(), 1U);
  cv::circle(mask, {20, 15}, 3, cv::Scalar(0), cv::FILLED);
  EXPECT_EQ(outlines(mask).size(), 2U) << "a ring is cut once";
}

}  // namespace
}  // namespace mpm::vision
