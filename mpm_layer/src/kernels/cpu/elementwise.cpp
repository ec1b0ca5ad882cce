// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <cmath>

#include "kernels/cpu/highway_targets.h"
#include "mpm/error.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

float sum(Vec a, Vec b, Vec c, Vec d) {
  return hn::GetLane(hn::SumOfLanes(Floats(), hn::Add(hn::Add(a, b), hn::Add(c, d))));
}

// Four partial sums hide the latency of an addition; a row of 192 is twelve AVX-512 vectors.
float rowMean(const float* HWY_RESTRICT x, int n) {
  const Floats d;
  Vec a = hn::Zero(d), b = a, c = a, e = a;
  int i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    a = hn::Add(a, hn::LoadU(d, x + i));
    b = hn::Add(b, hn::LoadU(d, x + i + kLanes));
    c = hn::Add(c, hn::LoadU(d, x + i + 2 * kLanes));
    e = hn::Add(e, hn::LoadU(d, x + i + 3 * kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) a = hn::Add(a, hn::LoadU(d, x + i));
  float rest = 0;
  for (; i < n; ++i) rest += x[i];
  return (sum(a, b, c, e) + rest) / static_cast<float>(n);
}

float rowVariance(const float* HWY_RESTRICT x, int n, float mean) {
  const Floats d;
  const Vec m = hn::Set(d, mean);
  Vec a = hn::Zero(d), b = a, c = a, e = a;
  int i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const Vec p = hn::Sub(hn::LoadU(d, x + i), m), q = hn::Sub(hn::LoadU(d, x + i + kLanes), m);
    const Vec r = hn::Sub(hn::LoadU(d, x + i + 2 * kLanes), m), s = hn::Sub(hn::LoadU(d, x + i + 3 * kLanes), m);
    a = hn::MulAdd(p, p, a);
    b = hn::MulAdd(q, q, b);
    c = hn::MulAdd(r, r, c);
    e = hn::MulAdd(s, s, e);
  }
  for (; i + kLanes <= n; i += kLanes) {
    const Vec p = hn::Sub(hn::LoadU(d, x + i), m);
    a = hn::MulAdd(p, p, a);
  }
  float rest = 0;
  for (; i < n; ++i) rest += (x[i] - mean) * (x[i] - mean);
  return (sum(a, b, c, e) + rest) / static_cast<float>(n);
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
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);  // Max would turn NaN into 0
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
  switch (activation) {
    case Activation::kGeluErf:
      return activateRow<Activation::kGeluErf>(x, gate, n);
    case Activation::kGeluTanh:
      return activateRow<Activation::kGeluTanh>(x, gate, n);
    case Activation::kGeluQuick:
      return activateRow<Activation::kGeluQuick>(x, gate, n);
    case Activation::kRelu:
      return activateRow<Activation::kRelu>(x, gate, n);
    case Activation::kSilu:
      return activateRow<Activation::kSilu>(x, gate, n);
  }
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

Activation parseActivation(std::string_view name) {
  if (name == "gelu_erf") return Activation::kGeluErf;
  if (name == "gelu_tanh") return Activation::kGeluTanh;
  if (name == "gelu_quick") return Activation::kGeluQuick;
  if (name == "relu") return Activation::kRelu;
  if (name == "silu") return Activation::kSilu;
  throw Error("activation '" + std::string(name) +
              "' is unknown; it can be gelu_erf, gelu_tanh, gelu_quick, relu or silu");
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
  for (int i = 0; i < x.rows; ++i) HWY_DYNAMIC_DISPATCH(rotateRow)
  (x.row(i), heads, x.cols / heads, rotation.row(i), rotation.row(i) + half, pairs, tables > 1 ? pairs : 0);
}

}  // namespace mpm
#endif  // HWY_ONCE
