// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace mpm::train {

/// Random numbers that are a pure function of a seed and a position: sample i of step s is the same whichever thread
/// makes it, and a run that is resumed needs no state of a generator. Also the same on every platform, which the
/// distributions of the standard library are not. (SplitMix64.)
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(mix(seed) ^ stream)) {}

  std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15u); }
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
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

}  // namespace mpm::train
