// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/cpu/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rounding.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

void roundRow(const float* from, std::uint16_t* to, int n) {
  const hn::RebindToSigned<Floats> di;
  const hn::RebindToUnsigned<Floats> du;
  const hn::Rebind<std::uint16_t, Floats> d16;
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec x = hn::LoadU(Floats(), from + i);
    const auto bits = hn::BitCast(du, x);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu))));
    const auto nan = hn::BitCast(Floats(), hn::Set(du, 0x7fc0u));
    const auto result = hn::IfThenElse(hn::Eq(x, x), hn::BitCast(Floats(), rounded), nan);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, result)), d16, to + i);
  }
  for (; i < n; ++i) {
    std::uint32_t bits;
    hwy::CopyBytes<4>(from + i, &bits);
    to[i] = from[i] == from[i] ? static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)
                               : std::uint16_t{0x7fc0};
  }
}

// forElements(), unrolled: the steps below are short beside those of a loop.
template <class Each>
HWY_INLINE void forManyElements(std::ptrdiff_t count, Each each) {
  const std::ptrdiff_t whole = count / (4 * kLanes) * (4 * kLanes);
  for (std::ptrdiff_t i = 0; i < whole; i += 4 * kLanes) {
    each(Floats(), i);
    each(Floats(), i + kLanes);
    each(Floats(), i + 2 * kLanes);
    each(Floats(), i + 3 * kLanes);
  }
  forElements(count - whole, [&](auto d, std::ptrdiff_t i) { each(d, whole + i); });
}

// |x| as an integer grows with |x|, and is largest for infinity and NaN.
std::int32_t largestBits(const float* HWY_RESTRICT x, int n) {
  const hn::RebindToSigned<Floats> di;
  const auto bits = [&](int i) { return hn::BitCast(di, hn::Abs(hn::LoadU(Floats(), x + i))); };
  auto a = hn::Zero(di), b = a;
  int i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    a = hn::Max(a, hn::Max(bits(i), bits(i + kLanes)));
    b = hn::Max(b, hn::Max(bits(i + 2 * kLanes), bits(i + 3 * kLanes)));
  }
  for (; i + kLanes <= n; i += kLanes) a = hn::Max(a, bits(i));
  std::int32_t largest = hn::GetLane(hn::MaxOfLanes(di, hn::Max(a, b)));
  for (; i < n; ++i) {
    const float magnitude = std::abs(x[i]);
    std::int32_t rest;
    hwy::CopyBytes<4>(&magnitude, &rest);
    largest = std::max(largest, rest);
  }
  return largest;
}

// The largest |x|. Of a row that is too small or not finite the scale instead, 0 or NaN, and zeros in `to`.
template <class T>
float largestOrZeros(const float* HWY_RESTRICT x, T* HWY_RESTRICT to, int n) {
  const auto largest = std::bit_cast<float>(largestBits(x, n));
  if (largest >= 1e-30f && largest <= std::numeric_limits<float>::max()) return largest;
  std::fill_n(to, n, T{0});
  return largest < 1e-30f ? 0.0f : std::numeric_limits<float>::quiet_NaN();
}

float quantiseRow(const float* HWY_RESTRICT x, std::int8_t* HWY_RESTRICT to, int n) {
  const float largest = largestOrZeros(x, to, n);
  if (!(largest > 0)) return largest;
  const float factor = 127.0f / largest;
  forManyElements(n, [&](auto d, std::ptrdiff_t i) {
    const hn::Rebind<std::int8_t, decltype(d)> d8;
    hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)))), d8, to + i);
  });
  return largest / 127.0f;
}

float halveRow(const float* HWY_RESTRICT x, std::uint16_t* HWY_RESTRICT to, int n, int exponent) {
  const float largest = largestOrZeros(x, to, n);
  if (!(largest > 0)) return largest;
  const int shift = exponent - 1 - std::ilogb(largest);
  const float factor = std::ldexp(1.0f, shift);
  forManyElements(n, [&](auto d, std::ptrdiff_t i) {
    const hn::Rebind<hwy::float16_t, decltype(d)> d16;
    const hn::Rebind<std::uint16_t, decltype(d)> bits16;
    hn::StoreU(hn::BitCast(bits16, hn::DemoteTo(d16, hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)))), bits16,
               to + i);
  });
  return std::ldexp(1.0f, -shift);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
HWY_EXPORT(roundRow);
HWY_EXPORT(quantiseRow);
HWY_EXPORT(halveRow);

void toBf16(const float* from, std::uint16_t* to, int count) { HWY_DYNAMIC_DISPATCH(roundRow)(from, to, count); }

float toInt8(const float* from, std::int8_t* to, int count) {
  return HWY_DYNAMIC_DISPATCH(quantiseRow)(from, to, count);
}

float toFp16(const float* from, std::uint16_t* to, int count, int exponent) {
  return HWY_DYNAMIC_DISPATCH(halveRow)(from, to, count, exponent);
}

MatrixView<const float> roundedToInt8(MatrixView<const float> x, Scratch<float>& memory) {
  thread_local Scratch<std::int8_t> row;
  const auto cols = static_cast<std::size_t>(x.cols);
  const MatrixView<float> rounded(memory.atLeast(static_cast<std::size_t>(x.rows) * cols), x.rows, x.cols);
  std::int8_t* const values = row.atLeast(cols);
  for (int i = 0; i < x.rows; ++i) {
    const float scale = toInt8(x.row(i), values, x.cols);
    std::transform(values, values + x.cols, rounded.row(i),
                   [scale](std::int8_t value) { return scale * static_cast<float>(value); });
  }
  return rounded;
}

}  // namespace mpm
#endif  // HWY_ONCE
