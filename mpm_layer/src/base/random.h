// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hash.h"

namespace mpm {

/// Random numbers that are a pure function of a seed and a position: sample i of step s is the same whichever thread
/// makes it, and a run that is resumed needs no state of a generator. Also the same on every platform, which the
/// distributions of the standard library are not. (SplitMix64.)
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(finalise(finalise(seed) ^ stream)) {}

  std::uint64_t bits() { return finalise(state_ += kGoldenRatio); }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double uniform(double from, double to) { return from + (to - from) * uniform(); }
  /// In [0, count).
  int below(int count) { return static_cast<int>(uniform() * count); }
  bool chance(double probability) { return uniform() < probability; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace mpm
