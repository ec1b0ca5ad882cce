// SPDX-License-Identifier: Apache-2.0
// Vector types and functions, compiled once per instruction set: the guard flips for each (see hwy/foreach_target.h).
#if defined(MPM_KERNELS_CPU_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MPM_KERNELS_CPU_VECTOR_MATH_INL_H_
#undef MPM_KERNELS_CPU_VECTOR_MATH_INL_H_
#else
#define MPM_KERNELS_CPU_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vec = hn::Vec<Floats>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));
// AVX-512 and NEON have 32 vector registers, the others 16. This decides the size of a micro-kernel.
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64;

/// Calls each(d, i) for whole vectors and then for single elements, through the same vector code: the value of an
/// element does not depend on its place.
template <class Each>
HWY_INLINE void forElements(std::ptrdiff_t count, Each each) {
  std::ptrdiff_t i = 0;
  for (; i + kLanes <= count; i += kLanes) each(Floats(), i);
  for (; i < count; ++i) each(hn::CappedTag<float, 1>(), i);
}

template <class D>
HWY_INLINE hn::Vec<D> constant(D d, float value) {
  return hn::Set(d, value);
}

/// 2^x, relative error 1.5e-7; exactly 1 at 0 and exactly 0 from -127 down. x <= 126.
template <class D>
HWY_INLINE hn::Vec<D> exp2(D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> di;
  // Adding 1.5 * 2^23 leaves round(x) in the low bits of the mantissa; shifted by 23 those are the exponent.
  const auto magic = constant(d, 12582912.0f);
  x = hn::Max(x, constant(d, -127.0f));
  const auto shifted = hn::Add(x, magic);
  const auto f = hn::Sub(x, hn::Sub(shifted, magic));
  // 2^f = 1 + f q(f) on [-1/2, 1/2], least maximum error.
  auto p = hn::MulAdd(constant(d, 1.3264708686619997e-3f), f, constant(d, 9.671513922512531e-3f));
  p = hn::MulAdd(p, f, constant(d, 5.550733953714371e-2f));
  p = hn::MulAdd(p, f, constant(d, 2.4022242426872253e-1f));
  p = hn::MulAdd(p, f, constant(d, 6.931470036506653e-1f));
  p = hn::MulAdd(p, f, constant(d, 1.0f));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

/// x / (1 + exp(-argument)).
template <class D>
HWY_INLINE hn::Vec<D> timesSigmoid(D d, hn::Vec<D> x, hn::Vec<D> argument) {
  const auto e = exp2(d, hn::Min(hn::Mul(argument, constant(d, -1.4426950408889634f)), constant(d, 126.0f)));
  return hn::Div(x, hn::Add(constant(d, 1.0f), e));
}

/// Phi(-a) of a >= 0: log2 Phi(-a) = -1 + a p(a), p fitted on [0, 5.5] so that Phi is right to 6e-8. Its leading
/// coefficient is negative, so beyond 5.5 2^... goes to exactly 0. No division, no clamp.
template <class D>
HWY_INLINE hn::Vec<D> normalTail(D d, hn::Vec<D> a) {
  auto p = hn::MulAdd(constant(d, -9.680240964371478e-7f), a, constant(d, 1.6589416190981865e-5f));
  p = hn::MulAdd(p, a, constant(d, -7.801345782354474e-5f));
  p = hn::MulAdd(p, a, constant(d, -3.9109212229959667e-4f));
  p = hn::MulAdd(p, a, constant(d, 7.375792134553194e-3f));
  p = hn::MulAdd(p, a, constant(d, -5.269104987382889e-2f));
  p = hn::MulAdd(p, a, constant(d, -4.591536521911621e-1f));
  p = hn::MulAdd(p, a, constant(d, -1.151110053062439f));
  return exp2(d, hn::MulAdd(p, a, constant(d, -1.0f)));
}

/// x Phi(x) = max(x, 0) - a Phi(-a) with a = |x|.
template <class D>
HWY_INLINE hn::Vec<D> geluErf(D d, hn::Vec<D> x) {
  const auto a = hn::Abs(x);
  return hn::NegMulAdd(a, normalTail(d, a), hn::Max(x, hn::Zero(d)));
}

/// geluErf() and its derivative, Phi(x) + x phi(x).
template <class D>
HWY_INLINE hn::Vec<D> geluErf(D d, hn::Vec<D> x, hn::Vec<D>& slope) {
  const auto a = hn::Abs(x), tail = normalTail(d, a);
  const auto below = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(constant(d, 1.0f), tail));
  const auto density =
      hn::Mul(constant(d, 0.3989422804014327f), exp2(d, hn::Mul(hn::Mul(x, x), constant(d, -0.7213475204444817f))));
  slope = hn::MulAdd(x, density, below);
  return hn::NegMulAdd(a, tail, hn::Max(x, hn::Zero(d)));
}

/// x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))), the tanh form rewritten.
template <class D>
HWY_INLINE hn::Vec<D> geluTanh(D d, hn::Vec<D> x) {
  const auto poly = hn::MulAdd(hn::Mul(x, x), constant(d, 7.135481282e-2f), constant(d, 1.5957691216057308f));
  return timesSigmoid(d, x, hn::Mul(x, poly));
}

/// x from 0 on, else exp(x) - 1: near 0 its series, because the difference would be of nearly equal numbers.
template <class D>
HWY_INLINE hn::Vec<D> elu(D d, hn::Vec<D> x) {
  const auto one = constant(d, 1.0f), below = hn::Min(x, hn::Zero(d));
  const auto far = hn::Sub(exp2(d, hn::Mul(below, constant(d, 1.4426950408889634f))), one);
  auto near = one;  // 1 + x / 2 (1 + x / 3 (1 + ..))
  for (int k = 8; k > 1; --k) near = hn::MulAdd(hn::Mul(near, below), constant(d, 1.0f / static_cast<float>(k)), one);
  const auto negative = hn::IfThenElse(hn::Lt(x, constant(d, -0.5f)), far, hn::Mul(near, below));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), negative, x);
}

/// x tanh(log(1 + e)) with e = exp(x), which is x n / (n + 2) with n = e (e + 2).
template <class D>
HWY_INLINE hn::Vec<D> mish(D d, hn::Vec<D> x) {
  const auto e = exp2(d, hn::Min(hn::Mul(x, constant(d, 1.4426950408889634f)), constant(d, 40.0f)));
  const auto two = constant(d, 2.0f), n = hn::Mul(e, hn::Add(e, two));
  return hn::Mul(x, hn::Div(n, hn::Add(n, two)));
}

/// x min(max(x + 3, 0), 6) / 6.
template <class D>
HWY_INLINE hn::Vec<D> hardSwish(D d, hn::Vec<D> x) {
  const auto raised = hn::Add(x, constant(d, 3.0f));
  const auto share = hn::Mul(hn::Min(hn::Max(raised, hn::Zero(d)), constant(d, 6.0f)), constant(d, 1.0f / 6));
  return hn::Mul(x, share);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#endif  // MPM_KERNELS_CPU_VECTOR_MATH_INL_H_
