// SPDX-License-Identifier: Apache-2.0
// The register-blocked product of pairs of bf16 on AVX512-BF16. Highway 1.0 has no bf16 dot product, so this file uses
// intrinsics, and whoever includes it marks its functions with MPM_AVX512_BF16. On x86-64 only.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // gcc 12 warns about its own intrinsics
#endif
#include <immintrin.h>

#include <cstddef>
#include <utility>

#define MPM_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx2,fma")))
#define MPM_INLINE MPM_AVX512_BF16 __attribute__((always_inline)) inline

namespace mpm {
namespace {

constexpr int kLanes = 16;
constexpr int kTileVectors = 4;

/// Accumulators of R rows and V vectors.
template <int R, int V>
struct Tile {
  __m512 at[R][V];
};

template <int V, std::size_t... J>
MPM_INLINE void multiplyRow(__m512bh x, const __m512bh (&b)[V], __m512 (&row)[V], std::index_sequence<J...>) {
  ((row[J] = _mm512_dpbf16_ps(row[J], x, b[J])), ...);
}

template <int V, class Pair, std::size_t... J>
MPM_INLINE void loadPairs(const Pair* from, __m512bh (&row)[V], std::index_sequence<J...>) {
  ((row[J] = reinterpret_cast<__m512bh>(_mm512_load_si512(from + J * kLanes))), ...);
}

template <class Pair>
MPM_INLINE __m512bh broadcast(const Pair* pair) {
  int bits;
  __builtin_memcpy(&bits, pair, sizeof(bits));
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(bits));
}

template <int R, int V, class Pair, std::size_t... I>
MPM_INLINE void multiplyRows(const Pair* a, std::ptrdiff_t a_stride, const __m512bh (&b)[V], Tile<R, V>& tile,
                             std::index_sequence<I...>) {
  (multiplyRow<V>(broadcast(a + static_cast<std::ptrdiff_t>(I) * a_stride), b, tile.at[I],
                  std::make_index_sequence<V>()),
   ...);
}

/// tile += a b; a {R, depth} and b {depth, V * kLanes} pairs, a pair being 32 bits: two neighbours in depth. Rows of b
/// aligned to vectors.
template <int R, int V, class Pair>
MPM_INLINE void multiply(const Pair* a, std::ptrdiff_t a_stride, const Pair* b, std::ptrdiff_t b_stride, int depth,
                         Tile<R, V>& tile) {
  static_assert(sizeof(Pair) == 4);
  for (int k = 0; k < depth; ++k) {
    __m512bh row[V];
    loadPairs<V>(b + k * b_stride, row, std::make_index_sequence<V>());
    multiplyRows<R, V>(a + k, a_stride, row, tile, std::make_index_sequence<R>());
  }
}

}  // namespace
}  // namespace mpm
