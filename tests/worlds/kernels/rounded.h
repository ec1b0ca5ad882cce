// SPDX-License-Identifier: Apache-2.0
// What kernels/cpu/rounding.h promises, by its definition in double precision.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace mpm::worlds {

inline double bf16Value(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

inline double fp16Value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                           : exponent == 31 ? (mantissa != 0 ? NAN : INFINITY)
                                            : std::ldexp(mantissa + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// `to` is the bf16 nearest to `from`, of two that are as near the one with an even mantissa; NaN stays NaN.
inline bool isBf16Of(std::uint16_t to, float from) {
  if (std::isnan(from)) return std::isnan(bf16Value(to));
  const std::uint32_t all = std::bit_cast<std::uint32_t>(from), below = all >> 16, cut = all & 0xffffu;
  const bool up = cut > 0x8000u || (cut == 0x8000u && (below & 1u) != 0);
  return to == below + (up ? 1 : 0);
}

inline double largestOf(std::span<const float> values) {
  double largest = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) return NAN;
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return largest;
}

/// A row of nothing but zeros, or one with a number that is not finite, has no steps: its numbers are 0 and its scale
/// is 0, or NaN. Nothing for any other row; else whether this one is as it must be.
template <typename IsZero>
std::optional<bool> isRowWithoutSteps(float scale, double largest, std::size_t count, IsZero is_zero) {
  if (largest >= 1e-30) return std::nullopt;
  bool right = std::isnan(largest) ? std::isnan(scale) : scale == 0;
  for (std::size_t i = 0; i < count; ++i) right = right && is_zero(i);
  return right;
}

/// Rows of numbers up to `most`.
inline bool isInt8Of(float scale, const std::int8_t* to, std::span<const float> from, int most) {
  const double largest = largestOf(from);
  if (const auto right = isRowWithoutSteps(scale, largest, from.size(), [&](std::size_t i) { return to[i] == 0; })) {
    return *right;
  }
  if (std::abs(static_cast<double>(scale) * most / largest - 1) > 1e-6) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    // Half a step, and what fp32 rounds of it.
    const double steps = static_cast<double>(from[i]) / largest * most;
    if (std::abs(int{to[i]}) > most || std::abs(steps - to[i]) > 0.5 + 2e-5) return false;
  }
  return true;
}

inline bool isFp16Of(float scale, const std::uint16_t* to, std::span<const float> from, int exponent) {
  const double largest = largestOf(from);
  if (const auto right =
          isRowWithoutSteps(scale, largest, from.size(), [&](std::size_t i) { return fp16Value(to[i]) == 0; })) {
    return *right;
  }
  int power;
  if (std::frexp(static_cast<double>(scale), &power) != 0.5) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double wanted = static_cast<double>(from[i]) / static_cast<double>(scale), found = fp16Value(to[i]);
    if (std::abs(found) > std::ldexp(1.0, exponent)) return false;
    const double step = std::ldexp(1.0, std::max(wanted == 0 ? -14 : std::ilogb(wanted), -14) - 10);
    if (!(std::abs(found - wanted) <= step / 2)) return false;
  }
  return true;
}

}  // namespace mpm::worlds
