// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace mpm::scene {

/// Smooth noise of several octaves that repeats every kPeriod cells, mean 0, about -1..1: clouds, stains, asphalt.
class NoiseField {
 public:
  static constexpr int kPeriod = 256;
  NoiseField(std::uint64_t key, int octaves);

  float at(float u, float v) const {
    const float fu = floorOf(u), fv = floorOf(v);
    const int column = static_cast<int>(static_cast<std::int64_t>(fu) & (kPeriod - 1));
    const int row = static_cast<int>(static_cast<std::int64_t>(fv) & (kPeriod - 1));
    const float a = u - fu, b = v - fv;
    const int next = (column + 1) & (kPeriod - 1);
    const float* top = &cells_[row * kPeriod];
    const float* bottom = &cells_[((row + 1) & (kPeriod - 1)) * kPeriod];
    const float upper = top[column] + (top[next] - top[column]) * a;
    const float lower = bottom[column] + (bottom[next] - bottom[column]) * a;
    return upper + (lower - upper) * b;
  }

 private:
  // std::floor is a call without SSE4.1, and this is the inner loop of the sky.
  static float floorOf(float v) {
    const auto whole = static_cast<float>(static_cast<int>(v));
    return whole > v ? whole - 1 : whole;
  }
  std::vector<float> cells_;
};

/// Smooth noise of one variable, mean 0, -1..1, one independent value per unit.
float noiseOfTime(std::uint64_t key, double t);

}  // namespace mpm::scene
