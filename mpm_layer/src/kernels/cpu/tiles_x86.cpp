// SPDX-License-Identifier: Apache-2.0
// Register tiles in int8 for x86-64 CPUs with AVX-VNNI and without AVX-512: Intel since the 12th generation, N100.
// vpdpbusd multiplies unsigned x by signed w, so x has an offset of 128.
#include "kernels/cpu/tiles.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // gcc 12 warns about its own intrinsics
#endif
#include <immintrin.h>

#include <utility>

#include "kernels/instruction_set.h"

#define MPM_AVX_VNNI __attribute__((target("avx2,fma,avxvnni")))
#define MPM_INLINE MPM_AVX_VNNI __attribute__((always_inline)) inline

namespace mpm {
namespace {

// 4 x 3 sums, 3 vectors of w and one word of x fill the 16 registers.
constexpr int kRows = 4, kLanes = 8;
using Rows = std::make_index_sequence<kRows>;

// sums += word w. gcc 12 copies the sums around the intrinsic, and stores them in each step.
MPM_INLINE void multiplyAdd(__m256i& sums, __m256i word, __m256i w) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(word), "x"(w));
}

template <std::size_t... V>
MPM_INLINE void multiplyRow(const std::uint32_t* x, const __m256i (&w)[sizeof...(V)], __m256i (&sums)[sizeof...(V)],
                            std::index_sequence<V...>) {
  const __m256i word = _mm256_set1_epi32(static_cast<int>(*x));
  (multiplyAdd(sums[V], word, w[V]), ...);
}

template <std::size_t... V>
MPM_INLINE void takeRow(const __m256i (&sums)[sizeof...(V)], const __m256i (&offsets)[sizeof...(V)],
                        const TileOutput& out, int r, std::index_sequence<V...>) {
  const __m256 row_scale = _mm256_set1_ps(out.row_scales[r]);
  const float* const bias = out.bias + r * out.bias_stride;
  float* const y = out.y.row(r);
  __m256 values[] = {_mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(sums[V], offsets[V])),
                                     _mm256_mul_ps(_mm256_loadu_ps(out.column_scales + kLanes * V), row_scale),
                                     _mm256_loadu_ps(bias + kLanes * V))...};
  if (out.accumulate) ((values[V] = _mm256_add_ps(_mm256_loadu_ps(y + kLanes * V), values[V])), ...);
  (_mm256_storeu_ps(y + kLanes * V, values[V]), ...);
}

MPM_INLINE __m256i load(const std::uint32_t* words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}

template <std::size_t... V, std::size_t... R>
MPM_AVX_VNNI void multiply(const std::uint32_t* x, const std::uint32_t* w, int words, const TileOutput& out,
                           std::index_sequence<V...> vectors, std::index_sequence<R...>) {
  __m256i sums[kRows][sizeof...(V)] = {};
  for (int k = 0; k < words; ++k, x += kRows, w += kLanes * sizeof...(V)) {
    const __m256i columns[] = {load(w + kLanes * V)...};
    (multiplyRow(x + R, columns, sums[R], vectors), ...);
  }
  const __m256i offsets[] = {load(w + kLanes * V)...};
  (takeRow(sums[R], offsets, out, R, vectors), ...);
}

void multiplyByWidth(const std::uint32_t* x, const std::uint32_t* w, int words, int vectors, const TileOutput& out) {
  switch (vectors) {
    case 1:
      return multiply(x, w, words, out, std::make_index_sequence<1>(), Rows());
    case 2:
      return multiply(x, w, words, out, std::make_index_sequence<2>(), Rows());
    default:
      return multiply(x, w, words, out, std::make_index_sequence<3>(), Rows());
  }
}

}  // namespace

const TileKernel* avxVnniKernel() {
  static constexpr TileKernel kBytes{Precision::kInt8, kRows, 3 * kLanes, kLanes, 0, true, multiplyByWidth};
  return instructionSet() == "avx_vnni" ? &kBytes : nullptr;
}

}  // namespace mpm
#endif
