// SPDX-License-Identifier: Apache-2.0
#include "noise.h"

#include <cmath>

#include "vec3.h"
#include "vision/draws.h"

namespace mpm::scene {

NoiseField::NoiseField(std::uint64_t key, int octaves) : cells_(kPeriod * kPeriod) {
  // Octave o has kPeriod >> (octaves - 1 - o) values per period; the finest one changes with every second cell.
  float amplitude = 1, square = 0;
  for (int octave = 0; octave < octaves; ++octave, amplitude *= 0.52f) {
    const int values = kPeriod >> (octaves - octave), step = kPeriod / values;
    const auto value = [&](int row, int column) {
      return 2 * unit(hash(key, octave, row % values, column % values)) - 1;
    };
    for (int y = 0; y < kPeriod; ++y) {
      for (int x = 0; x < kPeriod; ++x) {
        const int row = y / step, column = x / step;
        const float a = smoothstep(0, 1, static_cast<float>(x % step) / step);
        const float b = smoothstep(0, 1, static_cast<float>(y % step) / step);
        const float upper = lerp(value(row, column), value(row, column + 1), a);
        const float lower = lerp(value(row + 1, column), value(row + 1, column + 1), a);
        cells_[y * kPeriod + x] += amplitude * lerp(upper, lower, b);
      }
    }
    square += amplitude * amplitude;
  }
  for (float& cell : cells_) cell /= 0.85f * std::sqrt(square);
}

float noiseOfTime(std::uint64_t key, double t) {
  const double whole = std::floor(t);
  const auto index = static_cast<std::int64_t>(whole);
  const float a = 2 * unit(hash(key, index)) - 1, b = 2 * unit(hash(key, index + 1)) - 1;
  return lerp(a, b, smoothstep(0, 1, static_cast<float>(t - whole)));
}

}  // namespace mpm::scene
