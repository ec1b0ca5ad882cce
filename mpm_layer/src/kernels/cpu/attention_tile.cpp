// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention_tile.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_tile.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/micro_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

// Keys whose weights lie in L1 at a time: 24 KiB of weights, through which V streams once per row group. 128, with V in
// L1 too, is 1 % slower.
constexpr int kKeyStep = 256;

template <int V, std::size_t... J>
HWY_INLINE Vec maxOfRow(Vec start, const Vec (&row)[V], std::index_sequence<J...>) {
  ((start = hn::Max(start, row[J])), ...);
  return start;
}

template <int R, int V, std::size_t... I>
HWY_INLINE void raiseMaxima(const Tile<R, V>& tile, float* HWY_RESTRICT maxima, std::index_sequence<I...>) {
  (hn::Store(maxOfRow<V>(hn::Load(Floats(), maxima + static_cast<int>(I) * kLanes), tile.at[I],
                         std::make_index_sequence<V>()),
             Floats(), maxima + static_cast<int>(I) * kLanes),
   ...);
}

template <int R, int V>
HWY_INLINE void scoreTile(const float* q, std::ptrdiff_t q_stride, int depth, const float* panel, const float* bias,
                          float* scores, std::ptrdiff_t stride, float* maxima) {
  Tile<R, V> tile;
  loadTile<R, V>(bias, 0, tile);
  multiply<R, V>(q, q_stride, panel, kPanel, depth, tile);
  storeTile<R, V>(tile, scores, stride);
  raiseMaxima<R, V>(tile, maxima, std::make_index_sequence<R>());
}

// `vectors` of a panel, the last vector that holds a key included: 1025 keys are 65 vectors, not 17 panels of 4.
template <int R>
HWY_INLINE void scoreRows(const float* q, std::ptrdiff_t q_stride, int depth, const float* panel, int vectors,
                          const float* bias, float* scores, std::ptrdiff_t stride, float* maxima) {
  int j = 0;
  for (; j + kTileVectors <= vectors; j += kTileVectors)
    scoreTile<R, kTileVectors>(q, q_stride, depth, panel + j * kLanes, bias + j * kLanes, scores + j * kLanes, stride,
                               maxima);
  panel += j * kLanes, bias += j * kLanes, scores += j * kLanes;
  if constexpr (kTileVectors == 4) {
    if (vectors - j == 3) return scoreTile<R, 3>(q, q_stride, depth, panel, bias, scores, stride, maxima);
    if (vectors - j == 2) return scoreTile<R, 2>(q, q_stride, depth, panel, bias, scores, stride, maxima);
  }
  if (vectors - j == 1) scoreTile<R, 1>(q, q_stride, depth, panel, bias, scores, stride, maxima);
}

template <int R, int V>
HWY_INLINE void mixTile(const float* p, std::ptrdiff_t p_stride, const float* v, int v_stride, int keys, bool first,
                        float* out) {
  HWY_ALIGN static constexpr float kZeros[V * kLanes] = {};
  Tile<R, V> tile;
  loadTile<R, V>(first ? kZeros : out, first ? 0 : v_stride, tile);
  multiply<R, V>(p, p_stride, v, v_stride, keys, tile);
  storeTile<R, V>(tile, out, v_stride);
}

// weights = 2^(score - max), added up in `sum`. Past the last key scores are -infinity and weights become exactly 0.
HWY_INLINE void exponentials(const float* HWY_RESTRICT scores, int vectors, Vec max, float* HWY_RESTRICT weights,
                             float* HWY_RESTRICT sum) {
  const Floats d;
  Vec s0 = hn::Load(d, sum), s1 = hn::Zero(d), s2 = s1, s3 = s1;
  int j = 0;
  for (; j + 4 <= vectors; j += 4) {
    const Vec e0 = exp2(d, hn::Sub(hn::Load(d, scores + j * kLanes), max));
    const Vec e1 = exp2(d, hn::Sub(hn::Load(d, scores + (j + 1) * kLanes), max));
    const Vec e2 = exp2(d, hn::Sub(hn::Load(d, scores + (j + 2) * kLanes), max));
    const Vec e3 = exp2(d, hn::Sub(hn::Load(d, scores + (j + 3) * kLanes), max));
    hn::Store(e0, d, weights + j * kLanes);
    hn::Store(e1, d, weights + (j + 1) * kLanes);
    hn::Store(e2, d, weights + (j + 2) * kLanes);
    hn::Store(e3, d, weights + (j + 3) * kLanes);
    s0 = hn::Add(s0, e0);
    s1 = hn::Add(s1, e1);
    s2 = hn::Add(s2, e2);
    s3 = hn::Add(s3, e3);
  }
  for (; j < vectors; ++j) {
    const Vec e = exp2(d, hn::Sub(hn::Load(d, scores + j * kLanes), max));
    hn::Store(e, d, weights + j * kLanes);
    s0 = hn::Add(s0, e);
  }
  hn::Store(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), d, sum);
}

template <int R>
HWY_INLINE void mixRows(const float* weights, const float* v, int v_stride, int keys, bool first, float* out) {
  int c = 0;
  for (; c + kTileVectors * kLanes <= v_stride; c += kTileVectors * kLanes)
    mixTile<R, kTileVectors>(weights, kKeyStep, v + c, v_stride, keys, first, out + c);
  // Only where four vectors are more than 16 floats, the unit of v_stride.
  for (; c + 2 * kLanes <= v_stride; c += 2 * kLanes)
    mixTile<R, 2>(weights, kKeyStep, v + c, v_stride, keys, first, out + c);
  if (c < v_stride) mixTile<R, 1>(weights, kKeyStep, v + c, v_stride, keys, first, out + c);
}

void run(const AttentionTile& tile, float* HWY_RESTRICT scratch) {
  const Floats d;
  const int stride = scoreStride(tile.keys);
  const int v_stride = paddedHeadDim(tile.head_dim);
  float* const scores = scratch;
  float* const mixed = scores + static_cast<std::ptrdiff_t>(kAttentionRows) * stride;
  HWY_ALIGN float maxima[kAttentionRows * kLanes];
  HWY_ALIGN float sums[kAttentionRows * kLanes];
  HWY_ALIGN float weights[kAttentionRows * kKeyStep];
  for (int i = 0; i < tile.rows; ++i) {
    hn::Store(hn::Set(d, -std::numeric_limits<float>::infinity()), d, maxima + i * kLanes);
    hn::Store(hn::Zero(d), d, sums + i * kLanes);
  }

  for (int j = 0; j < tile.keys; j += kPanel) {
    const float* panel = tile.k + static_cast<std::ptrdiff_t>(j) * tile.head_dim;
    const float* bias = tile.bias + j;
    const int vectors = (std::min(kPanel, tile.keys - j) + kLanes - 1) / kLanes;
    for (int i = 0; i < tile.rows; i += kTileRows) {
      const float* q = tile.q + i * tile.q_stride;
      float* to = scores + static_cast<std::ptrdiff_t>(i) * stride + j;
      float* max = maxima + i * kLanes;
      switch (std::min(kTileRows, tile.rows - i)) {
        case 1:
          scoreRows<1>(q, tile.q_stride, tile.head_dim, panel, vectors, bias, to, stride, max);
          break;
        case 2:
          scoreRows<2>(q, tile.q_stride, tile.head_dim, panel, vectors, bias, to, stride, max);
          break;
        case 3:
          scoreRows<3>(q, tile.q_stride, tile.head_dim, panel, vectors, bias, to, stride, max);
          break;
        case 4:
          scoreRows<4>(q, tile.q_stride, tile.head_dim, panel, vectors, bias, to, stride, max);
          break;
        case 5:
          scoreRows<5>(q, tile.q_stride, tile.head_dim, panel, vectors, bias, to, stride, max);
          break;
        default:
          scoreRows<6>(q, tile.q_stride, tile.head_dim, panel, vectors, bias, to, stride, max);
          break;
      }
    }
  }
  for (int i = 0; i < tile.rows; ++i) {
    float* max = maxima + i * kLanes;
    hn::Store(hn::MaxOfLanes(d, hn::Load(d, max)), d, max);
  }
  // The weights of a step go to L1 and are used up there: nothing is written back to L2. All rows first, because a
  // broadcast from a vector that was stored just before would wait for it.
  for (int j = 0; j < tile.keys; j += kKeyStep) {
    const int keys = std::min(kKeyStep, tile.keys - j);
    const int vectors = (keys + kLanes - 1) / kLanes;
    const float* v = tile.v + static_cast<std::ptrdiff_t>(j) * v_stride;
    for (int i = 0; i < tile.rows; ++i)
      exponentials(scores + static_cast<std::ptrdiff_t>(i) * stride + j, vectors, hn::Load(d, maxima + i * kLanes),
                   weights + i * kKeyStep, sums + i * kLanes);
    for (int i = 0; i < tile.rows; i += kTileRows) {
      const float* from = weights + i * kKeyStep;
      float* to = mixed + i * v_stride;
      switch (std::min(kTileRows, tile.rows - i)) {
        case 1:
          mixRows<1>(from, v, v_stride, keys, j == 0, to);
          break;
        case 2:
          mixRows<2>(from, v, v_stride, keys, j == 0, to);
          break;
        case 3:
          mixRows<3>(from, v, v_stride, keys, j == 0, to);
          break;
        case 4:
          mixRows<4>(from, v, v_stride, keys, j == 0, to);
          break;
        case 5:
          mixRows<5>(from, v, v_stride, keys, j == 0, to);
          break;
        default:
          mixRows<6>(from, v, v_stride, keys, j == 0, to);
          break;
      }
    }
  }
  for (int i = 0; i < tile.rows; ++i) {
    const float* from = mixed + i * v_stride;
    float* to = tile.out + i * tile.out_stride;
    const float inverse = 1.0f / hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sums + i * kLanes)));
    int c = 0;
    for (; c + kLanes <= tile.head_dim; c += kLanes)
      hn::StoreU(hn::Mul(hn::Load(d, from + c), hn::Set(d, inverse)), d, to + c);
    for (; c < tile.head_dim; ++c) to[c] = from[c] * inverse;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
HWY_EXPORT(run);

std::size_t attentionScratch(int keys, int head_dim) {
  return static_cast<std::size_t>(kAttentionRows) *
         (static_cast<std::size_t>(scoreStride(keys)) + static_cast<std::size_t>(paddedHeadDim(head_dim)));
}

void attentionTile(const AttentionTile& tile, float* scratch) { HWY_DYNAMIC_DISPATCH(run)(tile, scratch); }

}  // namespace mpm
#endif  // HWY_ONCE
