// SPDX-License-Identifier: Apache-2.0
// Where the sun stands, and pictures as a camera takes them by night.
#include <gtest/gtest.h>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "mpm/error.hpp"
#include "vision/astronomy.h"
#include "vision/draws.h"
#include "vision/pictures/pictures.h"

namespace mpm::vision {
namespace {

// "2024-06-20T12:01" or with seconds, UTC.
double at(const char* time) {
  std::tm parts{};
  const char* const end = ::strptime(time, "%Y-%m-%dT%H:%M", &parts);
  if (end && *end == ':') parts.tm_sec = std::atoi(end + 1);
  return static_cast<double>(::timegm(&parts));
}

// Unix time at which the sun's upper edge, lifted by refraction, crosses the horizon, as almanacs count it.
double crossing(double from, double to, double latitude, double longitude) {
  const auto above = [&](double t) { return sunPosition(t, latitude, longitude).elevation > -0.833; };
  EXPECT_NE(above(from), above(to));
  while (to - from > 1) {
    const double middle = (from + to) / 2;
    (above(middle) == above(from) ? from : to) = middle;
  }
  return from;
}

TEST(Sun, AirLiftsItByHalfADegreeAtTheHorizon) {
  EXPECT_NEAR(apparentElevation(0), 0.47, 0.01);
  EXPECT_NEAR(apparentElevation(10), 10.0865, 0.002);  // Bennett: 5.19 minutes
  EXPECT_NEAR(apparentElevation(45), 45.0158, 0.0005);
  EXPECT_EQ(apparentElevation(-6), -6);
  for (double before = apparentElevation(-1), e = -0.99; e < 90; e += 0.01) {
    EXPECT_GT(apparentElevation(e), before) << e;
    before = apparentElevation(e);
  }
}

TEST(Sun, RisesAndSetsInLondonWhenTheAlmanacSays) {
  constexpr double kLatitude = 51.5074, kLongitude = -0.1278, kMinute = 60;
  const auto expect = [&](const char* from, const char* to, const char* printed) {
    EXPECT_NEAR(crossing(at(from), at(to), kLatitude, kLongitude), at(printed), 1.3 * kMinute) << printed;
  };
  expect("2024-06-21T00:00", "2024-06-21T12:00", "2024-06-21T03:43");
  expect("2024-06-21T12:00", "2024-06-21T23:59", "2024-06-21T20:21");
  expect("2024-12-21T00:00", "2024-12-21T12:00", "2024-12-21T08:04");
  expect("2024-12-21T12:00", "2024-12-21T23:59", "2024-12-21T15:53");
}

TEST(Sun, AzimuthRunsFromEastOverSouthToWest) {
  EXPECT_NEAR(sunPosition(at("2024-03-20T06:07"), 48, 0).azimuth, 90, 0.5);
  EXPECT_NEAR(sunPosition(at("2024-03-20T12:07:30"), 48, 0).azimuth, 180, 0.3);
  EXPECT_NEAR(sunPosition(at("2024-03-20T18:07"), 48, 0).azimuth, 270, 0.5);
  EXPECT_NEAR(std::cos(sunPosition(at("2024-12-21T11:58"), -48, 0).azimuth * M_PI / 180), 1,
              0.01);  // north, down south
}

TEST(Moon, PhasesOfTheAlmanac) {
  EXPECT_GT(moonPosition(at("2024-01-25T17:54"), 0, 0).illuminated, 0.995);
  EXPECT_LT(moonPosition(at("2024-04-08T18:21"), 0, 0).illuminated, 0.002);
  EXPECT_NEAR(moonPosition(at("2024-04-15T19:13"), 0, 0).illuminated, 0.5, 0.01);
}

TEST(Moon, CoversTheSunOverDallasInApril2024) {
  constexpr double kLatitude = 32.78, kLongitude = -96.80;
  const SkyPosition sun = sunPosition(at("2024-04-08T18:42"), kLatitude, kLongitude);
  const SkyPosition moon = moonPosition(at("2024-04-08T18:42"), kLatitude, kLongitude).position;
  EXPECT_NEAR(sun.elevation, moon.elevation, 0.5);
  EXPECT_NEAR(sun.azimuth, moon.azimuth, 0.5 / std::cos(sun.elevation * M_PI / 180));
}

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
  for (const float mean : {0.0f, 0.05f, 3.0f, 11.9f, 12.1f, 900.0f}) {
    const auto [found, variance] = measure(
        kCount, [&](int i) { return poisson(mean, static_cast<std::uint32_t>(hash(5, i) >> 32), normalQuantiles()); });
    EXPECT_NEAR(found, mean, 5 * std::sqrt(mean / kCount) + 1e-9) << mean;
    // The variance of a sample variance is about (mean + 2 mean^2) / count; 1/12 comes from rounding.
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
  for (const double gain : {0.25, 0.6}) {
    for (const double electrons : {150.0, 1500.0}) {
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
  const cv::Mat part = cv::Mat(40, 60, CV_8UC3, cv::Scalar::all(90))(cv::Rect(5, 6, 20, 10));
  EXPECT_EQ(cv::norm(simulateNight(part), simulateNight(part.clone()), cv::NORM_INF), 0);
}

TEST(Night, RefusesWhatItCannotDo) {
  const cv::Mat image(4, 4, CV_8UC3, cv::Scalar::all(1));
  for (const NightOptions& options : {NightOptions{.gain = 0}, {.gain = 1.01}, {.electrons = 0}, {.thermal = -1}})
    EXPECT_THROW(simulateNight(image, options), Error);
  EXPECT_THROW(simulateNight(cv::Mat(4, 4, CV_32F, cv::Scalar(0))), Error);
}

}  // namespace
}  // namespace mpm::vision
