// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include "random.h"

namespace mpm::scene {
namespace {

constexpr Vec3 kWalls[] = {{0.62f, 0.54f, 0.42f}, {0.55f, 0.42f, 0.30f}, {0.66f, 0.62f, 0.55f}, {0.42f, 0.20f, 0.14f},
                           {0.48f, 0.50f, 0.50f}, {0.60f, 0.47f, 0.26f}, {0.50f, 0.27f, 0.19f}, {0.70f, 0.66f, 0.58f},
                           {0.36f, 0.44f, 0.47f}, {0.62f, 0.44f, 0.38f}};
constexpr Vec3 kShops[] = {{0.32f, 0.05f, 0.05f}, {0.05f, 0.16f, 0.10f}, {0.05f, 0.09f, 0.22f},
                           {0.40f, 0.26f, 0.06f}, {0.10f, 0.10f, 0.11f}, {0.45f, 0.42f, 0.36f}};

Building house(Draws& draws, float from, float to, int& windows) {
  Building b;
  b.from = from;
  b.to = to;
  b.key = draws.bits();
  b.floors = 2 + draws.integer(4);
  b.floor = draws.uniform(2.9f, 3.4f);
  b.ground_floor = draws.uniform(3.5f, 4.4f);
  const int colour = draws.integer(static_cast<int>(std::size(kWalls)));
  b.wall = kWalls[colour] * draws.uniform(0.82f, 1.08f);
  b.brick = colour == 3 || colour == 6;
  b.trim = lerp(b.wall, Vec3{0.72f, 0.70f, 0.66f}, draws.uniform(0.45f, 0.9f));
  b.shop = draws.one(kShops);
  b.has_shop = draws.chance(0.5f);
  b.has_roof = draws.chance(0.5f);
  b.has_balconies = !b.brick && draws.chance(0.4f);
  b.bays = std::max(2, static_cast<int>((to - from) / draws.uniform(2.5f, 3.4f)));
  const float bay = (to - from) / static_cast<float>(b.bays);
  b.window_width = std::min(draws.uniform(1.0f, 1.5f), bay * 0.62f);
  b.window_height = draws.uniform(1.55f, 2.0f);
  b.height = b.ground_floor + b.floor * static_cast<float>(b.floors) + 0.7f;
  b.first_window = windows;
  windows += (b.floors + 1) * b.bays;
  return b;
}

std::vector<Building> row(Draws& draws, float from, float to, bool gaps, int& windows) {
  std::vector<Building> result;
  bool gap_before = true;
  for (float z = from; z < to;) {
    const bool gap = gaps && !gap_before && z > 25 && draws.chance(0.16f);
    const float width = gap ? draws.uniform(4, 9) : draws.uniform(9, 19);
    if (gap) {
      Building nothing;
      nothing.from = z;
      nothing.to = z + width;
      result.push_back(nothing);
    } else {
      result.push_back(house(draws, z, z + width, windows));
    }
    gap_before = gap;
    z += width;
  }
  return result;
}

}  // namespace

World::World(std::uint64_t street) : seed(street) {
  Draws draws(hash(street, 0x57ee7));
  azimuth = draws.uniform(0, 360);
  for (auto& houses : rows) houses = row(draws, kFirst, kEnd + 1, true, windows);
  vista = draws.chance(0.5f) ? Vista::kHouses : Vista::kPark;
  end_row = row(draws, -90, 90, false, windows);

  for (int side = 0; side < 2; ++side) {
    const float sign = side == 0 ? -1.0f : 1.0f;
    heights_[side].resize(static_cast<std::size_t>((kEnd + 60 - kFirst) / kStep));
    for (std::size_t i = 0; i < heights_[side].size(); ++i)
      if (const Building* b = at(side, kFirst + kStep * (static_cast<float>(i) + 0.5f))) heights_[side][i] = b->height;

    const float first = draws.uniform(9, 15) + (side == 0 ? 0.0f : 13.0f), spacing = draws.uniform(25, 31);
    for (float z = first; z < kEnd; z += spacing) lamps.push_back({sign * (kKerb + 0.55f), z});
    const bool avenue = draws.chance(0.85f);
    const float tree_spacing = draws.uniform(9.5f, 15), tree_height = draws.uniform(6.5f, 9.5f);
    for (float z = 16 + draws.uniform(0, 6); avenue && z < kEnd - 8; z += tree_spacing * draws.uniform(0.85f, 1.2f)) {
      if (draws.chance(0.14f)) continue;
      Tree tree{sign * (kTrees + draws.uniform(-0.1f, 0.1f)), z, tree_height * draws.uniform(0.8f, 1.12f), 0,
                draws.bits()};
      tree.radius = tree.height * draws.uniform(0.27f, 0.34f);
      bool free = true;
      for (const Lamp& lamp : lamps) free &= lamp.x * sign < 0 || std::abs(lamp.z - tree.z) > 2.2f;
      if (free) trees.push_back(tree);
    }
    for (float z = draws.uniform(12, 24); z < 120; z += draws.uniform(16, 36)) {
      Sign traffic_sign{sign * (kKerb + 0.4f), z, static_cast<SignKind>(draws.integer(5))};
      bool free = true;
      for (const Lamp& lamp : lamps) free &= lamp.x * sign < 0 || std::abs(lamp.z - z) > 1.2f;
      for (const Tree& tree : trees) free &= tree.x * sign < 0 || std::abs(tree.z - z) > 1.5f;
      if (free) signs.push_back(traffic_sign);
    }
  }

  camera = {draws.uniform(-6.2f, 6.2f), draws.uniform(3.6f, 6.2f), 0};
  // It looks down the street, a little across when it hangs at a side.
  yaw = -camera.x * draws.uniform(0.004f, 0.016f) + draws.uniform(-0.03f, 0.03f);
  focal = draws.uniform(0.85f, 1.15f);
  horizon = draws.uniform(0.36f, 0.44f);
}

const Building* World::at(int side, float z) const {
  for (const Building& b : rows[side])
    if (z >= b.from && z < b.to) return &b;
  return nullptr;
}

float World::lit(Vec3 place, Vec3 to_light) const {
  if (to_light.y <= 0) return 0;
  const int side = to_light.x > 0 ? 1 : 0;
  const float across = std::max(std::abs(to_light.x), 1e-4f);
  const float way = std::max((kFacade - (side == 1 ? place.x : -place.x)) / across, 0.0f);
  const float z = place.z + way * to_light.z;
  const auto cell = static_cast<int>((std::min(std::max(z, kFirst), kEnd + 59.0f) - kFirst) * (1 / kStep));
  const float roof = z < kFirst || z > kEnd + 8 ? 0 : heights_[side][cell];
  float light = clamp01(0.5f + (place.y + way * to_light.y - roof) / (0.15f + 0.012f * way));
  if (to_light.z > 1e-4f && place.z < kEnd) {
    const float to_end = (kEnd + 8 - place.z) / to_light.z;
    if (std::abs(place.x + to_end * to_light.x) < kFacade + 6)
      light = std::min(light, clamp01(0.5f + (place.y + to_end * to_light.y - 12) / (0.15f + 0.012f * to_end)));
  }
  return light;
}

float World::lampLight(Vec3 place, Vec3 normal) const {
  constexpr float kCandela = 950;
  float lux = 0;
  for (const Lamp& lamp : lamps) {
    const Vec3 way = lamp.bulb() - place;
    const float square = dot(way, way);
    if (square > 32 * 32) continue;
    const float distance = std::sqrt(square), down = way.y / distance;
    // The shade cuts the light off above 75 degrees from straight down.
    lux += kCandela * smoothstep(0.25f, 0.75f, down) * std::max(dot(way, normal) / distance, 0.0f) / (square + 1);
  }
  return lux;
}

}  // namespace mpm::scene
