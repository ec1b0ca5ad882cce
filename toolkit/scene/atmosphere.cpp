// SPDX-License-Identifier: Apache-2.0
#include "atmosphere.h"

namespace mpm::scene {
namespace {

constexpr float kEarth = 6371, kTop = 60;  // km
// Scattering per km at sea level for red, green, blue; ozone absorbs where its layer is densest.
constexpr Vec3 kRayleigh = {5.8e-3f, 13.5e-3f, 33.1e-3f};
constexpr Vec3 kMie = {6e-3f, 6e-3f, 6e-3f};
constexpr Vec3 kOzone = {0.65e-3f, 1.88e-3f, 0.085e-3f};

struct Density {
  float rayleigh, mie, ozone;
};
Density densityAt(float altitude) {
  return {std::exp(-altitude / 8.0f), std::exp(-altitude / 1.2f), std::max(0.0f, 1 - std::abs(altitude - 25) / 15)};
}

Vec3 extinction(Density d) { return kRayleigh * d.rayleigh + kMie * (1.1f * d.mie) + kOzone * d.ozone; }

// Length of the way to the top of the air, in km, from a distance to the Earth's centre and the sine of the elevation.
float wayOut(float radius, float sine) {
  const float inside = radius * radius * (sine * sine - 1) + (kEarth + kTop) * (kEarth + kTop);
  return -radius * sine + std::sqrt(std::max(inside, 0.0f));
}

float altitudeAfter(float radius, float sine, float way) {
  return std::sqrt(radius * radius + way * way + 2 * radius * sine * way) - kEarth;
}

}  // namespace

Atmosphere::Atmosphere() {
  for (int i = 0; i < kAltitudes; ++i)
    for (int j = 0; j < kSines; ++j) {
      const float relative = static_cast<float>(i) / (kAltitudes - 1), altitude = kTop * relative * relative;
      const float u = 2 * static_cast<float>(j) / (kSines - 1) - 1, sine = u * std::abs(u);
      const float radius = kEarth + altitude;
      Vec3 depth;
      constexpr int kSteps = 48;
      const float way = wayOut(radius, sine);
      float lowest = altitude;
      for (int step = 0; step < kSteps; ++step) {
        const float h = altitudeAfter(radius, sine, way * (step + 0.5f) / kSteps);
        lowest = std::min(lowest, h);
        depth += extinction(densityAt(std::max(h, 0.0f))) * (way / kSteps);
      }
      // The sun is a disc and the air bends its light: the edge of the Earth's shadow is not sharp.
      table_[i * kSines + j] = exp(depth * -1) * smoothstep(-6, 1, lowest);
    }
}

Vec3 Atmosphere::transmittance(float altitude, float sine) const {
  const float i = std::sqrt(clamp01(altitude / kTop)) * (kAltitudes - 1);
  const float j = (std::copysign(std::sqrt(std::min(std::abs(sine), 1.0f)), sine) + 1) / 2 * (kSines - 1);
  const int i0 = std::min(static_cast<int>(i), kAltitudes - 2), j0 = std::min(static_cast<int>(j), kSines - 2);
  const Vec3* low = &table_[i0 * kSines + j0];
  const float b = j - static_cast<float>(j0);
  return lerp(lerp(low[0], low[1], b), lerp(low[kSines], low[kSines + 1], b), i - static_cast<float>(i0));
}

Vec3 Atmosphere::radiance(Vec3 view, Vec3 sun) const {
  constexpr int kSteps = 14;
  const float sine = std::max(view.y, 0.01f), radius = kEarth + 0.05f, way = wayOut(radius, sine);
  const float cosine = dot(view, sun);
  const float rayleigh = 3 / (16 * kPi) * (1 + cosine * cosine);
  constexpr float g = 0.78f;
  const float mie =
      3 / (8 * kPi) * (1 - g * g) * (1 + cosine * cosine) / ((2 + g * g) * std::pow(1 + g * g - 2 * g * cosine, 1.5f));
  Vec3 depth, light;
  float from = 0;
  for (int step = 0; step < kSteps; ++step) {
    const float end = (step + 1.0f) / kSteps, to = way * end * end, length_of_step = to - from;
    const float s = (from + to) / 2, h = altitudeAfter(radius, sine, s);
    from = to;
    const Density density = densityAt(h);
    const Vec3 half = extinction(density) * (length_of_step / 2);
    depth += half;
    const Vec3 up = Vec3{view.x * s, radius + view.y * s, view.z * s} * (1 / (kEarth + h));
    const float height_of_sun = dot(up, sun);
    const Vec3 direct = transmittance(h, height_of_sun);
    const Vec3 scattered = kRayleigh * density.rayleigh, hazed = kMie * density.mie;
    // Light scattered before: as if the lower sky glowed evenly with part of what passes this height.
    const Vec3 again = transmittance(h + 4, height_of_sun + 0.06f) * 0.017f;
    light +=
        exp(depth * -1) * length_of_step * (scattered * (direct * rayleigh + again) + hazed * (direct * mie + again));
    depth += half;
  }
  return light;
}

}  // namespace mpm::scene
