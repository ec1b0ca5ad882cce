// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/simulated_night.h"

#include <gtest/gtest.h>

#include "mpm/error.hpp"
#include "vision/draws.h"

namespace mpm::vision {
namespace {

struct Statistics {
  double mean = 0, variance = 0;
};
template <class Draw>
Statistics measure(int count, Draw&& draw) {
  double sum = 0, square = 0;
  for (int i = 0; i < count; ++i) {
    const double v = draw(i);
    sum += v;
    square += v * v;
  }
  return {sum / count, square / count - sum / count * sum / count};
}

TEST(Poisson, MeanAndVarianceAreTheParameter) {
  constexpr int kCount = 400000;
  for (const float mean : {0.0f, 0.05f, 0.7f, 3.0f, 8.0f, 11.9f, 12.1f, 40.0f, 900.0f}) {
    const auto [found, variance] = measure(
        kCount, [&](int i) { return poisson(mean, static_cast<std::uint32_t>(hash(5, i) >> 32), normalQuantiles()); });
    EXPECT_NEAR(found, mean, 5 * std::sqrt(mean / kCount) + 1e-9) << mean;
    // The variance of a sample variance of a Poisson variable is about (mean + 2 mean^2) / count; 1/12 comes from
    // rounding.
    EXPECT_NEAR(variance, mean, 5 * std::sqrt((mean + 2 * mean * mean) / kCount) + (mean >= 12 ? 0.1 : 1e-9)) << mean;
  }
}

TEST(Poisson, CountsAreDistributedAsTheyShould) {
  constexpr int kCount = 200000;
  constexpr double kMean = 2.5;
  std::array<int, 8> found{};
  for (int i = 0; i < kCount; ++i) {
    const auto k = static_cast<std::size_t>(poisson(kMean, static_cast<std::uint32_t>(hash(9, i)), normalQuantiles()));
    if (k < found.size()) ++found[k];
  }
  double expected = kCount * std::exp(-kMean);
  for (std::size_t k = 0; k < found.size(); expected *= kMean / static_cast<double>(++k))
    EXPECT_NEAR(found[k], expected, 5 * std::sqrt(expected)) << k;
}

TEST(Night, MeanAndVarianceAreThoseOfTheModel) {
  NightOptions options;
  for (const double gain : {0.25, 0.6})
    for (const double electrons : {150.0, 1500.0})
      for (const int value : {60, 128, 255}) {
        options.gain = gain;
        options.electrons = electrons;
        const cv::Mat night = simulateNight(cv::Mat(400, 500, CV_8UC3, cv::Scalar::all(value)), options, 3);
        const auto [mean, variance] = measure(600000, [&](int i) { return night.data[i]; });
        const double share = gain * value / 255;
        const double model =
            255 * 255 * (share / electrons + options.thermal * options.thermal) + 1.0 / 12;  // rounding to 8 bits
        EXPECT_NEAR(mean, gain * value, 0.1) << gain << ' ' << electrons << ' ' << value;
        EXPECT_NEAR(variance, model, 0.03 * model) << gain << ' ' << electrons << ' ' << value;
      }
}

TEST(Night, WithoutNoiseItOnlyDims) {
  cv::Mat ramp(1, 256, CV_8U);
  for (int i = 0; i < 256; ++i) ramp.data[i] = static_cast<std::uint8_t>(i);
  NightOptions options{.electrons = 1e7, .thermal = 0};
  const cv::Mat night = simulateNight(ramp, options);
  for (int i = 0; i < 256; ++i) EXPECT_NEAR(night.data[i], 0.25 * i, 0.6) << i;
}

TEST(Night, IsDecidedByTheSeed) {
  const cv::Mat image(33, 47, CV_8UC3, cv::Scalar(10, 100, 200));
  const cv::Mat once = simulateNight(image, {}, 8), again = simulateNight(image, {}, 8),
                other = simulateNight(image, {}, 9);
  EXPECT_EQ(cv::norm(once, again, cv::NORM_INF), 0);
  EXPECT_GT(cv::norm(once, other, cv::NORM_INF), 0);
  // Rows, columns and channels have noise of their own.
  EXPECT_GT(cv::norm(once.row(0), once.row(1), cv::NORM_INF), 0);
  EXPECT_GT(cv::norm(once.col(0), once.col(1), cv::NORM_INF), 0);
}

TEST(Night, TakesPartsOfImages) {
  const cv::Mat large(40, 60, CV_8UC3, cv::Scalar::all(90));
  const cv::Mat part = large(cv::Rect(5, 6, 20, 10));
  EXPECT_EQ(cv::norm(simulateNight(part), simulateNight(part.clone()), cv::NORM_INF), 0);
}

TEST(Night, RefusesWhatItCannotDo) {
  const cv::Mat image(4, 4, CV_8UC3, cv::Scalar::all(1));
  EXPECT_THROW(simulateNight(image, {.gain = 0}), Error);
  EXPECT_THROW(simulateNight(image, {.gain = 1.01}), Error);
  EXPECT_THROW(simulateNight(image, {.electrons = 0}), Error);
  EXPECT_THROW(simulateNight(image, {.thermal = -1}), Error);
  EXPECT_THROW(simulateNight(cv::Mat(4, 4, CV_32F, cv::Scalar(0))), Error);
}

}  // namespace
}  // namespace mpm::vision
