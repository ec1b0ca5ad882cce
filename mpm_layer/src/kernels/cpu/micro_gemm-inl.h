// SPDX-License-Identifier: Apache-2.0
// The register-blocked product that attention, pairing and mask scores share; compiled once per instruction set.
#if defined(MPM_KERNELS_CPU_MICRO_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MPM_KERNELS_CPU_MICRO_GEMM_INL_H_
#undef MPM_KERNELS_CPU_MICRO_GEMM_INL_H_
#else
#define MPM_KERNELS_CPU_MICRO_GEMM_INL_H_
#endif

#include <cstddef>
#include <utility>

#include "kernels/cpu/row_groups.h"
#include "kernels/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

constexpr int kTileVectors = kManyRegisters ? 4 : 2;

/// Accumulators of R rows and V vectors. Every loop below is a fold expression: arrays indexed by constants become
/// registers in gcc and clang alike, which unrolled loops do not guarantee.
template <int R, int V>
struct Tile {
  // Left uninitialised, and spelled out because gcc gives an implicit constructor the wrong target on Arm.
  HWY_INLINE Tile() {}  // NOLINT(modernize-use-equals-default)
  Vec at[R][V];
};

template <int V, std::size_t... J>
HWY_INLINE void loadRow(const float* HWY_RESTRICT from, Vec (&row)[V], std::index_sequence<J...>) {
  ((row[J] = hn::Load(Floats(), from + static_cast<int>(J) * kLanes)), ...);
}

template <int V, std::size_t... J>
HWY_INLINE void storeRow(const Vec (&row)[V], float* HWY_RESTRICT to, std::index_sequence<J...>) {
  (hn::Store(row[J], Floats(), to + static_cast<int>(J) * kLanes), ...);
}

template <int V, std::size_t... J>
HWY_INLINE void multiplyRow(Vec x, const Vec (&b)[V], Vec (&row)[V], std::index_sequence<J...>) {
  ((row[J] = hn::MulAdd(x, b[J], row[J])), ...);
}

template <int R, int V, std::size_t... I>
HWY_INLINE void multiplyRows(const float* HWY_RESTRICT a, std::ptrdiff_t a_stride, const Vec (&b)[V], Tile<R, V>& tile,
                             std::index_sequence<I...>) {
  (multiplyRow<V>(hn::Set(Floats(), a[static_cast<std::ptrdiff_t>(I) * a_stride]), b, tile.at[I],
                  std::make_index_sequence<V>()),
   ...);
}

/// tile += a b; a {R, depth}, b {depth, V * kLanes}, rows of b aligned to vectors.
template <int R, int V>
HWY_INLINE void multiply(const float* HWY_RESTRICT a, std::ptrdiff_t a_stride, const float* HWY_RESTRICT b,
                         std::ptrdiff_t b_stride, int depth, Tile<R, V>& tile) {
  for (int k = 0; k < depth; ++k) {
    Vec row[V];
    loadRow<V>(b + k * b_stride, row, std::make_index_sequence<V>());
    multiplyRows<R, V>(a + k, a_stride, row, tile, std::make_index_sequence<R>());
  }
}

template <int R, int V, std::size_t... I>
HWY_INLINE void loadTile(const float* HWY_RESTRICT from, std::ptrdiff_t stride, Tile<R, V>& tile,
                         std::index_sequence<I...>) {
  (loadRow<V>(from + static_cast<std::ptrdiff_t>(I) * stride, tile.at[I], std::make_index_sequence<V>()), ...);
}

/// A `stride` of 0 starts every row from the same values.
template <int R, int V>
HWY_INLINE void loadTile(const float* HWY_RESTRICT from, std::ptrdiff_t stride, Tile<R, V>& tile) {
  loadTile<R, V>(from, stride, tile, std::make_index_sequence<R>());
}

template <int R, int V, std::size_t... I>
HWY_INLINE void storeTile(const Tile<R, V>& tile, float* HWY_RESTRICT to, std::ptrdiff_t stride,
                          std::index_sequence<I...>) {
  (storeRow<V>(tile.at[I], to + static_cast<std::ptrdiff_t>(I) * stride, std::make_index_sequence<V>()), ...);
}

template <int R, int V>
HWY_INLINE void storeTile(const Tile<R, V>& tile, float* HWY_RESTRICT to, std::ptrdiff_t stride) {
  storeTile<R, V>(tile, to, stride, std::make_index_sequence<R>());
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#endif  // MPM_KERNELS_CPU_MICRO_GEMM_INL_H_
