// SPDX-License-Identifier: Apache-2.0
// Numbers on a device and on the host, for the emulation of on_host.h and for a GPU.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/cuda/device.h"

namespace mpm::cuda::test {

template <typename T>
std::vector<T> fetched(const Stream& stream, const T* device, std::size_t count) {
  std::vector<T> values(count);
  download(stream, device, values.data(), count * sizeof(T));
  stream.wait();
  return values;
}

inline float widened(float x) { return x; }
inline float widened(Bfloat x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x.bits) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline float widened(Half x) {
  const int exponent = (x.bits >> 10) & 31, mantissa = x.bits & 1023;
  const float magnitude = exponent == 0    ? std::ldexp(static_cast<float>(mantissa), -24)
                          : exponent == 31 ? std::numeric_limits<float>::infinity()
                                           : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (x.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// To nearest even, for values that the type has room for.
template <typename T>
T narrowed(float x);
template <>
inline float narrowed<float>(float x) {
  return x;
}
template <>
inline Bfloat narrowed<Bfloat>(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}
template <>
inline Half narrowed<Half>(float x) {
  // The nearest of the truncated value and its neighbours, which is enough for tests.
  const int exponent = std::max(x == 0 ? -14 : std::ilogb(x), -14);
  const float steps = std::nearbyint(std::ldexp(std::abs(x), 10 - exponent));
  const int bits = (exponent + 14) * 1024 + static_cast<int>(steps);
  return {static_cast<std::uint16_t>(bits | (std::signbit(x) ? 0x8000 : 0))};
}

template <typename T>
std::vector<T> narrowedAll(const std::vector<float>& values) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const float value : values) result.push_back(narrowed<T>(value));
  return result;
}
template <typename T>
std::vector<float> widenedAll(const std::vector<T>& values) {
  std::vector<float> result;
  result.reserve(values.size());
  for (const T value : values) result.push_back(widened(value));
  return result;
}

}  // namespace mpm::cuda::test
