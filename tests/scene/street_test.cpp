// SPDX-License-Identifier: Apache-2.0
#include "scene/street.h"

#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>
#include <set>

#include "mpm/error.hpp"
#include "scene/things.h"
#include "scene/view.h"

namespace mpm::scene {
namespace {

constexpr double kNoon = 1782043200;      // 2026-06-21T12:00
constexpr double kMidnight = 1782086400;  // 2026-06-22T00:00
constexpr double kWinter = 1797854400;    // 2026-12-21T12:00

StreetOptions small(std::uint64_t seed, Weather weather = Weather::kClear) {
  return {.seed = seed, .size = {240, 168}, .weather = weather};
}

bool same(const Rendering& a, const Rendering& b) {
  return cv::norm(a.image, b.image, cv::NORM_INF) == 0 && cv::norm(a.labels, b.labels, cv::NORM_INF) == 0;
}

cv::Scalar meanOf(const Rendering& r, Class c) { return cv::mean(r.image, r.labels == static_cast<int>(c)); }

TEST(Street, SameBytesInAnyOrderOfTimes) {
  for (const Weather weather : {Weather::kClear, Weather::kRain, Weather::kSnow, Weather::kAuto}) {
    StreetOptions options = small(7, weather);
    options.jpeg = 80;
    Street one(options), other(options);
    const std::array<double, 4> times = {kNoon, kMidnight, kWinter, kNoon + 0.04};
    std::vector<Rendering> forward;
    for (const double t : times) forward.push_back(one.render(t));
    for (int i = 3; i >= 0; --i) EXPECT_TRUE(same(other.render(times[i]), forward[i])) << i;
    EXPECT_FALSE(same(forward[0], forward[3]));
  }
}

TEST(Street, ThreadsDoNotChangeIt) {
  Street street(small(2, Weather::kRain));
  const int threads = cv::getNumThreads();
  cv::setNumThreads(1);
  const Rendering alone = street.render(kNoon);
  cv::setNumThreads(4);
  EXPECT_TRUE(same(street.render(kNoon), alone));
  cv::setNumThreads(threads);
}

TEST(Street, LabelsAreClassesAndTheHorizonParts) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    StreetOptions options = small(seed);
    options.shake = 0;
    const Rendering r = Street(options).render(kNoon);
    ASSERT_EQ(r.image.type(), CV_8UC3);
    ASSERT_EQ(r.labels.type(), CV_8U);
    ASSERT_EQ(r.image.size(), options.size);
    ASSERT_EQ(r.labels.size(), options.size);
    const auto horizon = World(seed).horizon * static_cast<float>(options.size.height);
    for (int y = 0; y < r.labels.rows; ++y) {
      for (int x = 0; x < r.labels.cols; ++x) {
        const int label = r.labels.at<std::uint8_t>(y, x);
        ASSERT_LT(label, kClasses);
        const Class c = static_cast<Class>(label);
        if (c == Class::kSky) {
          ASSERT_LT(static_cast<float>(y), horizon) << seed;
        }
        if (c == Class::kRoad || c == Class::kPavement) {
          ASSERT_GT(static_cast<float>(y) + 1, horizon) << seed;
        }
      }
    }
  }
}

TEST(Street, EveryClassIsCommonOverSeeds) {
  std::array<int, kClasses> pictures{};
  constexpr int kSeeds = 12;
  for (std::uint64_t seed = 100; seed < 100 + kSeeds; ++seed) {
    const Rendering r = Street(small(seed)).render(kNoon - 3600 * 3.7);
    for (int c = 0; c < kClasses; ++c) pictures[c] += cv::countNonZero(r.labels == c) > 4;
  }
  for (int c = 0; c < kClasses; ++c) EXPECT_GE(pictures[c], kSeeds / 3) << kClassStyles[c].name;
}

TEST(Street, PicturesShowWhatLabelsSay) {
  StreetOptions options = small(7);
  options.noise = 0;
  options.shake = 0;
  const Rendering day = Street(options).render(kNoon);
  const cv::Scalar sky = meanOf(day, Class::kSky), tree = meanOf(day, Class::kTree), road = meanOf(day, Class::kRoad);
  EXPECT_GT(sky[0], sky[2] + 10);  // blue
  EXPECT_GT(tree[1], tree[0]);     // green
  EXPECT_GT(tree[1], tree[2]);
  EXPECT_LT(std::abs(road[0] - road[2]), 25);  // grey
  EXPECT_GT(sky[0] + sky[1] + sky[2], road[0] + road[1] + road[2]);

  // Without noise, wind and clouds move nothing on a wall in a second.
  const Rendering later = Street(options).render(kNoon + 1);
  cv::Mat wall = (day.labels == 1) & (later.labels == 1), difference;
  cv::erode(wall, wall, cv::Mat::ones(9, 9, CV_8U));
  cv::absdiff(day.image, later.image, difference);
  ASSERT_GT(cv::countNonZero(wall), 500);
  EXPECT_LT(cv::mean(difference, wall)[1], 2);
  cv::Mat moved = day.labels != later.labels;
  ASSERT_GT(cv::countNonZero(moved), 20);
  EXPECT_GT(cv::mean(difference, moved)[1], 4 * cv::mean(difference, wall)[1]);
}

TEST(Street, NearThingsHideFarOnes) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    StreetOptions options = small(seed);
    options.size = {480, 336};
    options.shake = 0;
    const Rendering r = Street(options).render(kNoon);
    const World world(seed);
    const View view(world, 480, 336, 0);
    const std::vector<Actor> actors = actorsAt(world, kNoon, 12, {});
    // Of the cars, the nearest one whose middle is in the picture.
    float nearest = 1e9f;
    cv::Point middle;
    for (const Actor& a : actors) {
      if (a.kind != ActorKind::kCar) continue;
      const View::Projected p = view.project({a.x, 0.7f, a.z});
      const cv::Point pixel(static_cast<int>(p.x), static_cast<int>(p.y));
      if (p.depth < 7 || p.depth > nearest || !pixel.inside({0, 0, 480, 336})) continue;
      nearest = p.depth;
      middle = pixel;
    }
    ASSERT_LT(nearest, 60) << seed;
    const Class seen = static_cast<Class>(r.labels.at<std::uint8_t>(middle));
    EXPECT_TRUE(seen == Class::kCar || seen == Class::kTree || seen == Class::kPole || seen == Class::kPerson ||
                seen == Class::kCyclist)
        << seed << ": " << kClassStyles[static_cast<int>(seen)].name;
  }
}

TEST(Street, TruthTellsDayFromNight) {
  StreetOptions options = small(5);
  options.noise = 0;
  Street street(options);
  const Rendering day = street.render(kNoon), night = street.render(kMidnight);
  EXPECT_FALSE(day.truth.is_night);
  EXPECT_FALSE(day.truth.lamps_on);
  EXPECT_NEAR(day.truth.sun_elevation_deg, 65.4, 0.2);
  EXPECT_TRUE(night.truth.is_night);
  EXPECT_TRUE(night.truth.lamps_on);
  EXPECT_NEAR(night.truth.sun_elevation_deg, -18.6, 0.3);
  EXPECT_EQ(night.truth.unix_time, kMidnight);
  EXPECT_GT(cv::mean(day.image)[1], 1.5 * cv::mean(night.image)[1]);
  EXPECT_GT(meanOf(day, Class::kSky)[0], 4 * meanOf(night, Class::kSky)[0]);
  EXPECT_GT(meanOf(night, Class::kRoad)[1], meanOf(night, Class::kSky)[1]);  // lamps light the road, not the sky
}

TEST(Street, WeatherIsSeen) {
  const auto road = [](Weather weather, double time) {
    StreetOptions options = small(7, weather);
    options.noise = 0;
    return meanOf(Street(options).render(time), Class::kRoad);
  };
  EXPECT_GT(road(Weather::kSnow, kWinter)[1], 1.3 * road(Weather::kCloudy, kWinter)[1]);
  const auto contrast = [](Weather weather) {
    StreetOptions options = small(7, weather);
    options.noise = 0;
    cv::Scalar mean, deviation;
    cv::meanStdDev(Street(options).render(kNoon).image, mean, deviation);
    return deviation[1];
  };
  EXPECT_LT(contrast(Weather::kFog), 0.9 * contrast(Weather::kClear));
}

TEST(Street, ShakeMovesPictureAndLabelsTogether) {
  StreetOptions options = small(7);
  options.shake = 10;
  options.noise = 0;
  Street street(options);
  std::set<int> sky;
  for (int i = 0; i < 6; ++i) sky.insert(cv::countNonZero(street.render(kNoon + 0.4 * i).labels == 0));
  EXPECT_GT(sky.size(), 2u);
}

TEST(Street, AnySizeAndPlace) {
  const std::pair<cv::Size, double> cases[] = {{{64, 64}, -90},  {{333, 257}, -34}, {{200, 480}, 0},
                                               {{800, 100}, 78}, {{64, 64}, 78},    {{333, 257}, -90}};
  for (const auto& [size, latitude] : cases) {
    StreetOptions options = small(11, Weather::kAuto);
    options.size = size;
    options.latitude = latitude;
    options.longitude = -120;
    const Rendering r = Street(options).render(kWinter + 7200);
    EXPECT_EQ(r.image.size(), size);
    EXPECT_EQ(r.labels.size(), size);
  }
}

TEST(Street, RefusesBadOptions) {
  StreetOptions options{.size = {0, 10}};
  EXPECT_THROW(Street street(options), Error);
}

}  // namespace
}  // namespace mpm::scene
