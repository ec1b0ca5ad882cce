// SPDX-License-Identifier: Apache-2.0
// What every test of this folder stands on. The same sources are linked to the emulation of on_host.h (they always run)
// and to the kernels for a GPU (label cuda; they skip where there is none).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>

#include "kernels/cuda/device.h"
#include "kernels/random.h"

namespace mpm::cuda::test {

using mpm::test::normal;

/// The orders of threads and blocks that a test goes through: one where the machine decides.
std::vector<unsigned> schedules();
void useSchedule(unsigned schedule);

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) {
      ASSERT_EQ(std::getenv("MPM_REQUIRE_GPU"), nullptr) << "no usable CUDA device here";
      GTEST_SKIP() << "no usable CUDA device here";
    }
    stream_ = std::make_unique<Stream>(devices().front().index);
  }
  const Stream& stream() const { return *stream_; }

  template <typename T>
  std::vector<T> fetched(const T* device, std::size_t count) const {
    std::vector<T> values(count);
    download(stream(), device, values.data(), count * sizeof(T));
    stream().wait();
    return values;
  }

 private:
  std::unique_ptr<Stream> stream_;
};

/// A packed batch on the device: `rows` of each image, all `dim` wide.
struct Packed {
  std::vector<int> rows, offsets;
  int dim;
  std::vector<float> values;
  Buffer<float> data;
  Buffer<int> device_offsets;
  Ragged ragged;

  Packed(const Stream& stream, std::vector<int> row_counts, std::vector<float> all, int columns)
      : rows(std::move(row_counts)), offsets(rows.size() + 1), dim(columns), values(std::move(all)) {
    std::partial_sum(rows.begin(), rows.end(), offsets.begin() + 1);
    data = uploaded(stream, values);
    device_offsets = uploaded(stream, offsets);
    ragged = {static_cast<int>(rows.size()), device_offsets.data(), offsets.back(),
              *std::max_element(rows.begin(), rows.end())};
    stream.wait();
  }
  static Packed random(const Stream& stream, const std::vector<int>& rows, int dim, unsigned seed, float sigma = 1) {
    const int total = std::accumulate(rows.begin(), rows.end(), 0);
    return {stream, rows, normal(static_cast<std::size_t>(total) * static_cast<std::size_t>(dim), seed, sigma), dim};
  }
  const float* row(int image, int i) const {
    return values.data() + static_cast<std::ptrdiff_t>(offsets[image] + i) * dim;
  }
};

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
