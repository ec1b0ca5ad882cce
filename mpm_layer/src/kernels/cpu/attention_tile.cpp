// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention_input.h"

#include <algorithm>
#include <cmath>
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

// Keys per step. Their weights, 24 KiB, stay in L1 while V streams through once per row group. 128 keys, with V in L1
// too, are 1 % slower.
constexpr int kKeyStep = 256;

// Scores up to this size need no row maximum before 2^score: weights stay in [2^-60, 2^60], and their sum over all keys
// fits fp32. The scores of a trained ViT are usually smaller.
constexpr float kSafeScore = 60.0f;

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

// Without a bias per row, the vectors are loaded once for all rows.
template <int R, int V>
HWY_INLINE void startTile(const float* bias, std::ptrdiff_t bias_stride, Tile<R, V>& tile) {
  if (bias_stride == 0)
    loadTile<R, V>(bias, 0, tile);
  else
    loadTile<R, V>(bias, bias_stride, tile);
}

template <int R, int V>
HWY_INLINE void scoreTile(const float* q, std::ptrdiff_t q_stride, int depth, const float* panel, const float* bias,
                          std::ptrdiff_t bias_stride, float* scores, std::ptrdiff_t stride, float* maxima) {
  Tile<R, V> tile;
  startTile<R, V>(bias, bias_stride, tile);
  multiply<R, V>(q, q_stride, panel, kPanel, depth, tile);
  storeTile<R, V>(tile, scores, stride);
  raiseMaxima<R, V>(tile, maxima, std::make_index_sequence<R>());
}

// `vectors` of a panel, the last vector that holds a key included: 1025 keys are 65 vectors, not 17 panels of 4.
template <int R>
HWY_INLINE void scoreRows(const float* q, std::ptrdiff_t q_stride, int depth, const float* panel, int vectors,
                          const float* bias, std::ptrdiff_t bias_stride, float* scores, std::ptrdiff_t stride,
                          float* maxima) {
  int j = 0;
  for (; j + kTileVectors <= vectors; j += kTileVectors) {
    scoreTile<R, kTileVectors>(q, q_stride, depth, panel + j * kLanes, bias + j * kLanes, bias_stride,
                               scores + j * kLanes, stride, maxima);
  }
  panel += j * kLanes;
  bias += j * kLanes;
  scores += j * kLanes;
  if constexpr (kTileVectors == 4) {
    if (vectors - j == 3) return scoreTile<R, 3>(q, q_stride, depth, panel, bias, bias_stride, scores, stride, maxima);
    if (vectors - j == 2) return scoreTile<R, 2>(q, q_stride, depth, panel, bias, bias_stride, scores, stride, maxima);
  }
  if (vectors - j == 1) scoreTile<R, 1>(q, q_stride, depth, panel, bias, bias_stride, scores, stride, maxima);
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

template <int V, std::size_t... J>
HWY_INLINE void weighRow(Vec (&row)[V], float* HWY_RESTRICT weights, float* HWY_RESTRICT sum,
                         std::index_sequence<J...>) {
  const Floats d;
  ((row[J] = exp2(d, row[J])), ...);
  storeRow<V>(row, weights, std::index_sequence<J...>());
  Vec total = hn::Zero(d);
  ((total = hn::Add(total, row[J])), ...);
  hn::Store(hn::Add(hn::Load(d, sum), total), d, sum);
}

template <int R, int V, std::size_t... I>
HWY_INLINE void weighTileRows(Tile<R, V>& tile, float* HWY_RESTRICT weights, float* HWY_RESTRICT sums,
                              std::index_sequence<I...>) {
  (weighRow<V>(tile.at[I], weights + static_cast<int>(I) * kKeyStep, sums + static_cast<int>(I) * kLanes,
               std::make_index_sequence<V>()),
   ...);
}

// weights = 2^score, added up in `sums`, from the registers in which the scores were made.
template <int R, int V>
HWY_INLINE void weighTile(const float* q, std::ptrdiff_t q_stride, int depth, const float* panel, const float* bias,
                          std::ptrdiff_t bias_stride, float* weights, float* sums) {
  Tile<R, V> tile;
  startTile<R, V>(bias, bias_stride, tile);
  multiply<R, V>(q, q_stride, panel, kPanel, depth, tile);
  weighTileRows<R, V>(tile, weights, sums, std::make_index_sequence<R>());
}

template <int R>
HWY_INLINE void weighRows(const float* q, std::ptrdiff_t q_stride, int depth, const float* panel, int vectors,
                          const float* bias, std::ptrdiff_t bias_stride, float* weights, float* sums) {
  int j = 0;
  for (; j + kTileVectors <= vectors; j += kTileVectors) {
    weighTile<R, kTileVectors>(q, q_stride, depth, panel + j * kLanes, bias + j * kLanes, bias_stride,
                               weights + j * kLanes, sums);
  }
  panel += j * kLanes;
  bias += j * kLanes;
  weights += j * kLanes;
  if constexpr (kTileVectors == 4) {
    if (vectors - j == 3) return weighTile<R, 3>(q, q_stride, depth, panel, bias, bias_stride, weights, sums);
    if (vectors - j == 2) return weighTile<R, 2>(q, q_stride, depth, panel, bias, bias_stride, weights, sums);
  }
  if (vectors - j == 1) weighTile<R, 1>(q, q_stride, depth, panel, bias, bias_stride, weights, sums);
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

// out += weights v for keys [first_key, first_key + keys).
HWY_INLINE void mix(const AttentionTile<float>& tile, const float* weights, int first_key, int keys, float* mixed) {
  const int v_stride = paddedHeadDim(tile.head_dim);
  const float* v = tile.v + static_cast<std::ptrdiff_t>(first_key) * v_stride;
  forRowGroups(tile.rows, [&](auto group, int i) HWY_ATTR {
    const float* from = weights + i * kKeyStep;
    float* to = mixed + i * v_stride;
    const bool first = first_key == 0;
    mixRows<group()>(from, v, v_stride, keys, first, to);
  });
}

float largestSquareOf(const float* HWY_RESTRICT x, std::ptrdiff_t stride, int rows, int cols) {
  const Floats d;
  float largest = 0;
  for (int i = 0; i < rows; ++i, x += stride) {
    Vec squares = hn::Zero(d);
    int c = 0;
    for (; c + kLanes <= cols; c += kLanes) {
      const Vec values = hn::LoadU(d, x + c);
      squares = hn::MulAdd(values, values, squares);
    }
    float sum = hn::GetLane(hn::SumOfLanes(d, squares));
    for (; c < cols; ++c) sum += x[c] * x[c];
    if (!(sum <= largest)) largest = sum > largest ? sum : std::numeric_limits<float>::infinity();
  }
  return largest;
}

// Upper bound of |score|: |q . k| <= |q| |k|. Infinite or NaN if a score could be. A bias of -infinity does not count:
// it takes its key out.
HWY_INLINE float scoreBound(const AttentionTile<float>& tile) {
  const Floats d;
  Vec biases = hn::Zero(d);
  float bias = 0;
  constexpr float kOut = -std::numeric_limits<float>::infinity();
  for (int i = 0; i < (tile.bias_stride == 0 ? 1 : tile.rows); ++i) {
    const float* row = tile.bias + i * tile.bias_stride;
    int j = 0;
    for (; j + kLanes <= tile.keys; j += kLanes) {
      const Vec some = hn::Load(d, row + j);
      biases = hn::Max(biases, hn::IfThenZeroElse(hn::Eq(some, hn::Set(d, kOut)), hn::Abs(some)));
    }
    for (; j < tile.keys; ++j) bias = row[j] == kOut ? bias : std::max(bias, std::abs(row[j]));
  }
  bias = std::max(bias, hn::GetLane(hn::MaxOfLanes(d, biases)));
  return std::sqrt(largestSquareOf(tile.q, tile.q_stride, tile.rows, tile.head_dim) * tile.largest_key_square) + bias;
}

// Scores, 2^score and the product with V in one pass over the keys.
void runBounded(const AttentionTile<float>& tile, float* HWY_RESTRICT weights, float* HWY_RESTRICT sums,
                float* HWY_RESTRICT mixed) {
  for (int begin = 0; begin < tile.keys; begin += kKeyStep) {
    const int keys = std::min(kKeyStep, tile.keys - begin);
    for (int j = 0; j < keys; j += kPanel) {
      const float* panel = tile.k + static_cast<std::ptrdiff_t>(begin + j) * tile.head_dim;
      const float* bias = tile.bias + begin + j;
      const int vectors = (std::min(kPanel, keys - j) + kLanes - 1) / kLanes;
      forRowGroups(tile.rows, [&](auto group, int i) HWY_ATTR {
        const float* q = tile.q + i * tile.q_stride;
        float* to = weights + i * kKeyStep + j;
        float* sum = sums + i * kLanes;
        weighRows<group()>(q, tile.q_stride, tile.head_dim, panel, vectors, bias + i * tile.bias_stride,
                           tile.bias_stride, to, sum);
      });
    }
    mix(tile, weights, begin, keys, mixed);
  }
}

// First all scores of the rows, to find their maxima.
void runWithMaxima(const AttentionTile<float>& tile, float* HWY_RESTRICT scores, float* HWY_RESTRICT weights,
                   float* HWY_RESTRICT sums, float* HWY_RESTRICT mixed) {
  const Floats d;
  const int stride = scoreStride(tile.keys);
  HWY_ALIGN float maxima[kAttentionRows * kLanes];
  for (int i = 0; i < tile.rows; ++i)
    hn::Store(hn::Set(d, -std::numeric_limits<float>::infinity()), d, maxima + i * kLanes);

  for (int j = 0; j < tile.keys; j += kPanel) {
    const float* panel = tile.k + static_cast<std::ptrdiff_t>(j) * tile.head_dim;
    const float* bias = tile.bias + j;
    const int vectors = (std::min(kPanel, tile.keys - j) + kLanes - 1) / kLanes;
    forRowGroups(tile.rows, [&](auto group, int i) HWY_ATTR {
      const float* q = tile.q + i * tile.q_stride;
      float* to = scores + static_cast<std::ptrdiff_t>(i) * stride + j;
      float* max = maxima + i * kLanes;
      scoreRows<group()>(q, tile.q_stride, tile.head_dim, panel, vectors, bias + i * tile.bias_stride, tile.bias_stride,
                         to, stride, max);
    });
  }
  for (int i = 0; i < tile.rows; ++i) {
    float* max = maxima + i * kLanes;
    hn::Store(hn::MaxOfLanes(d, hn::Load(d, max)), d, max);
  }
  // The weights of a step are written to L1 and read there, never in L2. All rows come first, because a broadcast from
  // a vector that was just stored has to wait.
  for (int j = 0; j < tile.keys; j += kKeyStep) {
    const int keys = std::min(kKeyStep, tile.keys - j);
    const int vectors = (keys + kLanes - 1) / kLanes;
    for (int i = 0; i < tile.rows; ++i) {
      exponentials(scores + static_cast<std::ptrdiff_t>(i) * stride + j, vectors, hn::Load(d, maxima + i * kLanes),
                   weights + i * kKeyStep, sums + i * kLanes);
    }
    mix(tile, weights, j, keys, mixed);
  }
}

void run(const AttentionTile<float>& tile, float* HWY_RESTRICT scratch) {
  const Floats d;
  const int v_stride = paddedHeadDim(tile.head_dim);
  float* const scores = scratch;
  float* const mixed = scores + static_cast<std::ptrdiff_t>(kAttentionRows) * scoreStride(tile.keys);
  HWY_ALIGN float sums[kAttentionRows * kLanes];
  HWY_ALIGN float weights[kAttentionRows * kKeyStep];
  for (int i = 0; i < tile.rows; ++i) hn::Store(hn::Zero(d), d, sums + i * kLanes);
  if (scoreBound(tile) <= kSafeScore)
    runBounded(tile, weights, sums, mixed);
  else
    runWithMaxima(tile, scores, weights, sums, mixed);
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
HWY_EXPORT(largestSquareOf);

std::size_t attentionScratch(int keys, int head_dim) {
  return static_cast<std::size_t>(kAttentionRows) *
         (static_cast<std::size_t>(scoreStride(keys)) + static_cast<std::size_t>(paddedHeadDim(head_dim)));
}

float largestSquare(const float* x, std::ptrdiff_t stride, int rows, int cols) {
  return HWY_DYNAMIC_DISPATCH(largestSquareOf)(x, stride, rows, cols);
}

void attentionTile(const AttentionTile<float>& tile, float* scratch) { HWY_DYNAMIC_DISPATCH(run)(tile, scratch); }

}  // namespace mpm
#endif  // HWY_ONCE
