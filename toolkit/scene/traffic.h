// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "weather.h"
#include "world.h"

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

}  // namespace mpm::scene
