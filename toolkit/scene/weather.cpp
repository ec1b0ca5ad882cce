// SPDX-License-Identifier: Apache-2.0
#include "weather.h"

#include <cmath>

#include "noise.h"
#include "vec3.h"
#include "vision/draws.h"

namespace mpm::scene {
namespace {

WeatherState steady(Weather weather) {
  if (weather == Weather::kCloudy) return {0.92f, 0.8f, 0, 0, 0, 0, 0.0016f, 0.5f};
  if (weather == Weather::kRain) return {1, 0.95f, 0.8f, 0, 0, 1, 0.0045f, 0.65f};
  if (weather == Weather::kFog) return {0.8f, 0.85f, 0, 0, 0, 0.12f, 0.022f, 0.1f};
  if (weather == Weather::kSnow) return {1, 0.95f, 0, 0.8f, 0.85f, 0.2f, 0.006f, 0.3f};
  return {0.48f, 0, 0, 0, 0, 0, 0.0007f, 0.35f};
}

WeatherState blend(const WeatherState& a, const WeatherState& b, float t) {
  return {lerp(a.clouds, b.clouds, t),         lerp(a.overcast, b.overcast, t), lerp(a.rain, b.rain, t),
          lerp(a.snowfall, b.snowfall, t),     lerp(a.snow, b.snow, t),         lerp(a.wetness, b.wetness, t),
          lerp(a.extinction, b.extinction, t), lerp(a.wind, b.wind, t)};
}

// One kind of weather per stretch of five hours; snow only where the calendar has winter in the north.
constexpr double kStretch = 5 * 3600;
Weather drawn(std::uint64_t seed, std::int64_t stretch) {
  const double day_of_year = std::fmod(stretch * kStretch / 86400, 365.2425);
  const bool winter = day_of_year < 75 || day_of_year > 330;
  const float u = unit(hash(seed, 0x3ea7, stretch));
  if (u < 0.42f) return Weather::kClear;
  if (u < 0.68f) return Weather::kCloudy;
  if (u < 0.88f) return winter ? Weather::kSnow : Weather::kRain;
  return Weather::kFog;
}

}  // namespace

WeatherState weatherAt(Weather weather, std::uint64_t seed, double unix_time) {
  WeatherState state;
  if (weather == Weather::kAuto) {
    const double position = unix_time / kStretch;
    const auto stretch = static_cast<std::int64_t>(std::floor(position));
    const auto into = static_cast<float>(position - static_cast<double>(stretch));
    state = blend(steady(drawn(seed, stretch)), steady(drawn(seed, stretch + 1)), smoothstep(0.75f, 1, into));
  } else {
    state = steady(weather);
  }
  // No two hours of the same weather are the same.
  state.clouds = clamp01(state.clouds * (1 + 0.35f * noiseOfTime(hash(seed, 1), unix_time / 4000)));
  state.rain *= 1 + 0.3f * noiseOfTime(hash(seed, 2), unix_time / 1500);
  state.extinction *= 1 + 0.35f * noiseOfTime(hash(seed, 3), unix_time / 3000);
  state.wind = clamp01(state.wind * (1 + 0.6f * noiseOfTime(hash(seed, 4), unix_time / 40)));
  return state;
}

}  // namespace mpm::scene
