// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "canvas.h"

namespace mpm::scene {

enum class ActorKind { kCar, kPedestrian, kBicycle };

/// A person on the street at one moment.
struct Actor {
  ActorKind kind = ActorKind::kCar;
  float x = 0, z = 0;  // m
  float heading = 1;   // +1 away from the camera, -1 towards it
  float way = 0;       // m gone, for legs and wheels
  bool parked = false;
  std::uint64_t key = 0;
  bool lorry = false;  // of a car
};

/// All people on the street at any moment. A lane is an endless queue that moves at one speed: people never collide.
std::vector<Actor> actorsAt(const World& world, double unix_time, double local_hour, const WeatherState& weather);

// Things that stand or move on the street. Each draws itself over the picture, from far to near in the caller's order.

/// True when drivers have their lights on.
bool headlightsOn(const Light& light, const WeatherState& weather);

void drawCar(Canvas& canvas, const Picture& picture, const Actor& car);
void drawPedestrian(Canvas& canvas, const Picture& picture, const Actor& walker);
void drawCyclist(Canvas& canvas, const Picture& picture, const Actor& rider);
void drawLamp(Canvas& canvas, const Picture& picture, const Lamp& lamp);
/// Light that the air around a lamp throws back: nothing in clear air, a ball of light in fog.
void drawHalo(const Picture& picture, Vec3 source, Vec3 glow);
void drawSign(Canvas& canvas, const Picture& picture, const Sign& sign);

/// The state of the trees on a day of the year.
struct Season {
  float leaves = 1;  ///< share of the leaves that hang
  float autumn = 0;  ///< 0 green .. 1 gold
  float spring = 0;  ///< 1: the light green of May
};
Season seasonAt(double unix_time, double latitude);

/// A tree as the camera sees it: drawn once with all that light needs, bent by the wind in every picture.
class TreeSprite {
 public:
  TreeSprite(const Tree& tree, const View& view, float leaves);

  void draw(const Picture& picture, const Season& season, double unix_time) const;

  struct Puff {
    Vec3 centre;
    float radius;
  };
  /// Balls of leaves whose shades make the tree's.
  const std::vector<Puff>& puffs() const { return puffs_; }
  const Tree& tree() const { return tree_; }

 private:
  struct Texel {
    float alpha = 0, open = 0, leaf = 0;  // all but alpha times alpha
    bool inside = false;                  // of the outline of a crown that is labelled as a whole
    Vec3 albedo, normal;
  };
  void markInside();

  Tree tree_;
  cv::Point origin_;  // of the sprite in the picture, px
  int width_ = 0, height_ = 0;
  float scale_ = 1;  // px per m
  std::vector<Texel> texels_;
  std::vector<Puff> puffs_;
};

/// Rain streaks or snow flakes between the camera and the street.
void drawPrecipitation(const Picture& picture, std::uint64_t seed, double unix_time);

/// Outlines whose projection along the light is the thing's shade, as boxes {low, high}.
struct Box {
  Vec3 low, high;
};
std::vector<Box> shadeOf(const Actor& actor);

/// Darkens the ground under a thing that keeps the sky's light off it, and lights it in front of headlights.
void drawContact(const Picture& picture, const Actor& actor);
void drawHeadlightPool(const Picture& picture, const Actor& car);

}  // namespace mpm::scene
