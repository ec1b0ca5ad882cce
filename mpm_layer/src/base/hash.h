// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace mpm {

// The only hash of the library and the programs. It never changes: random numbers, parts of a folder and digests of
// models depend on it. No protection against deliberate deception.

/// A bijection of 64 bits in which every input bit reaches every output bit (the finaliser of splitmix64). finalise(0)
/// is 0.
inline std::uint64_t finalise(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

inline constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15u;  ///< in 64 bits; the step of splitmix64

/// Mixes a number that may be 0, which finalise() would keep as 0.
inline std::uint64_t mix(std::uint64_t x) { return finalise(x + kGoldenRatio); }

template <class... Parts>
std::uint64_t hash(std::uint64_t first, Parts... rest) {
  std::uint64_t h = mix(first);
  ((h = mix(h ^ static_cast<std::uint64_t>(rest))), ...);
  return h;
}

/// The hash of bytes, equal on every machine. `before`: the hash of what comes before them.
inline std::uint64_t hashBytes(std::string_view bytes, std::uint64_t before = 0) {
  std::uint64_t h = hash(before, bytes.size());
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t b = i; b < bytes.size() && b < i + 8; ++b)
      word |= std::uint64_t{static_cast<unsigned char>(bytes[b])} << (8 * (b - i));
    h = mix(h ^ word);
  }
  return h;
}

/// A hash as 16 hexadecimal digits.
inline std::string digestText(std::uint64_t hash) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

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
