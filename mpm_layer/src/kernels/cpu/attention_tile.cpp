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

// Rows of V in L1 while the row groups pass over them: 32 KiB at head_dim 64.
constexpr int kKeyStep = 128;

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

template <int R>
HWY_INLINE void scoreRows(const float* q, std::ptrdiff_t q_stride, int depth, const float* panel, const float* bias,
                          float* scores, std::ptrdiff_t stride, float* maxima) {
  constexpr int kWidth = kTileVectors * kLanes;
  for (int j = 0; j < kPanel; j += kWidth) {
    Tile<R, kTileVectors> tile;
    loadTile<R, kTileVectors>(bias + j, 0, tile);
    multiply<R, kTileVectors>(q, q_stride, panel + j, kPanel, depth, tile);
    storeTile<R, kTileVectors>(tile, scores + j, stride);
    raiseMaxima<R, kTileVectors>(tile, maxima, std::make_index_sequence<R>());
  }
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

template <int R>
HWY_INLINE void mixRows(const float* p, std::ptrdiff_t p_stride, const float* v, int v_stride, int keys, bool first,
                        float* out) {
  int c = 0;
  for (; c + kTileVectors * kLanes <= v_stride; c += kTileVectors * kLanes)
    mixTile<R, kTileVectors>(p, p_stride, v + c, v_stride, keys, first, out + c);
  // Only where four vectors are more than 16 floats, the unit of v_stride.
  for (; c + 2 * kLanes <= v_stride; c += 2 * kLanes) mixTile<R, 2>(p, p_stride, v + c, v_stride, keys, first, out + c);
  if (c < v_stride) mixTile<R, 1>(p, p_stride, v + c, v_stride, keys, first, out + c);
}

// scores -> 2^(score - max), and the sum of the row. Past the last key scores are -infinity and become exactly 0.
HWY_INLINE float exponentials(float* HWY_RESTRICT scores, int padded, float max) {
  const Floats d;
  const Vec m = hn::Set(d, max);
  Vec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  // Whole panels: four vectors at a time is at most one panel on every target.
  for (int j = 0; j < padded; j += 4 * kLanes) {
    const Vec e0 = exp2(d, hn::Sub(hn::Load(d, scores + j), m));
    const Vec e1 = exp2(d, hn::Sub(hn::Load(d, scores + j + kLanes), m));
    const Vec e2 = exp2(d, hn::Sub(hn::Load(d, scores + j + 2 * kLanes), m));
    const Vec e3 = exp2(d, hn::Sub(hn::Load(d, scores + j + 3 * kLanes), m));
    hn::Store(e0, d, scores + j);
    hn::Store(e1, d, scores + j + kLanes);
    hn::Store(e2, d, scores + j + 2 * kLanes);
    hn::Store(e3, d, scores + j + 3 * kLanes);
    s0 = hn::Add(s0, e0);
    s1 = hn::Add(s1, e1);
    s2 = hn::Add(s2, e2);
    s3 = hn::Add(s3, e3);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

void run(const AttentionTile& tile, float* HWY_RESTRICT scratch) {
  const Floats d;
  const int padded = panelsFor(tile.keys) * kPanel;
  const int stride = scoreStride(tile.keys);
  const int v_stride = paddedHeadDim(tile.head_dim);
  float* const scores = scratch;
  float* const mixed = scores + static_cast<std::ptrdiff_t>(kAttentionRows) * stride;
  HWY_ALIGN float maxima[kAttentionRows * kLanes];
  float sums[kAttentionRows];
  for (int i = 0; i < tile.rows; ++i)
    hn::Store(hn::Set(d, -std::numeric_limits<float>::infinity()), d, maxima + i * kLanes);

  for (int j = 0; j < padded; j += kPanel) {
    const float* panel = tile.k + static_cast<std::ptrdiff_t>(j) * tile.head_dim;
    const float* bias = tile.bias + j;
    for (int i = 0; i < tile.rows; i += kTileRows) {
      const float* q = tile.q + i * tile.q_stride;
      float* to = scores + static_cast<std::ptrdiff_t>(i) * stride + j;
      float* max = maxima + i * kLanes;
      switch (std::min(kTileRows, tile.rows - i)) {
        case 1:
          scoreRows<1>(q, tile.q_stride, tile.head_dim, panel, bias, to, stride, max);
          break;
        case 2:
          scoreRows<2>(q, tile.q_stride, tile.head_dim, panel, bias, to, stride, max);
          break;
        case 3:
          scoreRows<3>(q, tile.q_stride, tile.head_dim, panel, bias, to, stride, max);
          break;
        case 4:
          scoreRows<4>(q, tile.q_stride, tile.head_dim, panel, bias, to, stride, max);
          break;
        case 5:
          scoreRows<5>(q, tile.q_stride, tile.head_dim, panel, bias, to, stride, max);
          break;
        default:
          scoreRows<6>(q, tile.q_stride, tile.head_dim, panel, bias, to, stride, max);
          break;
      }
    }
  }
  for (int i = 0; i < tile.rows; ++i) {
    const float max = hn::GetLane(hn::MaxOfLanes(d, hn::Load(d, maxima + i * kLanes)));
    sums[i] = exponentials(scores + static_cast<std::ptrdiff_t>(i) * stride, padded, max);
  }
  for (int j = 0; j < tile.keys; j += kKeyStep) {
    const int keys = std::min(kKeyStep, tile.keys - j);
    const float* v = tile.v + static_cast<std::ptrdiff_t>(j) * v_stride;
    for (int i = 0; i < tile.rows; i += kTileRows) {
      const float* p = scores + static_cast<std::ptrdiff_t>(i) * stride + j;
      float* to = mixed + i * v_stride;
      switch (std::min(kTileRows, tile.rows - i)) {
        case 1:
          mixRows<1>(p, stride, v, v_stride, keys, j == 0, to);
          break;
        case 2:
          mixRows<2>(p, stride, v, v_stride, keys, j == 0, to);
          break;
        case 3:
          mixRows<3>(p, stride, v, v_stride, keys, j == 0, to);
          break;
        case 4:
          mixRows<4>(p, stride, v, v_stride, keys, j == 0, to);
          break;
        case 5:
          mixRows<5>(p, stride, v, v_stride, keys, j == 0, to);
          break;
        default:
          mixRows<6>(p, stride, v, v_stride, keys, j == 0, to);
          break;
      }
    }
  }
  for (int i = 0; i < tile.rows; ++i) {
    const float* from = mixed + i * v_stride;
    float* to = tile.out + i * tile.out_stride;
    const float inverse = 1.0f / sums[i];
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
