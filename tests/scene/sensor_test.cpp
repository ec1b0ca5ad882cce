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

TEST(Sensor, JpegLosesWhatItsQualitySays) {
  cv::Mat light = grey(0);
  cv::RNG random(3);
  random.fill(light, cv::RNG::NORMAL, 5000, 1500);
  const cv::Mat exact = exposed(light, 0);
  const auto lost = [&](int quality) { return cv::norm(exact, exposed(light, 0, 0, 0, quality), cv::NORM_L1); };
  EXPECT_GT(lost(10), 1.2 * lost(95));
  EXPECT_LE(cv::norm(exposed(grey(5000), 0), exposed(grey(5000), 0, 0, 0, 90), cv::NORM_INF), 3);
}

}  // namespace
}  // namespace mpm::scene
