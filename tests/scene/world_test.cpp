// SPDX-License-Identifier: Apache-2.0
// What a street is like, and who is on it.
#include <gtest/gtest.h>
#include <map>
#include <opencv2/imgproc.hpp>

#include "scene/look.h"
#include "scene/street.h"
#include "scene/things.h"
#include "scene/view.h"

namespace mpm::scene {
namespace {

constexpr double kMorning = 1782028800;  // 2026-06-21T08:00

TEST(Traffic, VehiclesAndPeopleNeverOverlap) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const World world(seed);
    for (int step = 0; step < 20; ++step) {
      std::vector<Actor> cars;
      for (const Actor& a : actorsAt(world, kMorning + 613.7 * step, 8.3, {}))
        if (a.kind == ActorKind::kCar) cars.push_back(a);
      ASSERT_GT(cars.size(), 5u);
      for (std::size_t i = 0; i < cars.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (std::abs(cars[i].x - cars[j].x) < 2) {
            EXPECT_GT(std::abs(cars[i].z - cars[j].z), cars[i].parked ? 5 : 11.5f);
          }
        }
      }
    }
  }
}

TEST(Traffic, EverybodyMovesOnAtTheirSpeed) {
  const World world(3);
  std::map<std::uint64_t, Actor> before;
  for (const Actor& a : actorsAt(world, kMorning, 8, {})) before[a.key] = a;
  int moved = 0;
  for (const Actor& a : actorsAt(world, kMorning + 0.5, 8, {})) {
    const auto found = before.find(a.key);
    if (found == before.end()) continue;
    const float gone = (a.z - found->second.z) * a.heading;
    EXPECT_EQ(a.x, found->second.x);
    // m in half a second
    const auto [slowest, fastest] = a.parked                           ? std::pair(0.0f, 0.0f)
                                    : a.kind == ActorKind::kPedestrian ? std::pair(0.45f, 0.9f)
                                    : a.kind == ActorKind::kBicycle    ? std::pair(2.0f, 3.0f)
                                                                       : std::pair(4.0f, 6.0f);
    EXPECT_GE(gone, slowest);
    EXPECT_LE(gone, fastest);
    moved += gone > 0;
  }
  EXPECT_GT(moved, 10);
}

TEST(Traffic, StaysOnItsSideAndSleepsAtNight) {
  const World world(4);
  const Profile usual;
  std::size_t day = 0, night = 0;
  for (int step = 0; step < 30; ++step) {
    for (const Actor& a : actorsAt(world, kMorning + 97.0 * step, 8.3, {})) {
      const float across = std::abs(a.x);
      if (a.kind == ActorKind::kPedestrian) {
        EXPECT_TRUE(across > usual.kerb + 0.5f && across < usual.facade) << a.x;
      } else {
        EXPECT_LT(across, usual.kerb);
        EXPECT_EQ(a.x > 0, a.heading > 0);
      }
      day += !a.parked;
    }
    for (const Actor& a : actorsAt(world, kMorning + 97.0 * step, 3.0, {})) night += !a.parked;
  }
  EXPECT_LT(3 * night, day);
}

TEST(World, HousesShadeTheStreetFromALowSunOnly) {
  const World world(1);
  EXPECT_EQ(world.lit({0, 0, 40}, {0, 1, 0}), 1);
  EXPECT_EQ(world.lit({0, 0, 40}, {0, -1, 0}), 0);
  int shaded = 0;
  for (float z = 5; z < 150; z += 5) shaded += world.lit({0, 0, z}, {0.98f, 0.17f, 0.05f}) < 0.5f;
  EXPECT_GT(shaded, 20);
  EXPECT_EQ(world.lit({0, 60, 40}, {0.98f, 0.17f, 0.05f}), 1);  // above the roofs
}

StreetOptions varied(std::uint64_t seed, double variety = 1) {
  return {.seed = seed, .size = {240, 168}, .variety = variety};
}

// Published numbers are those of the usual streets. Measured before Look existed; other maths libraries may round
// otherwise.
TEST(Look, TheUsualStreetStaysAsItWas) {
  struct Usual {
    std::uint64_t seed;
    std::array<int, kClasses> pixels;
    cv::Scalar mean;  // blue, green, red
  };
  const Usual streets[] = {{7, {4388, 11184, 9297, 1608, 5921, 439, 7378, 56, 49}, {127.07, 126.51, 125.79}},
                           {4, {3406, 19048, 8536, 5428, 1750, 305, 1678, 87, 82}, {121.22, 122.39, 122.80}}};
  for (const Usual& usual : streets) {
    StreetOptions options = varied(usual.seed, 0);
    options.weather = Weather::kRain;
    options.shake = options.noise = 0;
    const Rendering r = Street(options).render(1782043200);
    for (int c = 0; c < kClasses; ++c) EXPECT_NEAR(cv::countNonZero(r.labels == c), usual.pixels[c], 5) << c;
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(cv::mean(r.image)[c], usual.mean[c], 0.1) << c;
  }
}

TEST(Look, CamerasAndStreetsAreInTheirRanges) {
  float lowest = 100, highest = 0, widest = 100, narrowest = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const World world(seed, Look(seed, 1));
    const Profile &left = world.look.sides[0], &right = world.look.sides[1];
    EXPECT_TRUE(world.camera.x > -left.facade && world.camera.x < right.facade) << seed;
    const float half_view = std::atan(0.5f / world.focal);
    EXPECT_LT(std::abs(world.yaw) + half_view, kPi / 2) << seed;  // no ray looks back
    lowest = std::min(lowest, world.camera.y), highest = std::max(highest, world.camera.y);
    widest = std::min(widest, world.focal), narrowest = std::max(narrowest, world.focal);
    for (const Profile& side : world.look.sides) {
      EXPECT_LT(side.lane_centre, side.lane_edge) << seed;
      EXPECT_LT(side.outer_lane, side.lane_edge) << seed;
      EXPECT_LT(side.lane_edge, side.kerb) << seed;
      EXPECT_LT(side.parked, side.parking ? side.kerb : 100) << seed;
      EXPECT_TRUE(side.trees > side.kerb && side.trees < side.facade) << seed;
      EXPECT_LT(side.walkers + 3 * side.walker_lane, side.facade) << seed;
      EXPECT_LT(side.facade, side.backyard) << seed;
    }
  }
  EXPECT_TRUE(lowest >= 1.1f && lowest < 1.3f) << lowest;
  EXPECT_TRUE(highest <= 9 && highest > 8) << highest;
  EXPECT_NEAR(2 * std::atan(0.5f / widest) * 180 / kPi, 95, 4);
  EXPECT_NEAR(2 * std::atan(0.5f / narrowest) * 180 / kPi, 35, 4);
}

TEST(Look, VariedStreetsHaveAllClasses) {
  std::array<int, kClasses> pictures{};
  constexpr int kSeeds = 16;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Street one(varied(seed)), other(varied(seed));
    const Rendering day = one.render(kMorning);
    const Rendering night = one.render(kMorning + 50000), again = other.render(kMorning);
    EXPECT_EQ(cv::norm(day.image, again.image, cv::NORM_INF), 0) << seed;
    EXPECT_EQ(cv::norm(day.labels, again.labels, cv::NORM_INF), 0) << seed;
    for (const Rendering* r : {&day, &night}) {
      double largest = 0;
      cv::minMaxLoc(r->labels, nullptr, &largest);
      EXPECT_LT(largest, kClasses) << seed;
    }
    for (int c = 0; c < kClasses; ++c) pictures[c] += cv::countNonZero(day.labels == c) > 4;
  }
  for (int c = 0; c < kClasses; ++c) EXPECT_GE(pictures[c], kSeeds / 3) << kClassStyles[c].name;
}

TEST(Lens, MovesPictureAndLabelsAlike) {
  const World world(3);
  const cv::Size size(160, 112);
  const View view(world, size.width, size.height, 0);
  cv::Mat labels(size, CV_8U), light;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) labels.at<std::uint8_t>(y, x) = static_cast<std::uint8_t>(x / 20 + y / 14);
  const cv::Mat before = labels.clone();
  cv::cvtColor(labels, light, cv::COLOR_GRAY2RGB);
  light.convertTo(light, CV_32F);
  bend(lensMap({}, view, size), light, labels);
  EXPECT_EQ(cv::norm(labels, before, cv::NORM_INF), 0);

  bend(lensMap({0.06f, 0.2f, true}, view, size), light, labels);
  EXPECT_GT(cv::countNonZero(labels != before), 1000);
  cv::Mat seen, inside, low, high;
  cv::extractChannel(light, seen, 0);
  cv::erode(labels, low, cv::Mat::ones(3, 3, CV_8U));
  cv::dilate(labels, high, cv::Mat::ones(3, 3, CV_8U));
  inside = low == high;
  ASSERT_GT(cv::countNonZero(inside), 5000);
  cv::Mat truth;
  labels.convertTo(truth, CV_32F);
  EXPECT_LT(cv::norm(seen, truth, cv::NORM_INF, inside), 1e-3);
}

}  // namespace
}  // namespace mpm::scene
