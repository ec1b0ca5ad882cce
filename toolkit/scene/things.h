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

/// All people on the street: each lane is an endless queue that moves at one speed, so people never collide,
/// and any moment can be asked for.
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
