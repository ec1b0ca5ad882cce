// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "sensor.h"
#include "vec3.h"
#include "vision/draws.h"

namespace mpm::scene {

/// The range from which one value is drawn.
struct Interval {
  float low, high;
  float drawn(Draws& draws) const { return draws.uniform(low, high); }
};

/// One side of the cross-section: distances from the middle line of the street, m.
struct Profile {
  float lane_centre = 1.65f, cyclists = 3.05f, lane_edge = 3.45f, parked = 4.6f, kerb = 5.7f, trees = 6.5f;
  float walkers = 7.35f, walker_lane = 0.62f;  // the first of four lanes of pedestrians; from one to the next
  float facade = 10.2f, backyard = 26;
  float outer_lane = 0;  // centre of a second lane; 0: none
  float hedge = 5.5f;    // height of the trees behind a gap between houses
  bool parking = true;   // cars park along the kerb
  bool lawn = false;     // grass, not paving, behind the line of the houses; its label is tree
  float gap_chance = 0.16f;
  Interval gap = {4, 9};  // width
};

/// How a surface differs from its usual texture. The defaults change nothing.
struct Material {
  Vec3 tint = {1, 1, 1};
  float grain = 1, stain = 1;                       // strength of fine and of coarse noise
  float scale = 1;                                  // of both, and of slabs and bricks
  float pattern = 0, pattern_u = 0, pattern_v = 0;  // strength of waves, radians per m

  float wave(float u, float v) const {
    return pattern > 0 ? 1 + pattern * std::sin(pattern_u * u) * std::sin(pattern_v * v) : 1;
  }
};

struct Markings {
  bool centre = true, bays = true;
  float edge = 3.45f;  // of a line along each side; m from the middle of the street
  Vec3 edge_colour = {0.60f, 0.60f, 0.57f};
  bool doubled = false;  // two edge lines
  float zebra = -1;      // where a crossing begins, m; negative: none
};

/// How a camera differs from View's, which is upright and has a perfect lens.
struct Distortion {
  float roll = 0;       // radians
  float bend = 0;       // share by which a lens pulls in what is seen at 45 degrees; negative: pushes out
  bool tilted = false;  // looks down or up by tilting, so that vertical edges converge
};

enum class Foliage { kSeasons, kBare, kEvergreen };

/// All that StreetOptions::variety changes about a street and its camera. The default is the street of variety 0.
/// World draws a street from the ranges here.
struct Look {
  Look() = default;
  /// Derived from the seed. `variety` is 0 for Look(), 1 for the widest ranges.
  Look(std::uint64_t seed, float variety);

  Interval camera_height = {3.6f, 6.2f}, camera_across = {-6.2f, 6.2f};  // m
  Interval focal = {0.85f, 1.15f};                                       // in widths of the picture
  Interval horizon = {0.36f, 0.44f};                                     // in heights of the picture, from the top
  float yaw = 0;                                                         // radians, added

  std::array<Profile, 2> sides;  // left (x < 0), right
  float end = 190;               // where the street ends, m
  float first_gap = 25;          // no gap between houses before it, m
  float garden_walls = 0;        // share of gaps behind a wall
  // Ground behind the line of the houses is black in usual streets, whose published numbers were measured so.
  bool bright_yards = false;
  float side_streets = 0;  // share of gaps that are a street
  int fewest_floors = 2, floor_choices = 4, fewest_end_floors = 2, end_floor_choices = 4;
  float shops = 0.5f, roofs = 0.5f;  // share of houses
  Interval bay = {2.5f, 3.4f}, window_width = {1.0f, 1.5f};
  float park_height = 9.5f;  // of the trees or hills across the end
  float any_colour = 0;      // share of walls, shops and cars in any colour

  float avenue = 0.85f;  // chance of a row of trees, per side
  float first_tree = 16;
  Interval tree_spacing = {9.5f, 15}, tree_height = {6.5f, 9.5f}, tree_radius = {0.27f, 0.34f};  // radius: in heights
  float grove = 0;  // share of places in a gap with a tree
  int twigs = 7;    // per branch
  Foliage foliage = Foliage::kSeasons;
  float bare_leaves = 0.03f;  // of a bare tree: share of the leaves that hang, brown like a mass of fine twigs
  Vec3 leaf_tint = {1, 1, 1}, crown_tint = {1, 1, 1};  // of near trees; of woods

  float cars = 1, parked = 0.62f, cyclists = 1, walkers = 1, lorries = 0;
  float clear_ahead = 3;  // nobody stands nearer in front of the camera, m

  Material wall, road, pavement;
  Markings markings;
  float haze = 1;  // times the extinction of the air
  Distortion distortion;
  Development development;
};

/// Any albedo, mostly pale ones.
Vec3 anyColour(Draws& draws);

}  // namespace mpm::scene
