// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "noise.h"
#include "things.h"
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

// Lays a soft spot or streak over the picture; `weight` at its middle.
void streak(const Picture& picture, float x, float y, float dx, float dy, float radius, Vec3 colour, float weight) {
  const float square = std::max(dx * dx + dy * dy, 1e-6f);
  const cv::Rect box = pixelsIn(std::min(x, x + dx) - radius, std::min(y, y + dy) - radius,
                                std::max(x, x + dx) + radius, std::max(y, y + dy) + radius, picture.light.size());
  for (int row = box.y; row < box.br().y; ++row) {
    Vec3* line = picture.light.ptr<Vec3>(row);
    for (int column = box.x; column < box.br().x; ++column) {
      const float px = static_cast<float>(column) + 0.5f - x, py = static_cast<float>(row) + 0.5f - y;
      const float t = clamp01((px * dx + py * dy) / square), qx = px - dx * t, qy = py - dy * t;
      const float near = 1 - (qx * qx + qy * qy) / (radius * radius);
      if (near > 0) line[column] = lerp(line[column], colour, weight * near);
    }
  }
}

}  // namespace

WeatherState weatherAt(Weather weather, std::uint64_t seed, double unix_time) {
  WeatherState state = steady(weather);
  if (weather == Weather::kAuto) {
    const double position = unix_time / kStretch;
    const auto stretch = static_cast<std::int64_t>(std::floor(position));
    const auto into = static_cast<float>(position - static_cast<double>(stretch));
    state = blend(steady(drawn(seed, stretch)), steady(drawn(seed, stretch + 1)), smoothstep(0.75f, 1, into));
  }
  // No two hours of the same weather are the same.
  state.clouds = clamp01(state.clouds * (1 + 0.35f * noiseOfTime(hash(seed, 1), unix_time / 4000)));
  state.rain *= 1 + 0.3f * noiseOfTime(hash(seed, 2), unix_time / 1500);
  state.extinction *= 1 + 0.35f * noiseOfTime(hash(seed, 3), unix_time / 3000);
  state.wind = clamp01(state.wind * (1 + 0.6f * noiseOfTime(hash(seed, 4), unix_time / 40)));
  return state;
}

void drawPrecipitation(const Picture& picture, std::uint64_t seed, double unix_time) {
  const WeatherState& weather = picture.weather;
  const Light& light = picture.moment;
  const auto width = static_cast<float>(picture.light.cols), height = static_cast<float>(picture.light.rows);
  const float unit_px = width / 640;  // sizes below are for a width of 640
  const float slope = (weather.wind - 0.2f) * (unit(hash(seed, 77)) < 0.5f ? -1.0f : 1.0f);
  const double t = std::fmod(unix_time, 7200.0);
  const Vec3 ambient = (light.ambient[0] + light.ambient[3]) * 0.5f + light.lamp_colour * (2.5f * light.lamps);

  if (weather.rain > 0.02f) {
    const int drops = static_cast<int>(750 * weather.rain);
    for (int i = 0; i < drops; ++i) {
      const std::uint64_t key = hash(seed, 0xd409, i);
      const float distance = 2.5f + 16 * unit(key) * unit(mix(key));  // m
      const float speed = picture.view.focal * 7.5f / distance;       // px per s
      const double fallen = unit(mix(key + 1)) + t * static_cast<double>(speed / height);
      const auto turn = static_cast<std::int64_t>(std::floor(fallen));
      const float y = static_cast<float>(fallen - static_cast<double>(turn)) * height * 1.3f - 0.2f * height;
      const float x = unit(hash(key, turn)) * width * 1.3f - 0.15f * width;
      const float way = std::min(speed * 0.011f, 40 * unit_px);  // an exposure of 11 ms
      streak(picture, x, y, way * slope * 0.5f, way, std::max(0.75f, 1.6f * unit_px * 2.5f / distance), ambient * 0.95f,
             0.20f + 0.12f / distance);
    }
  }
  if (weather.snowfall > 0.02f) {
    const int flakes = static_cast<int>(1100 * weather.snowfall);
    for (int i = 0; i < flakes; ++i) {
      const std::uint64_t key = hash(seed, 0xf1a4e, i);
      const float u = unit(key), distance = 1.6f + 26 * u * u;
      const float speed = picture.view.focal * (1.0f + 0.5f * unit(mix(key + 3))) / distance;
      const double fallen = unit(mix(key + 1)) + t * static_cast<double>(speed / height);
      const auto turn = static_cast<std::int64_t>(std::floor(fallen));
      const auto into = static_cast<float>(fallen - static_cast<double>(turn));
      const float y = into * height * 1.2f - 0.1f * height;
      const float swing =
          std::sin(static_cast<float>(1.7 * t) + 6.3f * unit(mix(key + 2))) * picture.view.focal * 0.06f / distance;
      const float x = unit(hash(key, turn)) * width * 1.4f - 0.2f * width + swing + slope * into * height;
      // Near flakes are out of focus: larger and thinner.
      const float radius =
          std::max(0.8f, picture.view.focal * 0.010f / distance + unit_px * 1.6f * std::max(0.0f, 3 - distance));
      streak(picture, x, y, 0, radius * 0.4f, radius, ambient * 1.15f,
             distance < 3 ? 0.45f : std::min(0.85f, 0.5f + 5 / distance));
    }
  }
}

}  // namespace mpm::scene
