// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "look.h"
#include "vec3.h"

namespace mpm::scene {

constexpr float kLampHeight = 7.2f, kLampReach = 1.9f;

/// A house of a row, from `from` to `to` along its row.
struct Building {
  float from = 0, to = 0, height = 0;  // height 0: a gap
  bool garden_wall = false;            // in front of a gap
  bool side_street = false;            // a gap that is a street
  float ground_floor = 3.8f, floor = 3.1f;
  int floors = 4;  // above the ground floor
  int bays = 5;
  float window_width = 1.1f, window_height = 1.7f;
  Vec3 wall, trim, shop;
  bool has_shop = false, has_roof = false, has_balconies = false, brick = false;
  int first_window = 0;  // windows are numbered through the street; a house has (floors + 1) * bays
  std::uint64_t key = 0;

  bool isHouse() const { return height > 0 && !garden_wall; }
};

struct Tree {
  float x = 0, z = 0, height = 0, radius = 0;
  std::uint64_t key = 0;
  int twigs = 7;          // per branch
  bool outlined = false;  // sky between the twigs is labelled tree
};
struct Lamp {
  float x = 0, z = 0;
  Vec3 bulb() const { return {x > 0 ? x - kLampReach : x + kLampReach, kLampHeight - 0.12f, z}; }
};
enum class SignKind { kSpeed, kNoParking, kWarning, kPriority, kParking };
struct Sign {
  float x = 0, z = 0;
  SignKind kind = SignKind::kSpeed;
};

enum class Vista { kHouses, kPark };

/// A street and where its camera hangs; the camera is at z = 0 and looks along +z. Traffic keeps to the right.
struct World {
  explicit World(std::uint64_t seed, const Look& look = {});

  Look look;

  std::array<std::vector<Building>, 2> rows;  // left (x < 0), right
  std::vector<Building> end_row;              // across the end, positions along x
  std::vector<Tree> trees;
  std::vector<Lamp> lamps;
  std::vector<Sign> signs;
  Vista vista = Vista::kHouses;
  int windows = 0;
  double azimuth = 0;  // of +z, degrees clockwise from north
  std::uint64_t seed = 0;

  Vec3 camera;            // m
  float yaw = 0;          // radians, to the right
  float focal = 1;        // in widths of the picture
  float horizon = 0.42f;  // in heights of the picture, from the top

  const Profile& sideOf(float x) const { return look.sides[x > 0]; }
  /// The house of a row that stands at z; nullptr past its ends.
  const Building* at(int row, float z) const;
  bool isSideStreet(int row, float z) const {
    const Building* b = at(row, z);
    return b != nullptr && b->side_street;
  }
  /// 0 in the shade of houses .. 1 in the light that comes from `to_light`; edges are as soft as the sun is wide.
  float lit(Vec3 place, Vec3 to_light) const;
  /// Light of the street lamps on a surface, lux.
  float lampLight(Vec3 place, Vec3 normal) const;

  static constexpr float kFirst = -80;  // where the rows begin

 private:
  static constexpr float kStep = 0.5f;
  std::array<std::vector<float>, 2> heights_;  // per kStep along z from kFirst
};

}  // namespace mpm::scene
