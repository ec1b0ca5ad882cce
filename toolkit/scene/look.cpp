// SPDX-License-Identifier: Apache-2.0
#include "look.h"

#include <algorithm>
#include <cmath>

namespace mpm::scene {
namespace {

/// Draws that stay at the usual value with a variety of 0. Each call takes the same number of draws whatever comes out,
/// so a street of less variety is the same street, nearer to the usual one.
class Varied {
 public:
  Varied(std::uint64_t seed, float variety) : draws_(hash(seed, 0x100c)), variety_(variety) {}

  Draws& draws() { return draws_; }
  bool chance(float probability) { return draws_.chance(probability * variety_); }
  float from(float usual, float low, float high) { return lerp(usual, draws_.uniform(low, high), variety_); }
  float sometimes(float probability, float usual, float low, float high) {
    const bool does = chance(probability);
    const float value = from(usual, low, high);
    return does ? value : usual;
  }
  /// Evenly in the logarithm: twice is as likely as half.
  float factor(float largest) { return std::exp(variety_ * draws_.uniform(-1, 1) * std::log(largest)); }
  int whole(int usual, int low, int high) {
    return static_cast<int>(
        std::lround(from(static_cast<float>(usual), static_cast<float>(low), static_cast<float>(high))));
  }
  /// One value that the whole street shares.
  Interval fixed(Interval usual, float value) const {
    return {lerp(usual.low, value, variety_), lerp(usual.high, value, variety_)};
  }

 private:
  Draws draws_;
  float variety_;
};

Vec3 tint(Varied& varied, float largest, float colour) {
  const float brightness = varied.factor(largest);
  return Vec3{varied.factor(colour), varied.factor(colour), varied.factor(colour)} * brightness;
}

Material material(Varied& varied, float largest) {
  Material m;
  m.tint = tint(varied, largest, 1.25f);
  m.grain = varied.factor(2.2f);
  m.stain = varied.factor(2.2f);
  m.scale = varied.factor(2.5f);
  m.pattern = varied.sometimes(0.35f, 0, 0.05f, 0.35f);
  m.pattern_u = varied.from(1, 0.3f, 18);
  m.pattern_v = varied.from(1, 0.3f, 18);
  return m;
}

Profile profile(Varied& varied) {
  Profile p;
  const float lane = varied.from(3.3f, 2.6f, 3.8f), cycle_lane = varied.sometimes(0.4f, 0, 1.2f, 2);
  p.lane_centre = lane / 2;
  p.lane_edge = varied.from(p.lane_edge, lane, lane + 0.2f) + cycle_lane;
  if (varied.chance(0.3f)) {
    p.outer_lane = p.lane_centre + lane;
    p.lane_edge += lane;
  }
  p.cyclists = p.lane_edge - 0.4f;
  p.parking = !varied.chance(0.5f);
  p.parked = p.lane_edge + 1.15f;
  const float gutter = varied.from(0.3f, 0.1f, 0.9f);
  p.kerb = p.lane_edge + (p.parking ? 2.25f : gutter);
  const float pavement = varied.from(4.5f, 1.6f, 8);
  p.trees = p.kerb + varied.from(0.8f, 0.5f, std::min(pavement - 0.9f, 2.5f));
  p.facade = p.kerb + pavement;
  p.walkers = p.kerb + 0.3f * pavement;
  p.walker_lane = 0.19f * pavement;
  p.gap_chance = varied.sometimes(0.35f, p.gap_chance, 0.5f, 1);
  p.gap = {varied.from(4, 4, 20), varied.from(9, 20, 60)};
  p.backyard = p.facade + varied.from(15.8f, 1, 45);
  p.hedge = varied.factor(3.2f) * 5.5f;
  p.lawn = varied.chance(0.6f);
  return p;
}

}  // namespace

Look::Look(std::uint64_t seed, float variety) {
  if (variety <= 0) return;
  Varied varied(seed, variety);
  Draws& draws = varied.draws();
  for (Profile& side : sides) side = profile(varied);

  // A dashboard or a tripod, a window, a mast.
  const float kind = draws.uniform();
  const bool low = kind < 0.55f;
  const float height = low ? draws.uniform(1.1f, 2.2f) : kind < 0.8f ? draws.uniform(2.2f, 5) : draws.uniform(5, 9);
  camera_height = varied.fixed(camera_height, height);
  // Drivers are on the road; others are anywhere between the houses.
  const bool driver = draws.chance(0.7f) && low;
  const float left = driver ? sides[0].lane_edge : sides[0].facade - 0.6f,
              right = driver ? sides[1].lane_edge : sides[1].facade - 0.6f;
  camera_across = varied.fixed(camera_across, draws.uniform(-left, right));
  const float half_view = kPi / 180 * draws.uniform(17.5f, 47.5f);
  focal = varied.fixed(focal, 0.5f / std::tan(half_view));
  horizon = varied.fixed(horizon, low ? draws.uniform(0.28f, 0.62f) : draws.uniform(0.05f, 0.5f));
  // No ray may look back: the street begins at the camera.
  const float turn = std::min(0.5f, 1.35f - half_view);
  yaw = varied.from(0, -turn, turn) * draws.uniform();

  bright_yards = true;
  end = varied.from(end, 60, 190);
  first_gap = varied.from(first_gap, -60, 25);
  garden_walls = varied.from(0, 0, 0.8f);
  side_streets = varied.from(0, 0, 0.5f);
  fewest_floors = varied.whole(fewest_floors, 1, 4);
  floor_choices = varied.whole(floor_choices, 1, 6);
  fewest_end_floors = varied.whole(fewest_end_floors, 1, 6);
  end_floor_choices = varied.whole(end_floor_choices, 2, 16);
  shops = varied.from(shops, 0, 1);
  roofs = varied.from(roofs, 0, 1);
  const float wide = varied.factor(1.6f), window = varied.from(0.42f, 0.25f, 0.6f);
  bay = {bay.low * wide, bay.high * wide};
  window_width = varied.fixed(window_width, window * (bay.low + bay.high) / 2);
  park_height = varied.factor(3) * park_height;
  any_colour = varied.from(0, 0, 0.8f);

  avenue = varied.from(avenue, 0.2f, 0.9f);
  first_tree = varied.from(first_tree, 9, 25);
  const float tall = varied.from(8, 4, 15), apart = varied.factor(1.6f);
  tree_height = varied.fixed(tree_height, tall);
  tree_spacing = {tree_spacing.low * apart, tree_spacing.high * apart};
  tree_radius = varied.fixed(tree_radius, draws.uniform(0.2f, 0.46f));
  grove = varied.sometimes(0.6f, 0, 0.1f, 0.9f);
  const float season = draws.uniform();
  if (varied.chance(0.6f)) foliage = season < 0.65f ? Foliage::kBare : Foliage::kEvergreen;
  twigs = varied.whole(twigs, 20, 45);
  leaf_tint = tint(varied, 1.7f, 1.3f);
  bare_leaves = varied.from(bare_leaves, bare_leaves, 0.45f);
  if (foliage == Foliage::kBare) leaf_tint = leaf_tint * Vec3{2.6f, 1.2f, 3.4f};
  const float bare_woods = varied.factor(1.5f);
  crown_tint = foliage == Foliage::kBare ? Vec3{1.25f, 0.8f, 1.2f} * bare_woods : leaf_tint;

  cars = varied.factor(2.5f);
  parked = varied.from(parked, 0.1f, 1);
  cyclists = varied.factor(3);
  walkers = varied.factor(3);
  lorries = varied.from(0, 0, 0.2f);
  clear_ahead = varied.from(clear_ahead, 4, 16);

  wall = material(varied, 1.4f);
  road = material(varied, 2);
  pavement = material(varied, 1.8f);
  markings.centre = !varied.chance(0.4f);
  markings.bays = !varied.chance(0.5f);
  const float outside = std::min(sides[0].kerb, sides[1].kerb) - 0.4f;
  const bool at_kerb = varied.chance(0.5f), no_line = varied.chance(0.5f);
  markings.edge = at_kerb ? outside : no_line ? 100 : sides[0].lane_edge;
  if (varied.chance(0.4f)) markings.edge_colour = {0.55f, 0.38f, 0.04f};
  markings.doubled = varied.chance(0.4f);
  const bool has_zebra = varied.chance(0.3f);
  const float zebra = draws.uniform(6, 40);
  if (has_zebra) markings.zebra = zebra;

  distortion.roll = varied.sometimes(0.5f, 0, -0.07f, 0.07f);
  distortion.bend = varied.sometimes(0.5f, 0, -0.1f, 0.3f);
  distortion.tilted = varied.chance(0.6f);
  haze = varied.factor(2);
  development.gain = std::exp2(varied.from(0, -1.8f, 1));
  development.balance = {varied.factor(1.25f), varied.factor(1.08f), varied.factor(1.25f)};
  development.gamma = varied.factor(1.5f);
  development.veil = varied.from(0, -0.1f, 0.06f);
  development.saturation = varied.from(development.saturation, 0.2f, 1.5f);
  development.vignette = varied.from(development.vignette, 0, 0.5f);
  development.glare = varied.factor(2.5f);
  development.blur = varied.sometimes(0.5f, 0, 0.2f, 1.3f);
}

Vec3 anyColour(Draws& draws) {
  const float brightness = 0.75f * std::pow(draws.uniform(0.05f, 1), 1.3f), colour = std::pow(draws.uniform(), 2.0f);
  const Vec3 hue = {draws.uniform(), draws.uniform(), draws.uniform()};
  return lerp(Vec3{1, 1, 1}, hue, colour) * brightness;
}

}  // namespace mpm::scene
