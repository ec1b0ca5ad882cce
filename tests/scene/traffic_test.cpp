// SPDX-License-Identifier: Apache-2.0
#include "scene/traffic.h"

#include <gtest/gtest.h>

#include <map>

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
      for (std::size_t i = 0; i < cars.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (std::abs(cars[i].x - cars[j].x) < 2) {
            EXPECT_GT(std::abs(cars[i].z - cars[j].z), cars[i].parked ? 5 : 11.5f);
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

}  // namespace
}  // namespace mpm::scene
