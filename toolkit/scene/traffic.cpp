// SPDX-License-Identifier: Apache-2.0
#include "things.h"
#include "vision/draws.h"

namespace mpm::scene {
namespace {

struct Lane {
  ActorKind kind;
  float x, heading, speed;  // speed in m/s
  float slot;               // m between two that follow each other, on average
  float room;               // m that a slot's own place may not leave free of its neighbour
  float presence;           // probability that a slot is taken
};

// Share of the busiest hour: people sleep at night, and go to work and back.
float busyness(double hour) {
  const auto h = static_cast<float>(hour);
  const auto peak = [&](float at, float wide) { return std::exp(-(h - at) * (h - at) / (2 * wide * wide)); };
  return std::min(1.0f, 0.07f + 0.8f * peak(8.3f, 1.4f) + 0.45f * peak(12.8f, 2.2f) + 0.85f * peak(17.6f, 2.1f) +
                            0.3f * peak(21, 1.6f));
}

}  // namespace

std::vector<Actor> actorsAt(const World& world, double unix_time, double local_hour, const WeatherState& weather) {
  const float busy = busyness(local_hour);
  const float outdoors = busy * (1 - 0.45f * weather.rain) * (1 - 0.3f * weather.snowfall);
  std::vector<Lane> lanes;
  const Look& look = world.look;
  for (const float side : {-1.0f, 1.0f}) {
    const Profile& profile = world.sideOf(side);
    const float speed_of_cars = side > 0 ? 10.5f : 9.5f, cars = look.cars * (0.16f + 0.55f * busy);
    lanes.push_back({ActorKind::kCar, side * profile.lane_centre, side, speed_of_cars, 21, 13, cars});
    if (profile.outer_lane > 0)
      lanes.push_back({ActorKind::kCar, side * profile.outer_lane, side, 0.8f * speed_of_cars, 21, 13, cars});
    lanes.push_back({ActorKind::kBicycle, side * profile.cyclists, side, side > 0 ? 5.2f : 4.6f, 20, 3,
                     look.cyclists * (0.06f + 0.5f * outdoors)});
    for (int lane = 0; lane < 4; ++lane) {
      const float heading = lane % 2 == 0 ? 1.0f : -1.0f;
      const float speed = 1.1f + 0.45f * unit(hash(world.seed, 0x1e95, lane, side > 0));
      lanes.push_back({ActorKind::kPedestrian,
                       side * (profile.walkers + profile.walker_lane * static_cast<float>(lane)), heading, speed, 15, 1,
                       look.walkers * (0.04f + 0.42f * outdoors)});
    }
  }
  std::vector<Actor> actors;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    const double gone = static_cast<double>(lane.speed) * lane.heading * unix_time;
    const auto first = static_cast<std::int64_t>(std::floor((2 - gone) / lane.slot)) - 1;
    const auto last = static_cast<std::int64_t>(std::ceil((look.end - gone) / lane.slot));
    for (std::int64_t n = first; n <= last; ++n) {
      const std::uint64_t key = hash(world.seed, 0xac708, i, n);
      if (unit(key) >= lane.presence) continue;
      const float own = unit(mix(key)) * (lane.slot - lane.room);
      const double z = static_cast<double>(n) * lane.slot + own + gone;
      const float aside = lane.kind == ActorKind::kPedestrian ? 0.5f : 0.25f;
      const float x = lane.x + (unit(mix(key + 1)) - 0.5f) * aside;
      const bool ahead = std::abs(x - world.camera.x) < 1.8f;
      if (z < (ahead ? look.clear_ahead : 3) || z > look.end - 4) continue;
      // Modulo a common multiple of wheels and strides that keeps single precision precise.
      const auto way = static_cast<float>(std::fmod(std::abs(gone), 1000.0));
      actors.push_back({lane.kind, x, static_cast<float>(z), lane.heading, way, false, mix(key + 2)});
      actors.back().lorry = unit(mix(key + 3)) < look.lorries;
    }
  }
  for (int side = 0; side < 2; ++side) {
    const Profile& profile = look.sides[side];
    for (int place = 0; profile.parking && place < 32; ++place) {
      const std::uint64_t spot = hash(world.seed, 0x9a84, side, place);
      // Cars come and go every few hours, each bay at different hours.
      const double turn = unix_time / (3600 * (2 + 6 * unit(spot))) + unit(mix(spot));
      const std::uint64_t key = hash(spot, static_cast<std::int64_t>(std::floor(turn)));
      if (unit(key) > look.parked) continue;
      const float z = 8.4f + 5.6f * static_cast<float>(place) + 2.8f;
      const float shift = (unit(mix(key)) - 0.5f) * 0.5f, heading = side == 1 ? 1.0f : -1.0f;
      if (z > look.end - 4) continue;
      actors.push_back({ActorKind::kCar, (side == 1 ? profile.parked : -profile.parked) + 0.25f * shift, z + shift,
                        heading, 0, true, mix(key + 5)});
    }
  }
  return actors;
}

}  // namespace mpm::scene
