// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include "vision/draws.h"

namespace mpm::scene {
namespace {

constexpr Vec3 kWalls[] = {{0.62f, 0.54f, 0.42f}, {0.55f, 0.42f, 0.30f}, {0.66f, 0.62f, 0.55f}, {0.42f, 0.20f, 0.14f},
                           {0.48f, 0.50f, 0.50f}, {0.60f, 0.47f, 0.26f}, {0.50f, 0.27f, 0.19f}, {0.70f, 0.66f, 0.58f},
                           {0.36f, 0.44f, 0.47f}, {0.62f, 0.44f, 0.38f}};
constexpr Vec3 kShops[] = {{0.32f, 0.05f, 0.05f}, {0.05f, 0.16f, 0.10f}, {0.05f, 0.09f, 0.22f},
                           {0.40f, 0.26f, 0.06f}, {0.10f, 0.10f, 0.11f}, {0.45f, 0.42f, 0.36f}};

Building house(Draws& draws, const Look& look, int fewest_floors, int floor_choices, float from, float to,
               int& windows) {
  Building b;
  b.from = from;
  b.to = to;
  b.key = draws.bits();
  b.floors = fewest_floors + draws.integer(floor_choices);
  b.floor = draws.uniform(2.9f, 3.4f);
  b.ground_floor = draws.uniform(3.5f, 4.4f);
  const int colour = draws.integer(static_cast<int>(std::size(kWalls)));
  b.wall = kWalls[colour] * draws.uniform(0.82f, 1.08f);
  b.brick = colour == 3 || colour == 6;
  if (look.any_colour > 0 && draws.chance(look.any_colour)) b.wall = anyColour(draws);
  b.trim = lerp(b.wall, Vec3{0.72f, 0.70f, 0.66f}, draws.uniform(0.45f, 0.9f));
  b.shop = draws.one(kShops);
  b.has_shop = draws.chance(look.shops);
  b.has_roof = draws.chance(look.roofs);
  b.has_balconies = !b.brick && draws.chance(0.4f);
  b.bays = std::max(2, static_cast<int>((to - from) / look.bay.drawn(draws)));
  const float bay = (to - from) / static_cast<float>(b.bays);
  b.window_width = std::min(look.window_width.drawn(draws), bay * 0.62f);
  b.window_height = draws.uniform(1.55f, 2.0f);
  b.height = b.ground_floor + b.floor * static_cast<float>(b.floors) + 0.7f;
  b.first_window = windows;
  windows += (b.floors + 1) * b.bays;
  return b;
}

/// A gap between houses: a yard, a garden behind its wall, a side street.
Building gap(Draws& draws, const Look& look, float from, float to) {
  Building b;
  b.from = from;
  b.to = to;
  b.bays = 0;
  if (look.side_streets > 0) b.side_street = draws.chance(look.side_streets);
  if (b.side_street) b.to = std::min(to, from + draws.uniform(6, 12));
  if (look.garden_walls > 0) b.garden_wall = !b.side_street && draws.chance(look.garden_walls);
  if (b.garden_wall) {
    b.key = draws.bits();
    b.height = draws.uniform(0.7f, 2.2f);
    b.wall = anyColour(draws);
    b.brick = draws.chance(0.6f);
    b.trim = b.wall;
  }
  return b;
}

std::vector<Building> row(Draws& draws, const Look& look, const Profile& side, int& windows) {
  std::vector<Building> result;
  bool gap_before = true;
  for (float z = World::kFirst; z < look.end + 1;) {
    const bool is_gap = !gap_before && z > look.first_gap && draws.chance(side.gap_chance);
    const float width = is_gap ? side.gap.drawn(draws) : draws.uniform(9, 19);
    result.push_back(is_gap ? gap(draws, look, z, z + width)
                            : house(draws, look, look.fewest_floors, look.floor_choices, z, z + width, windows));
    gap_before = is_gap;
    z = result.back().to;
  }
  return result;
}

}  // namespace

World::World(std::uint64_t street, const Look& its_look) : look(its_look), seed(street) {
  Draws draws(hash(street, 0x57ee7));
  azimuth = draws.uniform(0, 360);
  for (int side = 0; side < 2; ++side) rows[side] = row(draws, look, look.sides[side], windows);
  vista = draws.chance(0.5f) ? Vista::kHouses : Vista::kPark;
  for (float x = -90; x < 90; x = end_row.back().to) {
    const float to = x + draws.uniform(9, 19);
    end_row.push_back(house(draws, look, look.fewest_end_floors, look.end_floor_choices, x, to, windows));
  }

  for (int side = 0; side < 2; ++side) {
    const float sign = side == 0 ? -1.0f : 1.0f;
    const Profile& profile = look.sides[side];
    heights_[side].resize(static_cast<std::size_t>((look.end + 60 - kFirst) / kStep));
    for (std::size_t i = 0; i < heights_[side].size(); ++i)
      if (const Building* b = at(side, kFirst + kStep * (static_cast<float>(i) + 0.5f))) heights_[side][i] = b->height;

    const float first = draws.uniform(9, 15) + (side == 0 ? 0.0f : 13.0f), spacing = draws.uniform(25, 31);
    for (float z = first; z < look.end; z += spacing) lamps.push_back({sign * (profile.kerb + 0.55f), z});
    const bool avenue = draws.chance(look.avenue);
    const float tree_spacing = look.tree_spacing.drawn(draws), tree_height = look.tree_height.drawn(draws);
    const auto plant = [&](float x, float z) {
      Tree tree{sign * (x + draws.uniform(-0.1f, 0.1f)), z, tree_height * draws.uniform(0.8f, 1.12f), 0, draws.bits()};
      tree.radius = tree.height * look.tree_radius.drawn(draws);
      tree.twigs = look.twigs;
      tree.outlined = look.twigs > Tree().twigs;
      return tree;
    };
    for (float z = look.first_tree + draws.uniform(0, 6); avenue && z < look.end - 8;
         z += tree_spacing * draws.uniform(0.85f, 1.2f)) {
      if (draws.chance(0.14f)) continue;
      const Tree tree = plant(profile.trees, z);
      bool free = true;
      for (const Lamp& lamp : lamps) free &= lamp.x * sign < 0 || std::abs(lamp.z - tree.z) > 2.2f;
      if (free) trees.push_back(tree);
    }
    for (float z = look.first_tree; look.grove > 0 && z < look.end - 8; z += draws.uniform(2, 9)) {
      const Building* b = at(side, z);
      if (b == nullptr || b->height > 0 || b->side_street || !draws.chance(look.grove)) continue;
      trees.push_back(plant(draws.uniform(profile.facade + 1, profile.backyard - 0.5f), z));
    }
    for (float z = draws.uniform(12, 24); z < std::min(look.end, 120.0f); z += draws.uniform(16, 36)) {
      Sign traffic_sign{sign * (profile.kerb + 0.4f), z, static_cast<SignKind>(draws.integer(5))};
      bool free = true;
      for (const Lamp& lamp : lamps) free &= lamp.x * sign < 0 || std::abs(lamp.z - z) > 1.2f;
      for (const Tree& tree : trees) free &= tree.x * sign < 0 || std::abs(tree.z - z) > 1.5f;
      if (free) signs.push_back(traffic_sign);
    }
  }

  camera = {look.camera_across.drawn(draws), look.camera_height.drawn(draws), 0};
  // It looks down the street, a little across when it hangs at a side.
  yaw = -camera.x * draws.uniform(0.004f, 0.016f) + draws.uniform(-0.03f, 0.03f) + look.yaw;
  focal = look.focal.drawn(draws);
  horizon = look.horizon.drawn(draws);
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
  const float way = std::max((look.sides[side].facade - (side == 1 ? place.x : -place.x)) / across, 0.0f);
  const float z = place.z + way * to_light.z;
  const auto cell = static_cast<int>((std::min(std::max(z, kFirst), look.end + 59.0f) - kFirst) * (1 / kStep));
  const float roof = z < kFirst || z > look.end + 8 ? 0 : heights_[side][cell];
  float light = clamp01(0.5f + (place.y + way * to_light.y - roof) / (0.15f + 0.012f * way));
  if (to_light.z > 1e-4f && place.z < look.end) {
    const float to_end = (look.end + 8 - place.z) / to_light.z;
    const float x = place.x + to_end * to_light.x;
    if (std::abs(x) < sideOf(x).facade + 6)
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
