// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/rounding.h"
#include "mpm/error.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

// The sum of a row's whole vectors: add(sum so far, vector). Four partial sums hide the latency of an addition; a row
// of 192 is twelve AVX-512 vectors.
template <class Add>
HWY_INLINE float sumOfVectors(const float* HWY_RESTRICT x, int n, Add add) {
  const Floats d;
  Vec a = hn::Zero(d), b = a, c = a, e = a;
  int i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    a = add(a, hn::LoadU(d, x + i));
    b = add(b, hn::LoadU(d, x + i + kLanes));
    c = add(c, hn::LoadU(d, x + i + 2 * kLanes));
    e = add(e, hn::LoadU(d, x + i + 3 * kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) a = add(a, hn::LoadU(d, x + i));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

float rowMean(const float* HWY_RESTRICT x, int n) {
  float rest = 0;
  for (int i = n / kLanes * kLanes; i < n; ++i) rest += x[i];
  return (sumOfVectors(x, n, [](Vec sum, Vec v) HWY_ATTR { return hn::Add(sum, v); }) + rest) / static_cast<float>(n);
}

float rowVariance(const float* HWY_RESTRICT x, int n, float mean) {
  const Vec m = hn::Set(Floats(), mean);
  const auto add = [&](Vec sum, Vec v) HWY_ATTR {
    const Vec centred = hn::Sub(v, m);
    return hn::MulAdd(centred, centred, sum);
  };
  float rest = 0;
  for (int i = n / kLanes * kLanes; i < n; ++i) rest += (x[i] - mean) * (x[i] - mean);
  return (sumOfVectors(x, n, add) + rest) / static_cast<float>(n);
}

void normRow(const float* x, const float* weight, const float* bias, float eps, bool centre, float* y, int n) {
  const Floats d;
  const float mean = centre ? rowMean(x, n) : 0;
  const float scale = 1.0f / std::sqrt(rowVariance(x, n, mean) + eps);
  const Vec m = hn::Set(d, mean), s = hn::Set(d, scale);
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec centred = hn::Mul(hn::Sub(hn::LoadU(d, x + i), m), s);
    hn::StoreU(hn::MulAdd(centred, hn::LoadU(d, weight + i), hn::LoadU(d, bias + i)), d, y + i);
  }
  for (; i < n; ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

template <Activation kActivation, class D>
HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
  if constexpr (kActivation == Activation::kGeluErf) return geluErf(d, x);
  if constexpr (kActivation == Activation::kGeluTanh) return geluTanh(d, x);
  if constexpr (kActivation == Activation::kGeluQuick) return timesSigmoid(d, x, hn::Mul(x, hn::Set(d, 1.702f)));
  if constexpr (kActivation == Activation::kSilu) return timesSigmoid(d, x, x);
  if constexpr (kActivation == Activation::kElu) return elu(d, x);
  if constexpr (kActivation == Activation::kMish) return mish(d, x);
  if constexpr (kActivation == Activation::kHardSwish) return hardSwish(d, x);
  const auto above = hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);  // Max would turn NaN into 0
  return kActivation == Activation::kReluSquared ? hn::Mul(above, above) : above;
}

// `gate` null: in place; else times the gate.
template <Activation kActivation>
void activateRow(float* x, const float* gate, int n) {
  forElements(n, [&](auto d, std::ptrdiff_t i) {
    const auto y = apply<kActivation>(d, hn::LoadU(d, x + i));
    hn::StoreU(gate != nullptr ? hn::Mul(y, hn::LoadU(d, gate + i)) : y, d, x + i);
  });
}

void activateAnyRow(Activation activation, float* x, const float* gate, int n) {
  // In the order of Activation.
  constexpr decltype(&activateRow<Activation::kRelu>) kRow[] = {
      activateRow<Activation::kGeluErf>, activateRow<Activation::kGeluTanh>, activateRow<Activation::kGeluQuick>,
      activateRow<Activation::kRelu>,    activateRow<Activation::kSilu>,     activateRow<Activation::kReluSquared>,
      activateRow<Activation::kElu>,     activateRow<Activation::kMish>,     activateRow<Activation::kHardSwish>};
  kRow[static_cast<int>(activation)](x, gate, n);
}

void geluRow(float* HWY_RESTRICT x, float* HWY_RESTRICT slope, int n) {
  forElements(n, [&](auto d, std::ptrdiff_t i) {
    auto slopes = hn::Zero(d);
    hn::StoreU(geluErf(d, hn::LoadU(d, x + i), slopes), d, x + i);
    hn::StoreU(slopes, d, slope + i);
  });
}

void rotateRow(float* HWY_RESTRICT x, int heads, int head_dim, const float* HWY_RESTRICT cosine,
               const float* HWY_RESTRICT sine, int pairs, int step) {
  const Floats d;
  for (int h = 0; h < heads; ++h, x += head_dim, cosine += step, sine += step) {
    float* const other = x + pairs;
    int j = 0;
    for (; j + kLanes <= pairs; j += kLanes) {
      const Vec a = hn::LoadU(d, x + j), b = hn::LoadU(d, other + j);
      const Vec c = hn::LoadU(d, cosine + j), s = hn::LoadU(d, sine + j);
      hn::StoreU(hn::NegMulAdd(b, s, hn::Mul(a, c)), d, x + j);
      hn::StoreU(hn::MulAdd(b, c, hn::Mul(a, s)), d, other + j);
    }
    for (; j < pairs; ++j) {
      const float a = x[j], b = other[j];
      x[j] = a * cosine[j] - b * sine[j];
      other[j] = a * sine[j] + b * cosine[j];
    }
  }
}

void roundRow(const float* from, std::uint16_t* to, int n) {
  forElements(n, [&](auto d, std::ptrdiff_t i) {
    const hn::RebindToSigned<decltype(d)> di;
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::Rebind<std::uint16_t, decltype(d)> d16;
    const auto x = hn::LoadU(d, from + i);
    const auto bits = hn::BitCast(du, x);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu))));
    const auto nan = hn::BitCast(d, hn::Set(du, 0x7fc0u));
    const auto result = hn::IfThenElse(hn::Eq(x, x), hn::BitCast(d, rounded), nan);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, result)), d16, to + i);
  });
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
  for (; i < n; ++i) largest = std::max(largest, std::bit_cast<std::int32_t>(std::abs(x[i])));
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

float quantiseRow(const float* HWY_RESTRICT x, std::int8_t* HWY_RESTRICT to, int n, float levels) {
  const float largest = largestOrZeros(x, to, n);
  if (!(largest > 0)) return largest;
  const float factor = levels / largest;
  forManyElements(n, [&](auto d, std::ptrdiff_t i) {
    const hn::Rebind<std::int8_t, decltype(d)> d8;
    hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)))), d8, to + i);
  });
  return largest / levels;
}

// The bits of x in fp16, rounded to nearest even; |x| <= 65504. Where the CPU has no instruction for it, Highway's own
// conversion cuts digits off and takes numbers below 2^-14 for 0.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> halfBits(D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x), magnitude = hn::And(bits, hn::Set(di, 0x7fffffff));
  const auto odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(di, 1));
  const auto rounded = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(odd, hn::Set(di, 0x0fff))));
  const auto normal = hn::Sub(rounded, hn::Set(di, (127 - 15) << 10));
  // Numbers below 2^-14 are counted in steps of 2^-24, which is what floats from 0.5 to 1 have.
  const auto half = constant(d, 0.5f);
  const auto small = hn::Sub(hn::BitCast(di, hn::Add(hn::Abs(x), half)), hn::BitCast(di, half));
  const auto is_small = hn::Lt(magnitude, hn::Set(di, (127 - 14) << 23));
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(di, 0x8000));
  return hn::Or(hn::IfThenElse(is_small, small, normal), sign);
}

float halveRow(const float* HWY_RESTRICT x, std::uint16_t* HWY_RESTRICT to, int n, int exponent) {
  const float largest = largestOrZeros(x, to, n);
  if (!(largest > 0)) return largest;
  const int shift = exponent - 1 - std::ilogb(largest);
  const float factor = std::ldexp(1.0f, shift);
  forManyElements(n, [&](auto d, std::ptrdiff_t i) {
    const hn::Rebind<std::uint16_t, decltype(d)> d16;
    hn::StoreU(hn::DemoteTo(d16, halfBits(d, hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)))), d16, to + i);
  });
  return std::ldexp(1.0f, -shift);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
HWY_EXPORT(normRow);
HWY_EXPORT(activateAnyRow);
HWY_EXPORT(geluRow);
HWY_EXPORT(rotateRow);
HWY_EXPORT(roundRow);
HWY_EXPORT(quantiseRow);
HWY_EXPORT(halveRow);

Activation parseActivation(std::string_view name) {
  if (name == "gelu_erf") return Activation::kGeluErf;
  if (name == "gelu_tanh") return Activation::kGeluTanh;
  if (name == "gelu_quick") return Activation::kGeluQuick;
  if (name == "relu") return Activation::kRelu;
  if (name == "silu") return Activation::kSilu;
  if (name == "relu_squared") return Activation::kReluSquared;
  if (name == "elu") return Activation::kElu;
  if (name == "mish") return Activation::kMish;
  if (name == "hard_swish") return Activation::kHardSwish;
  throw Error(
      "activation '" + std::string(name) +
      "' is unknown; it can be gelu_erf, gelu_tanh, gelu_quick, relu, silu, relu_squared, elu, mish or hard_swish");
}

void norm(MatrixView<const float> x, const NormWeights& weights, MatrixView<float> y) {
  const auto& [weight, bias, eps, rms] = weights;
  for (int i = 0; i < x.rows; ++i) HWY_DYNAMIC_DISPATCH(normRow)(x.row(i), weight, bias, eps, !rms, y.row(i), x.cols);
}

void activate(Activation activation, MatrixView<float> x) {
  for (int i = 0; i < x.rows; ++i) HWY_DYNAMIC_DISPATCH(activateAnyRow)(activation, x.row(i), nullptr, x.cols);
}

void geluWithSlope(MatrixView<float> x, MatrixView<float> slope) {
  for (int i = 0; i < x.rows; ++i) HWY_DYNAMIC_DISPATCH(geluRow)(x.row(i), slope.row(i), x.cols);
}

void activateGated(Activation activation, MatrixView<float> x) {
  const int half = x.cols / 2;
  for (int i = 0; i < x.rows; ++i) HWY_DYNAMIC_DISPATCH(activateAnyRow)(activation, x.row(i), x.row(i) + half, half);
}

void rotate(MatrixView<float> x, int heads, MatrixView<const float> rotation, int tables) {
  const int half = rotation.cols / 2, pairs = half / tables;
  for (int i = 0; i < x.rows; ++i) {
    HWY_DYNAMIC_DISPATCH(rotateRow)
    (x.row(i), heads, x.cols / heads, rotation.row(i), rotation.row(i) + half, pairs, tables > 1 ? pairs : 0);
  }
}

bool allFinite(const float* values, std::size_t count) {
  std::uint32_t max = 0;  // of the bits without the sign: those of infinities and NaNs are the largest
  for (std::size_t i = 0; i < count; ++i) max = std::max(max, std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffu);
  return max < 0x7f800000u;
}

void toBf16(const float* from, std::uint16_t* to, int count) { HWY_DYNAMIC_DISPATCH(roundRow)(from, to, count); }

float toInt8(const float* from, std::int8_t* to, int count, int largest) {
  return HWY_DYNAMIC_DISPATCH(quantiseRow)(from, to, count, static_cast<float>(largest));
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
    const float scale = toInt8(x.row(i), values, x.cols, kMaxInt8);
    std::transform(values, values + x.cols, rounded.row(i),
                   [scale](std::int8_t value) { return scale * static_cast<float>(value); });
  }
  return rounded;
}

}  // namespace mpm
#endif  // HWY_ONCE
