// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention.h"

#include <string>
#include <type_traits>

#include "kernels/cuda/numbers.cuh"
#include "kernels/cuda/tensor_core.cuh"
#include "kernels/cuda/warp.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

constexpr float kInfinity = __builtin_inff();

template <typename T>
struct Operands {
  const T* qkv;
  T* out;
  int heads, head_dim;
  float scale;  // times log2(e): the softmax is in powers of two
  const float* key_bias;
  Ragged rows;
};

// One image and one head of the packed rows.
template <typename T>
struct HeadRows {
  const T *q, *k, *v;
  const float* bias;
  T* out;
  int rows;
  std::size_t stride, out_stride;
};

template <typename T>
__device__ HeadRows<T> headRows(const Operands<T>& all, int image, int head) {
  const int begin = all.rows.offsets[image];
  const std::size_t width = static_cast<std::size_t>(all.heads) * static_cast<std::size_t>(all.head_dim);
  const std::size_t column = static_cast<std::size_t>(head) * static_cast<std::size_t>(all.head_dim);
  const T* q = all.qkv + static_cast<std::size_t>(begin) * 3 * width + column;
  return {q,
          q + width,
          q + 2 * width,
          all.key_bias != nullptr ? all.key_bias + begin : nullptr,
          all.out + static_cast<std::size_t>(begin) * width + column,
          all.rows.offsets[image + 1] - begin,
          3 * width,
          width};
}

// ---- 16-bit operands, head_dim a multiple of 8 up to 128, tensor cores ----

constexpr int kKeys = 64;      // of a tile
constexpr int kThreads = 128;  // four warps, each with its own queries

// Heads are filled up with zeros to kWidth columns.
template <typename T, int kWidth>
struct KeyTile {
  T k[kKeys * kWidth], v[kKeys * kWidth];
};

// The segments of 16 bytes stand permuted within a row, so that ldmatrix's eight rows hit all banks: rows of 128 or 256
// bytes begin in the same bank, of those of 64 or 192 every other one.
template <int kWidth>
__device__ int segmentAt(int row, int segment) {
  static_assert(kWidth % 32 == 0);
  return row * kWidth + (kWidth % 64 == 0 ? segment ^ (row & 7) : (segment & ~3) | ((segment ^ (row >> 1)) & 3)) * 8;
}

// Rows `begin` and the kRows behind it, zeros where there are none.
template <int kRows, int kWidth, typename T>
__device__ void fetchRows(const T* from, std::size_t stride, int head_dim, int begin, int end, T* to) {
  constexpr int kSegments = kWidth / 8, kStep = kThreads / kSegments;
  if constexpr (kThreads % kSegments == 0) {
    // The rows of a thread are a multiple of 8 apart, so that its segments stand equally permuted in all of them.
    static_assert(kRows % kStep == 0 && kStep % 8 == 0);
    const int first = static_cast<int>(threadIdx.x) / kSegments, segment = static_cast<int>(threadIdx.x) % kSegments;
    const T* source = from + static_cast<std::size_t>(begin + first) * stride + segment * 8;
    T* const target = to + segmentAt<kWidth>(first, segment);
    const int rows = segment * 8 < head_dim ? end - begin - first : 0;
#pragma unroll
    for (int i = 0; i < kRows / kStep; ++i) {
      copyAsync16(target + i * kStep * kWidth, source, i * kStep < rows);
      source += static_cast<std::size_t>(kStep) * stride;
    }
  } else {
    static_assert(kRows * kSegments % kThreads == 0);
#pragma unroll
    for (int i = 0; i < kRows * kSegments / kThreads; ++i) {
      const int s = static_cast<int>(threadIdx.x) + i * kThreads, row = s / kSegments, segment = s % kSegments;
      copyAsync16(to + segmentAt<kWidth>(row, segment),
                  from + static_cast<std::size_t>(begin + row) * stride + segment * 8,
                  begin + row < end && segment * 8 < head_dim);
    }
  }
}

template <typename T>
__device__ unsigned packed(float low, float high) {
  return static_cast<unsigned>(fromFloat<T>(low).bits) | static_cast<unsigned>(fromFloat<T>(high).bits) << 16;
}

// What a warp knows of its queries, kM fragments of 16 rows: the rows of its lane / 4 in each half of a fragment.
template <int kWidth, int kM>
struct Attended {
  float sum[kM][kWidth / 8][4];    // of values times probabilities
  float top[kM][2], total[kM][2];  // the largest score, and the sum of the probabilities of this lane's keys
};

// The first 16 * kGroups keys of a tile, `left` of them there. Scores stay in registers, are turned into probabilities
// there, and are the left operand of the product with v as they stand: the layout of a result of m16n8k16 is that of
// half a left operand.
//
// kRaw: without a bias and with a scale above 0 the largest product is also the largest score, so the scores' maximum
// is found before they are scaled, and the scale goes into the exponent: one operation per score where there were
// three.
template <int kGroups, bool kRaw, int kM, typename T, int kWidth>
__device__ __forceinline__ void attend(const T* queries, int warp_query, const KeyTile<T, kWidth>& keys,
                                       const float* bias, int left, float given_scale, Attended<kWidth, kM>& state) {
  constexpr int kN = 2 * kGroups, kD = kWidth / 8;
  const int lane = laneIndex(), t = lane % 4;
  float score[kM][kN][4] = {};
#pragma unroll
  for (int k = 0; k < kWidth / 16; ++k) {
    unsigned a[kM][4];
#pragma unroll
    for (int m = 0; m < kM; ++m)
      loadMatrices(a[m], queries + segmentAt<kWidth>(warp_query + m * 16 + lane % 16, 2 * k + lane / 16));
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      unsigned b[4];
      loadMatrices(b, keys.k + segmentAt<kWidth>(n * 8 + lane % 8 + lane / 16 * 8, 2 * k + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        multiplyAdd<T>(score[m][n], a[m], b[0], b[1]);
        multiplyAdd<T>(score[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
  if (!kRaw || left < 16 * kGroups) {
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int parity = 0; parity < 2; ++parity) {
        const int key = n * 8 + 2 * t + parity;
        const bool valid = key < left;
        const float added = !kRaw && valid && bias != nullptr ? bias[key] * kLog2E : 0.0f;
#pragma unroll
        for (int m = 0; m < kM; ++m)
#pragma unroll
          for (int e = parity; e < 4; e += 2) {
            float& mine = score[m][n][e];
            mine = !valid ? -kInfinity : kRaw ? mine : fmaf(mine, given_scale, added);
          }
      }
  }

#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float& top = state.top[m][half];
      float most = top;
#pragma unroll
      for (int n = 0; n < kN; ++n) most = fmaxf(most, fmaxf(score[m][n][2 * half], score[m][n][2 * half + 1]));
      most = fmaxf(most, __shfl_xor_sync(kAllLanes, most, 1));
      most = fmaxf(most, __shfl_xor_sync(kAllLanes, most, 2));
      const float scale = kRaw ? given_scale : 1.0f, scaled = most * scale;
      const float correction = exp2Fast((top - most) * scale);  // 0 at the first tile, 1 for the same maximum
      top = most;
      state.total[m][half] *= correction;
#pragma unroll
      for (int d = 0; d < kD; ++d) {
        state.sum[m][d][2 * half] *= correction;
        state.sum[m][d][2 * half + 1] *= correction;
      }
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          score[m][n][e] = exp2Fast(fmaf(score[m][n][e], scale, -scaled));
          state.total[m][half] += score[m][n][e];
        }
    }

#pragma unroll
  for (int k = 0; k < kGroups; ++k) {
    unsigned a[kM][4];
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      const float(&low)[4] = score[m][2 * k];
      const float(&high)[4] = score[m][2 * k + 1];
      a[m][0] = packed<T>(low[0], low[1]);
      a[m][1] = packed<T>(low[2], low[3]);
      a[m][2] = packed<T>(high[0], high[1]);
      a[m][3] = packed<T>(high[2], high[3]);
    }
#pragma unroll
    for (int d = 0; d < kD; d += 2) {
      unsigned b[4];
      loadMatricesTransposed(b, keys.v + segmentAt<kWidth>(k * 16 + lane % 16, d + lane / 16));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        multiplyAdd<T>(state.sum[m][d], a[m], b[0], b[1]);
        multiplyAdd<T>(state.sum[m][d + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// Four warps with 16 * kM queries each, over tiles of keys that arrive while the one before is worked on.
template <typename T, int kWidth, int kM, bool kRaw>
__global__ void __launch_bounds__(kThreads, kWidth > 64   ? 2
                                            : kM == 1     ? 4
                                            : kWidth > 32 ? 2
                                                          : 3) attentionOnTensorCores(Operands<T> all) {
  constexpr int kQueries = 4 * 16 * kM;
  const HeadRows<T> head = headRows(all, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y));
  const int first_query = static_cast<int>(blockIdx.x) * kQueries;
  if (first_query >= head.rows) return;
  T* queries = static_cast<T*>(sharedMemory());
  auto* tiles = reinterpret_cast<KeyTile<T, kWidth>*>(queries + kQueries * kWidth);
  const auto fetchTile = [&](int tile) {
    fetchRows<kKeys, kWidth>(head.k, head.stride, all.head_dim, tile * kKeys, head.rows, tiles[tile % 2].k);
    fetchRows<kKeys, kWidth>(head.v, head.stride, all.head_dim, tile * kKeys, head.rows, tiles[tile % 2].v);
    commitCopies();
  };
  fetchRows<kQueries, kWidth>(head.q, head.stride, all.head_dim, first_query, head.rows, queries);
  fetchTile(0);

  const int warp_query = warpIndex() * 16 * kM;
  // An image of 1025 rows leaves one query for its last block and one key for its last tile: three of the block's warps
  // only fetch, and of the tile 16 keys are looked at.
  const bool idle = first_query + warp_query >= head.rows;
  Attended<kWidth, kM> state = {};
  for (int m = 0; m < kM; ++m) state.top[m][0] = state.top[m][1] = -kInfinity;

  const int tile_count = (head.rows + kKeys - 1) / kKeys;
  for (int tile = 0; tile < tile_count; ++tile) {
    waitForCopies<0>();
    __syncthreads();  // this tile is here, and nobody reads the one before any more
    if (tile + 1 < tile_count) fetchTile(tile + 1);
    if (idle) continue;
    const KeyTile<T, kWidth>& keys = tiles[tile % 2];
    const int left = head.rows - tile * kKeys;
    const float* const bias = head.bias != nullptr ? head.bias + tile * kKeys : nullptr;
    if (left > kKeys - 16)
      attend<kKeys / 16, kRaw>(queries, warp_query, keys, bias, left, all.scale, state);
    else if (left > 16)
      attend<kKeys / 16 - 1, kRaw>(queries, warp_query, keys, bias, left, all.scale, state);
    else
      attend<1, kRaw>(queries, warp_query, keys, bias, left, all.scale, state);
  }

  const int g = laneIndex() / 4, t = laneIndex() % 4;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float whole = state.total[m][half];
      whole += __shfl_xor_sync(kAllLanes, whole, 1);
      whole += __shfl_xor_sync(kAllLanes, whole, 2);
      const int query = first_query + warp_query + m * 16 + g + half * 8;
      if (query >= head.rows) continue;
      const float inverse = 1.0f / whole;
      T* to = head.out + static_cast<std::size_t>(query) * head.out_stride + 2 * t;
#pragma unroll
      for (int d = 0; d < kWidth / 8; ++d)
        if (d * 8 < all.head_dim)
          *reinterpret_cast<unsigned*>(to + d * 8) =
              packed<T>(state.sum[m][d][2 * half] * inverse, state.sum[m][d][2 * half + 1] * inverse);
    }
}

template <typename T, int kWidth, int kM>
void runOnTensorCores(const Stream& stream, const Operands<T>& all) {
  constexpr int kQueries = 4 * 16 * kM;
  const Grid grid{piecesOf(all.rows.longest, kQueries), static_cast<unsigned>(all.heads),
                  static_cast<unsigned>(all.rows.batch)};
  const auto kernel = all.key_bias == nullptr && all.scale > 0 ? attentionOnTensorCores<T, kWidth, kM, true>
                                                               : attentionOnTensorCores<T, kWidth, kM, false>;
  launch(kernel, grid, kThreads, kQueries * kWidth * sizeof(T) + 2 * sizeof(KeyTile<T, kWidth>), stream, all);
}

template <typename T>
void runOnTensorCores(const Stream& stream, const Operands<T>& all) {
  // Two fragments per warp halve the traffic from shared memory, where their sums fit into the registers; one fills a
  // GPU with half as many queries.
  const long long blocks = static_cast<long long>((all.rows.longest + 127) / 128) * all.heads * all.rows.batch;
  const bool many = blocks >= 2 * stream.device().multiprocessors;
  if (all.head_dim <= 32)
    return many ? runOnTensorCores<T, 32, 2>(stream, all) : runOnTensorCores<T, 32, 1>(stream, all);
  if (all.head_dim <= 64)
    return many ? runOnTensorCores<T, 64, 2>(stream, all) : runOnTensorCores<T, 64, 1>(stream, all);
  if (all.head_dim <= 96) return runOnTensorCores<T, 96, 1>(stream, all);
  runOnTensorCores<T, 128, 1>(stream, all);
}

// ---- any type and head_dim, fp32 ----

constexpr int kFp32Threads = 256;  // 16 x 16: rows of queries times columns
constexpr int kFp32Keys = 32;

// Rows are a multiple of 16 bytes and begin four banks apart, so that four neighbours of eight rows are read at once.
template <int kWidth, int kQueries>
struct Fp32Tiles {
  float q[kQueries][kWidth + 4];
  float k[kFp32Keys][kWidth + 4];
  float v[kFp32Keys][kWidth];
  float p[kQueries][kFp32Keys + 4];
};

template <typename T>
__device__ void widenRows(const T* from, std::size_t stride, int begin, int end, int count, int head_dim, int width,
                          float* to, int to_stride) {
  for (int i = static_cast<int>(threadIdx.x); i < count * width; i += kFp32Threads) {
    const int row = i / width, column = i % width;
    const bool valid = begin + row < end && column < head_dim;
    to[row * to_stride + column] =
        valid ? toFloat(from[static_cast<std::size_t>(begin + row) * stride + column]) : 0.0f;
  }
}

__device__ float4 four(const float* aligned) { return *reinterpret_cast<const float4*>(aligned); }

__device__ float dot(float4 a, float4 b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

__device__ float4 multiplyAdd(float a, float4 b, float4 sum) {
  return make_float4(fmaf(a, b.x, sum.x), fmaf(a, b.y, sum.y), fmaf(a, b.z, sum.z), fmaf(a, b.w, sum.w));
}

// head_dim <= kWidth. Thread (y, x) has queries y * kR ... and keys x, x + 16 of the scores, columns 4 x, 4 x + 64, ...
// and the three behind each of the output; the sixteen threads of one y are half a warp.
template <typename T, int kWidth, int kQueries>
__global__ void __launch_bounds__(kFp32Threads) attentionInFp32(Operands<T> all) {
  constexpr int kR = kQueries / 16, kC = kWidth / 64;
  const HeadRows<T> head = headRows(all, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y));
  const int first_query = static_cast<int>(blockIdx.x) * kQueries;
  if (first_query >= head.rows) return;
  auto& tiles = *static_cast<Fp32Tiles<kWidth, kQueries>*>(sharedMemory());
  const int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16 * kR;
  widenRows(head.q, head.stride, first_query, head.rows, kQueries, all.head_dim, kWidth, &tiles.q[0][0], kWidth + 4);
  float4 sum[kR][kC];
  float top[kR], total[kR];
  for (int r = 0; r < kR; ++r) {
    for (int c = 0; c < kC; ++c) sum[r][c] = make_float4(0, 0, 0, 0);
    top[r] = -kInfinity;
    total[r] = 0;
  }
  for (int begin = 0; begin < head.rows; begin += kFp32Keys) {
    __syncthreads();
    widenRows(head.k, head.stride, begin, head.rows, kFp32Keys, all.head_dim, kWidth, &tiles.k[0][0], kWidth + 4);
    widenRows(head.v, head.stride, begin, head.rows, kFp32Keys, all.head_dim, kWidth, &tiles.v[0][0], kWidth);
    __syncthreads();
    float score[kR][2] = {};
#pragma unroll 4
    for (int c = 0; c < kWidth; c += 4) {
      const float4 k0 = four(&tiles.k[x][c]), k1 = four(&tiles.k[x + 16][c]);
#pragma unroll
      for (int r = 0; r < kR; ++r) {
        const float4 q = four(&tiles.q[y + r][c]);
        score[r][0] = dot(q, k0, score[r][0]);
        score[r][1] = dot(q, k1, score[r][1]);
      }
    }
#pragma unroll
    for (int r = 0; r < kR; ++r) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int key = begin + x + 16 * e;
        const bool valid = key < head.rows;
        const float bias = valid && head.bias != nullptr ? head.bias[key] * kLog2E : 0.0f;
        score[r][e] = valid ? fmaf(score[r][e], all.scale, bias) : -kInfinity;
      }
      float most = fmaxf(top[r], fmaxf(score[r][0], score[r][1]));
#pragma unroll
      for (int distance = 8; distance > 0; distance /= 2)
        most = fmaxf(most, __shfl_xor_sync(kAllLanes, most, distance));
      const float correction = exp2f(top[r] - most);
      top[r] = most;
      total[r] *= correction;
#pragma unroll
      for (int c = 0; c < kC; ++c) sum[r][c] = multiplyAdd(correction, sum[r][c], make_float4(0, 0, 0, 0));
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float p = exp2f(score[r][e] - most);
        total[r] += p;
        tiles.p[y + r][x + 16 * e] = p;
      }
    }
    __syncwarp();  // a row of p is read by the half warp that wrote it
#pragma unroll 2
    for (int j = 0; j < kFp32Keys; j += 4) {
      float4 p[kR];
#pragma unroll
      for (int r = 0; r < kR; ++r) p[r] = four(&tiles.p[y + r][j]);
#pragma unroll
      for (int c = 0; c < kC; ++c) {
        const float* const v = &tiles.v[j][4 * x + 64 * c];
        const float4 v0 = four(v), v1 = four(v + kWidth), v2 = four(v + 2 * kWidth), v3 = four(v + 3 * kWidth);
#pragma unroll
        for (int r = 0; r < kR; ++r)
          sum[r][c] = multiplyAdd(p[r].w, v3,
                                  multiplyAdd(p[r].z, v2, multiplyAdd(p[r].y, v1, multiplyAdd(p[r].x, v0, sum[r][c]))));
      }
    }
    __syncwarp();
  }
#pragma unroll
  for (int r = 0; r < kR; ++r) {
    float whole = total[r];
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2) whole += __shfl_xor_sync(kAllLanes, whole, distance);
    const int query = first_query + y + r;
    if (query >= head.rows) continue;
    const float inverse = 1.0f / whole;
    T* const to = head.out + static_cast<std::size_t>(query) * head.out_stride;
    for (int c = 0; c < kC; ++c) {
      const float columns[4] = {sum[r][c].x, sum[r][c].y, sum[r][c].z, sum[r][c].w};
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (4 * x + 64 * c + e < all.head_dim) to[4 * x + 64 * c + e] = fromFloat<T>(columns[e] * inverse);
    }
  }
}

template <typename T, int kWidth, int kQueries>
void runInFp32(const Stream& stream, const Operands<T>& all) {
  const Grid grid{piecesOf(all.rows.longest, kQueries), static_cast<unsigned>(all.heads),
                  static_cast<unsigned>(all.rows.batch)};
  launch(attentionInFp32<T, kWidth, kQueries>, grid, kFp32Threads, sizeof(Fp32Tiles<kWidth, kQueries>), stream, all);
}

}  // namespace

void attention(const Stream& stream, const AttentionCall& call, Number number, const void* qkv, void* out) {
  if (call.rows.batch == 0 || call.rows.longest == 0) return;
  if (call.head_dim < 1 || call.head_dim > 128) {
    throw Error("attention on a GPU takes heads of up to 128 columns, not " + std::to_string(call.head_dim) +
                "; run this model on the CPU");
  }
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    const Operands<T> all{static_cast<const T*>(qkv), static_cast<T*>(out), call.heads, call.head_dim,
                          call.scale * kLog2E,        call.key_bias,        call.rows};
    if constexpr (!std::is_same_v<T, float>) {
      const int widest = stream.device().major < 8 ? 96 : 128;  // Turing: 64 KB of shared memory
      if (call.head_dim % 8 == 0 && call.head_dim <= widest) return runOnTensorCores(stream, all);
    }
    if (call.head_dim <= 64) return runInFp32<T, 64, 64>(stream, all);
    runInFp32<T, 128, 32>(stream, all);
  });
}

}  // namespace mpm::cuda
