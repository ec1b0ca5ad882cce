// SPDX-License-Identifier: Apache-2.0
#include <opencv2/imgproc.hpp>

#include "backdrop.h"
#include "vision/draws.h"

namespace mpm::scene {

Heavens::Heavens(std::uint64_t seed, const View& view, cv::Size size)
    : seed_(seed), view_(view), size_(size), shapes_(hash(seed, 21), 5), wisps_(hash(seed, 22), 4) {}

void Heavens::paint(const Light& light, const WeatherState& weather, double unix_time, int rows, cv::Mat& picture) {
  if (rows <= 0) return;
  // Without clouds the sky is smooth: a coarse grid and cubic steps between.
  constexpr int kCell = 32;
  const int grid_rows = rows / kCell + 2, grid_columns = size_.width / kCell + 2;
  coarse_.create(grid_rows, grid_columns, CV_32FC3);
  for (int i = 0; i < grid_rows; ++i) {
    for (int j = 0; j < grid_columns; ++j) {
      coarse_.ptr<Vec3>(i)[j] = behindClouds(
          normalized(view_.ray(static_cast<float>(j) * kCell, static_cast<float>(i) * kCell)), light, weather);
    }
  }

  const int half_rows = (rows + 1) / 2, half_columns = (size_.width + 1) / 2;
  half_.create(half_rows, half_columns, CV_32FC3);
  veil_.create(half_rows, half_columns, CV_32F);
  // Clouds drift with the wind and change as two layers slide over each other.
  const double drift = std::fmod(unix_time * (0.05 + 0.05 * unit(seed_)), 100.0 * NoiseField::kPeriod);
  const auto drift_x = static_cast<float>(drift), drift_z = static_cast<float>(0.35 * drift);
  const float cover = 0.75f - 1.5f * weather.clouds;  // noise above this is cloud
  const float solid = 1 - 0.75f * weather.overcast;   // under an overcast, clouds are folds in the grey
  const float horizon_air = 9 * weather.extinction;
  const Vec3 to_light = light.sun_direction;
  const float slant = 1 / std::max(to_light.y, 0.12f);
  const float step_x = std::clamp(to_light.x * slant, -2.5f, 2.5f) * 1.7f,
              step_z = std::clamp(to_light.z * slant, -2.5f, 2.5f) * 1.7f;
  for (int i = 0; i < half_rows; ++i) {
    Vec3* out = half_.ptr<Vec3>(i);
    float* veil = veil_.ptr<float>(i);
    const float gy = std::min((2 * static_cast<float>(i) + 1) / kCell, static_cast<float>(grid_rows) - 1.001f);
    const int g0 = static_cast<int>(gy);
    const float b = gy - static_cast<float>(g0);
    for (int j = 0; j < half_columns; ++j) {
      const float gx = std::min((2 * static_cast<float>(j) + 1) / kCell, static_cast<float>(grid_columns) - 1.001f);
      const int h0 = static_cast<int>(gx);
      const float a = gx - static_cast<float>(h0);
      const Vec3* above = coarse_.ptr<Vec3>(g0) + h0;
      const Vec3* below = coarse_.ptr<Vec3>(g0 + 1) + h0;
      Vec3 colour = lerp(lerp(above[0], above[1], a), lerp(below[0], below[1], a), b);
      const Vec3 ray = view_.ray(2 * static_cast<float>(j) + 1, 2 * static_cast<float>(i) + 1);
      const float steep = std::max(ray.y, 0.0f), spread = 30 / (steep + 0.09f);
      const float u = ray.x * spread + drift_x, v = ray.z * spread + drift_z;
      const float shape = shapes_.at(u, v) + 0.42f * wisps_.at(u * 2.3f - 0.6f * drift_x, v * 2.3f);
      const float density = smoothstep(cover, cover + 0.85f, shape) * solid;
      *veil++ = density;
      if (density > 0.004f) {
        // Less cloud towards the light means a lit flank.
        const float flank = shape - shapes_.at(u + step_x, v + step_z) -
                            0.42f * wisps_.at((u + step_x) * 2.3f - 0.6f * drift_x, (v + step_z) * 2.3f);
        const float lit = clamp01(0.62f + 0.55f * flank - 0.30f * density);
        const float cosine = std::max(dot(ray, light.to_sun) / length(ray), 0.0f);
        const float silver = 1 + 2.2f * std::pow(cosine, 12.0f) * (1 - density);
        const Vec3 cloud = light.cloud_shade * (0.62f + 0.38f * lit) +
                           light.cloud_sun * (0.30f * lit * silver * (1 - weather.overcast));
        colour = lerp(colour, cloud, density * smoothstep(0.0f, 0.10f, ray.y + 0.015f) * 0.93f);
      }
      const float clear = std::exp(-horizon_air * 38 / (steep + 0.05f));
      out[j] = lerp(light.fog, colour, clear);
    }
  }
  cv::resize(half_, whole_, {2 * half_columns, 2 * half_rows}, 0, 0, cv::INTER_LINEAR);
  const cv::Rect seen(0, 0, picture.cols, std::min(2 * half_rows, picture.rows));
  whole_(seen).copyTo(picture(seen));

  if (light.day < 20 && weather.overcast < 0.5f) {
    Draws draws(hash(seed_, 0x57a5));
    const float fade = smoothstep(20, 0.5f, light.day) * (1 - weather.overcast);
    for (int i = 0; i < 420; ++i) {
      const float turn =
          draws.uniform(0, 2 * kPi) + static_cast<float>(std::fmod(unix_time, 86164.1) / 86164.1 * 2 * kPi);
      const float y = draws.uniform(-1, 1), across = std::sqrt(1 - y * y), bright = 0.07f / (0.03f + draws.uniform());
      // They turn about an axis that leans to the north by about the height of the pole.
      const Vec3 fixed = {across * std::sin(turn), y, across * std::cos(turn)};
      const Vec3 star = {fixed.x, 0.74f * fixed.y + 0.67f * fixed.z, 0.74f * fixed.z - 0.67f * fixed.y};
      const View::Projected p = view_.project(view_.place + star * 1e4f);
      const int x = static_cast<int>(p.x), row = static_cast<int>(p.y);
      if (star.y < 0.04f || p.depth <= 0 || x < 0 || x >= size_.width || row < 0 || row >= rows) continue;
      const float veil = veil_.ptr<float>(row / 2)[x / 2];
      picture.ptr<Vec3>(row)[x] += Vec3{1, 1, 1.05f} * (bright * fade * (1 - veil) * smoothstep(0.04f, 0.3f, star.y));
    }
  }
  disc(picture, rows, light.to_moon, 0.62f,
       Vec3{1, 0.97f, 0.9f} * (26 * (1 - weather.overcast) + 0.35f * light.day * (1 - weather.overcast)),
       light.moon_illuminated, light.to_sun);
  disc(picture, rows, light.to_sun, 0.56f, light.sun * (14 * (1 - weather.overcast)), 1, light.to_sun);
}

void Heavens::disc(cv::Mat& picture, int rows, Vec3 towards, float degrees, Vec3 colour, float illuminated,
                   Vec3 to_sun) const {
  const View::Projected centre = view_.project(view_.place + towards * 1e5f);
  if (towards.y < -0.02f || centre.depth <= 0) return;
  const float radius = std::max(view_.focal * degrees * kPi / 360, 1.2f);
  if (centre.x < -radius || centre.y < -radius || centre.x > static_cast<float>(size_.width) + radius ||
      centre.y > static_cast<float>(rows) + radius)
    return;
  const View::Projected sun = view_.project(view_.place + to_sun * 1e5f);
  // The lit side looks to the sun, along the great circle that the picture shows as a line.
  float dx = sun.x - centre.x, dy = sun.y - centre.y;
  if (sun.depth <= 0) {
    dx = -dx;
    dy = -dy;
  }
  const float way = std::max(std::hypot(dx, dy), 1e-3f);
  dx /= way;
  dy /= way;
  for (int y = std::max(0, static_cast<int>(centre.y - radius - 1));
       y < std::min(rows, static_cast<int>(centre.y + radius + 2)); ++y) {
    for (int x = std::max(0, static_cast<int>(centre.x - radius - 1));
         x < std::min(size_.width, static_cast<int>(centre.x + radius + 2)); ++x) {
      const float px = (static_cast<float>(x) + 0.5f - centre.x) / radius,
                  py = (static_cast<float>(y) + 0.5f - centre.y) / radius;
      const float inside = clamp01((1 - std::hypot(px, py)) * radius + 0.5f);
      if (inside <= 0) continue;
      const float along = px * dx + py * dy, across = px * dy - py * dx;
      const float terminator = (1 - 2 * illuminated) * std::sqrt(std::max(1 - across * across, 0.0f));
      const float lit = illuminated >= 1 ? 1 : clamp01((along - terminator) * radius + 0.5f);
      const float veil = veil_.ptr<float>(y / 2)[x / 2];
      picture.ptr<Vec3>(y)[x] += colour * (inside * lit * std::pow(1 - veil, 3.0f));
    }
  }
}

}  // namespace mpm::scene
