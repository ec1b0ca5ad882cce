// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "street.h"

namespace mpm::scene {

/// The weather of a moment. Rates and covers are in 0..1.
struct WeatherState {
  float clouds = 0;    ///< share of the sky that clouds cover
  float overcast = 0;  ///< 1: no direct sun, an even grey sky
  float rain = 0;
  float snowfall = 0;
  float snow = 0;        ///< lying on the ground
  float wetness = 0;     ///< of the road
  float extinction = 0;  ///< of the air, per m
  float wind = 0;        ///< 0 calm .. 1 strong
};

WeatherState weatherAt(Weather weather, std::uint64_t seed, double unix_time);

}  // namespace mpm::scene
