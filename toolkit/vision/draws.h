// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "base/hash.h"

namespace mpm {

// Everything random here is a hash of what it belongs to (a seed, a window, a car, a pixel of a frame), never the next
// number of a stream: so a moment can be rendered without the moments before it.

/// In [0, 1).
inline float unit(std::uint64_t hashed) { return static_cast<float>(hashed >> 40) * 0x1p-24f; }

/// A short sequence of draws for one thing.
class Draws {
 public:
  explicit Draws(std::uint64_t key) : key_(key) {}
  std::uint64_t bits() { return mix(key_ ^ ++count_ * 0xd1342543de82ef95u); }
  float uniform(float low = 0, float high = 1) { return low + (high - low) * unit(bits()); }
  int integer(int below) { return static_cast<int>(bits() % static_cast<std::uint64_t>(below)); }
  bool chance(float probability) { return uniform() < probability; }
  template <class List>
  const auto& one(const List& list) {
    return list[static_cast<std::size_t>(integer(static_cast<int>(std::size(list))))];
  }

 private:
  std::uint64_t key_;
  std::uint64_t count_ = 0;
};

/// Standard normal deviates at 4096 equal steps of probability, scaled to unit variance: a draw is one look-up.
const std::array<float, 4096>& normalQuantiles();

/// A Poisson deviate of any mean >= 0 from 32 random bits: by inversion below 12, above by its Cornish-Fisher
/// expansion, whose mean, variance and skewness are those of the distribution.
inline float poisson(float mean, std::uint32_t bits, const std::array<float, 4096>& quantiles) {
  if (mean >= 12) {
    const float z = quantiles[bits >> 20];
    return std::fmax(0.0f, std::nearbyint(mean + std::sqrt(mean) * z + (z * z - 1) * (1.0f / 6)));
  }
  if (!(mean > 0)) return 0;
  const float u = static_cast<float>(bits >> 8) * 0x1p-24f;
  float probability = std::exp(-mean), sum = probability;
  int count = 0;
  while (u >= sum && count < 60) sum += probability *= mean / static_cast<float>(++count);
  return static_cast<float>(count);
}

}  // namespace mpm
