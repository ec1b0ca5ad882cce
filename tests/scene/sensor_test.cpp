// SPDX-License-Identifier: Apache-2.0
#include "scene/sensor.h"

#include <gtest/gtest.h>

namespace mpm::scene {
namespace {

cv::Mat grey(float lux, cv::Size size = {160, 120}) { return cv::Mat(size, CV_32FC3, cv::Scalar::all(lux)); }

cv::Mat exposed(const cv::Mat& light, double noise, float x = 0, float y = 0, int jpeg = 0) {
  return expose(light, {noise, jpeg, cv::Rect2f(x, y, 128, 96), 5});
}

double deviation(const cv::Mat& image) {
  cv::Scalar mean, deviation;
  cv::meanStdDev(image(cv::Rect(48, 32, 32, 32)), mean, deviation);  // the middle, where the vignette is flat
  return (deviation[0] + deviation[1] + deviation[2]) / 3;
}

TEST(Sensor, ExposureFollowsDaylightAndLeavesNightDark) {
  const double noon = cv::mean(exposed(grey(20000), 0))[1], shade = cv::mean(exposed(grey(2000), 0))[1];
  const double night = cv::mean(exposed(grey(0.02f), 0))[1];
  EXPECT_NEAR(noon, shade, 8);
  EXPECT_LT(night, noon / 3);
}

TEST(Sensor, NoiseGrowsWithDarknessAndItsOption) {
  const double day = deviation(exposed(grey(5000), 1)), dusk = deviation(exposed(grey(5), 1));
  EXPECT_GT(day, 0.5);
  EXPECT_GT(dusk, 2 * day);
  EXPECT_LT(deviation(exposed(grey(5000), 0)), 0.6);
  EXPECT_NEAR(deviation(exposed(grey(5000), 3)) / day, 3, 0.4);
}

TEST(Sensor, WhiteBalanceIsPartial) {
  cv::Mat lamp(cv::Size(160, 120), CV_32FC3, cv::Scalar(20, 10, 4));  // red, green, blue
  const cv::Scalar seen = cv::mean(exposed(lamp, 0));                 // blue, green, red
  EXPECT_GT(seen[2], seen[1]);
  EXPECT_GT(seen[1], seen[0]);
  EXPECT_LT(seen[2] / seen[0], std::pow(5.0, 1 / 2.2));
}

TEST(Sensor, WindowMovesByFractions) {
  cv::Mat ramp = grey(0);
  for (int y = 0; y < ramp.rows; ++y)
    for (int x = 0; x < ramp.cols; ++x) ramp.at<cv::Vec3f>(y, x) = cv::Vec3f::all(500 + 40 * static_cast<float>(x));
  const cv::Mat at0 = exposed(ramp, 0, 4), at1 = exposed(ramp, 0, 5), between = exposed(ramp, 0, 4.5f);
  const auto value = [](const cv::Mat& m) { return cv::mean(m(cv::Rect(60, 40, 8, 8)))[1]; };
  EXPECT_LE(value(at0), value(between) + 0.01);
  EXPECT_LE(value(between), value(at1) + 0.01);
}

TEST(Jpeg, LosesWhatItsQualitySays) {
  cv::Mat image(67, 93, CV_8UC3);  // not a multiple of eight
  cv::RNG random(3);
  random.fill(image, cv::RNG::NORMAL, 128, 30);
  const double fine = cv::norm(image, compressed(image, 95), cv::NORM_L1),
               coarse = cv::norm(image, compressed(image, 10), cv::NORM_L1);
  EXPECT_GT(coarse, 1.2 * fine);
  const cv::Mat flat(40, 40, CV_8UC3, cv::Scalar(90, 120, 150));
  EXPECT_LE(cv::norm(flat, compressed(flat, 90), cv::NORM_INF), 3);
  EXPECT_EQ(compressed(image, 50).size(), image.size());
}

}  // namespace
}  // namespace mpm::scene
