// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention_input.h"

#include "kernels/cpu/panels.h"
#include "kernels/cpu/row_groups.h"

#if defined(__x86_64__)
#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/cpu/avx512_bf16-inl.h"

namespace mpm {
namespace {

constexpr int kKeyStep = 256;  // same as the fp32 kernel

template <int V, std::size_t... J>
MPM_INLINE void loadRow(const float* from, __m512 (&row)[V], std::index_sequence<J...>) {
  ((row[J] = _mm512_load_ps(from + J * kLanes)), ...);
}

template <int V, std::size_t... J>
MPM_INLINE void storeRow(const __m512 (&row)[V], float* to, std::index_sequence<J...>) {
  (_mm512_store_ps(to + J * kLanes, row[J]), ...);
}

template <int R, int V, std::size_t... I>
MPM_INLINE void loadTile(const float* from, std::ptrdiff_t stride, Tile<R, V>& tile, std::index_sequence<I...>) {
  (loadRow<V>(from + static_cast<std::ptrdiff_t>(I) * stride, tile.at[I], std::make_index_sequence<V>()), ...);
}

template <int R, int V, std::size_t... I>
MPM_INLINE void storeTile(const Tile<R, V>& tile, float* to, std::ptrdiff_t stride, std::index_sequence<I...>) {
  (storeRow<V>(tile.at[I], to + static_cast<std::ptrdiff_t>(I) * stride, std::make_index_sequence<V>()), ...);
}

template <int V, std::size_t... J>
MPM_INLINE __m512 maxOfRow(__m512 start, const __m512 (&row)[V], std::index_sequence<J...>) {
  ((start = _mm512_max_ps(start, row[J])), ...);
  return start;
}

template <int R, int V, std::size_t... I>
MPM_INLINE void raiseMaxima(const Tile<R, V>& tile, float* maxima, std::index_sequence<I...>) {
  (_mm512_store_ps(maxima + I * kLanes,
                   maxOfRow<V>(_mm512_load_ps(maxima + I * kLanes), tile.at[I], std::make_index_sequence<V>())),
   ...);
}

// 2^x with an error of 1e-4, a twentieth of the rounding of bf16.
MPM_INLINE __m512 exp2(__m512 x) {
  x = _mm512_max_ps(x, _mm512_set1_ps(-150.0f));
  const __m512 n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = _mm512_sub_ps(x, n);
  __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(0.0551714152097702f), f, _mm512_set1_ps(0.2426110953092575f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.6932610273361206f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.9999280571937561f));
  return _mm512_scalef_ps(p, n);
}

template <int R, int V>
MPM_INLINE void scoreTile(const Bf16Pair* q, int depth, const Bf16Pair* panel, const float* bias,
                          std::ptrdiff_t bias_stride, float* scores, std::ptrdiff_t stride, float* maxima) {
  Tile<R, V> tile;
  if (bias_stride == 0)  // same as the fp32 kernel
    loadTile<R, V>(bias, 0, tile, std::make_index_sequence<R>());
  else
    loadTile<R, V>(bias, bias_stride, tile, std::make_index_sequence<R>());
  multiply<R, V>(q, depth, panel, kPanel, depth, tile);
  storeTile<R, V>(tile, scores, stride, std::make_index_sequence<R>());
  raiseMaxima<R, V>(tile, maxima, std::make_index_sequence<R>());
}

template <int R>
MPM_AVX512_BF16 void scoreRows(const Bf16Pair* q, int depth, const Bf16Pair* panel, int vectors, const float* bias,
                               std::ptrdiff_t bias_stride, float* scores, std::ptrdiff_t stride, float* maxima) {
  if (vectors == 1) return scoreTile<R, 1>(q, depth, panel, bias, bias_stride, scores, stride, maxima);
  if (vectors == 2) return scoreTile<R, 2>(q, depth, panel, bias, bias_stride, scores, stride, maxima);
  if (vectors == 3) return scoreTile<R, 3>(q, depth, panel, bias, bias_stride, scores, stride, maxima);
  scoreTile<R, 4>(q, depth, panel, bias, bias_stride, scores, stride, maxima);
}

template <int R, int V>
MPM_INLINE void mixTile(const Bf16Pair* weights, const Bf16Pair* v, int v_stride, int pairs, bool first, float* out) {
  alignas(64) static constexpr float kZeros[V * kLanes] = {};
  Tile<R, V> tile;
  loadTile<R, V>(first ? kZeros : out, first ? 0 : v_stride, tile, std::make_index_sequence<R>());
  multiply<R, V>(weights, kKeyStep / 2, v, v_stride, pairs, tile);
  storeTile<R, V>(tile, out, v_stride, std::make_index_sequence<R>());
}

template <int R>
MPM_AVX512_BF16 void mixRows(const Bf16Pair* weights, const Bf16Pair* v, int v_stride, int pairs, bool first,
                             float* out) {
  int c = 0;
  for (; c + kTileVectors * kLanes <= v_stride; c += kTileVectors * kLanes)
    mixTile<R, kTileVectors>(weights, v + c, v_stride, pairs, first, out + c);
  const int rest = (v_stride - c) / kLanes;
  if (rest == 3) mixTile<R, 3>(weights, v + c, v_stride, pairs, first, out + c);
  if (rest == 2) mixTile<R, 2>(weights, v + c, v_stride, pairs, first, out + c);
  if (rest == 1) mixTile<R, 1>(weights, v + c, v_stride, pairs, first, out + c);
}

MPM_INLINE void exponentials(const float* scores, int vectors, __m512 max, Bf16Pair* weights, float* sum) {
  __m512 total = _mm512_load_ps(sum);
  for (int j = 0; j < vectors; ++j) {
    const __m512 e = exp2(_mm512_sub_ps(_mm512_load_ps(scores + j * kLanes), max));
    total = _mm512_add_ps(total, e);
    _mm256_store_si256(reinterpret_cast<__m256i*>(weights + j * (kLanes / 2)),
                       reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(e)));
  }
  _mm512_store_ps(sum, total);
}

MPM_AVX512_BF16 void run(const AttentionTile<Bf16Pair>& tile, float* scratch) {
  const int depth = pairsFor(tile.head_dim);
  const int stride = scoreStride(tile.keys);
  const int v_stride = paddedHeadDim(tile.head_dim);
  float* const scores = scratch;
  float* const mixed = scores + static_cast<std::ptrdiff_t>(kAttentionRows) * stride;
  alignas(64) float maxima[kAttentionRows * kLanes];
  alignas(64) float sums[kAttentionRows * kLanes] = {};
  alignas(64) Bf16Pair weights[kAttentionRows * kKeyStep / 2];
  std::fill(maxima, maxima + kAttentionRows * kLanes, -std::numeric_limits<float>::infinity());

  for (int j = 0; j < tile.keys; j += kPanel) {
    const Bf16Pair* panel = tile.k + static_cast<std::ptrdiff_t>(j) * depth;
    const float* bias = tile.bias + j;
    const int vectors = (std::min(kPanel, tile.keys - j) + kLanes - 1) / kLanes;
    forRowGroups(tile.rows, [&](auto group, int i) MPM_AVX512_BF16 {
      const Bf16Pair* q = tile.q + static_cast<std::ptrdiff_t>(i) * depth;
      float* to = scores + static_cast<std::ptrdiff_t>(i) * stride + j;
      float* max = maxima + i * kLanes;
      scoreRows<group()>(q, depth, panel, vectors, bias + i * tile.bias_stride, tile.bias_stride, to, stride, max);
    });
  }
  for (int i = 0; i < tile.rows; ++i) {
    float* max = maxima + i * kLanes;
    _mm512_store_ps(max, _mm512_set1_ps(_mm512_reduce_max_ps(_mm512_load_ps(max))));
  }
  for (int j = 0; j < tile.keys; j += kKeyStep) {
    const int keys = std::min(kKeyStep, tile.keys - j);
    const int vectors = (keys + kLanes - 1) / kLanes;
    const Bf16Pair* v = tile.v + static_cast<std::ptrdiff_t>(j / 2) * v_stride;
    for (int i = 0; i < tile.rows; ++i) {
      exponentials(scores + static_cast<std::ptrdiff_t>(i) * stride + j, vectors, _mm512_load_ps(maxima + i * kLanes),
                   weights + i * (kKeyStep / 2), sums + i * kLanes);
    }
    forRowGroups(tile.rows, [&](auto group, int i) MPM_AVX512_BF16 {
      const Bf16Pair* from = weights + i * (kKeyStep / 2);
      float* to = mixed + i * v_stride;
      const int pairs = pairsFor(keys);
      mixRows<group()>(from, v, v_stride, pairs, j == 0, to);
    });
  }
  for (int i = 0; i < tile.rows; ++i) {
    const float* from = mixed + i * v_stride;
    float* to = tile.out + i * tile.out_stride;
    const float inverse = 1.0f / _mm512_reduce_add_ps(_mm512_load_ps(sums + i * kLanes));
    for (int c = 0; c < tile.head_dim; ++c) to[c] = from[c] * inverse;
  }
}

}  // namespace

void attentionTileBf16(const AttentionTile<Bf16Pair>& tile, float* scratch) { run(tile, scratch); }

}  // namespace mpm

#else

namespace mpm {

void attentionTileBf16(const AttentionTile<Bf16Pair>&, float*) {}

}  // namespace mpm
#endif
