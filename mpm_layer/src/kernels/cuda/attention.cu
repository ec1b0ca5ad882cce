// SPDX-License-Identifier: Apache-2.0
// Chooses an implementation of attention. The one on ordinary cores is here, for fp32 and for head sizes that the
// tensor cores do not support.
#include <string>
#include <type_traits>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/attention_operands.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

constexpr int kFp32Threads = 256;  // 16 x 16: rows of queries times columns
constexpr int kFp32Keys = 32;

// Rows are a multiple of 16 bytes and start four banks apart, so eight rows can be read at once, four elements each.
template <int kWidth, int kQueries>
struct Fp32Tiles {
  float q[kQueries][kWidth + 4];
  float k[kFp32Keys][kWidth + 4];
  float v[kFp32Keys][kWidth];
  float p[kQueries][kFp32Keys + 4];
};

template <typename T>
__device__ void widenRows(const T* from, std::ptrdiff_t stride, int begin, int end, int count, int head_dim, int width,
                          float* to, int to_stride) {
  for (int i = static_cast<int>(threadIdx.x); i < count * width; i += kFp32Threads) {
    const int row = i / width, column = i % width;
    const bool valid = begin + row < end && column < head_dim;
    to[row * to_stride + column] = valid ? toFloat(rowOf(from, begin + row, stride)[column]) : 0.0f;
  }
}

__device__ float4 four(const float* aligned) { return *reinterpret_cast<const float4*>(aligned); }

__device__ float dot(float4 a, float4 b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

__device__ float4 multiplyAdd(float a, float4 b, float4 sum) {
  return make_float4(fmaf(a, b.x, sum.x), fmaf(a, b.y, sum.y), fmaf(a, b.z, sum.z), fmaf(a, b.w, sum.w));
}

// What positions add to the logit of a pair, in units of the softmax.
__device__ float ofPair(const PairPositions& positions, int heads, int head, int first_row, int query, int key) {
  float sum = 0;
  if (positions.table != nullptr) {
    const int pair = query * positions.tokens + key;
    sum = positions.table[head * positions.entries + (positions.index != nullptr ? positions.index[pair] : pair)];
  }
  if (positions.products != nullptr) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(first_row + query) * heads + head;
    const float* const products = rowOf(positions.products, row, positions.height + positions.width);
    sum += products[key / positions.width] + products[positions.height + key % positions.width];
  }
  return sum * kLog2E;
}

// head_dim <= kWidth. Thread (y, x) has kR queries from y * kR on, and keys x, x + 16 of the scores. Of the output it
// has four columns each from 4 x, 4 x + 64, ... on. The sixteen threads of one y are half a warp.
template <typename T, int kWidth, int kQueries, bool kPositions>
__global__ void __launch_bounds__(kFp32Threads) attend(Operands<T> all, PairPositions positions) {
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
  for (int begin = 0; begin < head.keys; begin += kFp32Keys) {
    __syncthreads();
    widenRows(head.k, head.key_stride, begin, head.keys, kFp32Keys, all.head_dim, kWidth, &tiles.k[0][0], kWidth + 4);
    widenRows(head.v, head.key_stride, begin, head.keys, kFp32Keys, all.head_dim, kWidth, &tiles.v[0][0], kWidth);
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
        const bool valid = key < head.keys;
        float bias = valid && head.bias != nullptr ? head.bias[key] * kLog2E : 0.0f;
        if (kPositions && valid && first_query + y + r < head.rows) {
          bias += ofPair(positions, all.heads, static_cast<int>(blockIdx.y), all.rows.offsets[blockIdx.z],
                         first_query + y + r, key);
        }
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
        for (int r = 0; r < kR; ++r) {
          sum[r][c] = multiplyAdd(p[r].w, v3,
                                  multiplyAdd(p[r].z, v2, multiplyAdd(p[r].y, v1, multiplyAdd(p[r].x, v0, sum[r][c]))));
        }
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
    T* const to = rowOf(head.out, query, head.out_stride);
    for (int c = 0; c < kC; ++c) {
      const float columns[4] = {sum[r][c].x, sum[r][c].y, sum[r][c].z, sum[r][c].w};
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (4 * x + 64 * c + e < all.head_dim) to[4 * x + 64 * c + e] = fromFloat<T>(columns[e] * inverse);
    }
  }
}

template <typename T, int kWidth, int kQueries>
void runInFp32(const Stream& stream, const Operands<T>& all, const PairPositions& positions) {
  const auto kernel = positions.tokens > 0 ? attend<T, kWidth, kQueries, true> : attend<T, kWidth, kQueries, false>;
  const Grid grid{piecesOf(all.rows.longest, kQueries), static_cast<unsigned>(all.heads),
                  static_cast<unsigned>(all.rows.batch)};
  launch(kernel, grid, kFp32Threads, sizeof(Fp32Tiles<kWidth, kQueries>), stream, all, positions);
}

// One warp per row and head, a lane owns every 32nd product.
template <typename T>
__global__ void multiplyByPositions(Operands<T> all, int height, int width, const float* rows, const float* columns,
                                    float* products) {
  const int task = static_cast<int>(blockIdx.x) * (kFp32Threads / kWarp) + warpIndex();
  const int row = task / all.heads, head = task % all.heads, image = static_cast<int>(blockIdx.y);
  const HeadRows<T> of_head = headRows(all, image, head);
  if (row >= of_head.rows) return;
  const T* const q = rowOf(of_head.q, row, of_head.stride);
  const int sides = height + width;
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(all.rows.offsets[image] + row) * all.heads + head;
  float* const to = rowOf(products, first, sides);
  for (int k = laneIndex(); k < sides; k += kWarp) {
    const float* const position = k < height ? rowOf(rows, row / width - k + height - 1, all.head_dim)
                                             : rowOf(columns, row % width - (k - height) + width - 1, all.head_dim);
    float sum = 0;
    for (int c = 0; c < all.head_dim; ++c) sum = fmaf(toFloat(q[c]), position[c], sum);
    to[k] = sum;
  }
}

}  // namespace

void attention(const Stream& stream, const AttentionCall& call, Number number, const void* qkv, void* out) {
  if (call.rows.batch == 0 || call.rows.longest == 0) return;
  const bool turing = stream.device().major < 8;  // 64 KB of shared memory
  const int most = turing ? 128 : 256;
  if (call.head_dim < 1 || call.head_dim > most) {
    throw Error("attention on this GPU takes heads of up to " + std::to_string(most) + " columns, not " +
                std::to_string(call.head_dim) + "; run this model on the CPU");
  }
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    const Operands<T> all{static_cast<const T*>(qkv),
                          static_cast<T*>(out),
                          call.heads,
                          call.head_dim,
                          call.scale * kLog2E,
                          call.key_bias,
                          call.rows,
                          static_cast<const T*>(call.kept),
                          call.kept_rows};
    if constexpr (!std::is_same_v<T, float>) {
      const int widest = turing ? 96 : 128;
      if (call.head_dim % 8 == 0 && call.head_dim <= widest && call.positions.tokens == 0)
        return attentionOnTensorCores(stream, all, call.warpgroups);
    }
    if (call.head_dim <= 64) return runInFp32<T, 64, 64>(stream, all, call.positions);
    if (call.head_dim <= 128) return runInFp32<T, 128, 32>(stream, all, call.positions);
    runInFp32<T, 256, 16>(stream, all, call.positions);
  });
}

void relativeProducts(const Stream& stream, const AttentionCall& call, int height, int width, const float* rows,
                      const float* columns, Number number, const void* qkv, float* products) {
  if (call.rows.batch == 0 || call.rows.longest == 0) return;
  const Grid grid{piecesOf(call.rows.longest * call.heads, kFp32Threads / kWarp),
                  static_cast<unsigned>(call.rows.batch)};
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    const Operands<T> all{
        static_cast<const T*>(qkv), nullptr, call.heads, call.head_dim, call.scale, nullptr, call.rows, nullptr, 0};
    launch(multiplyByPositions<T>, grid, kFp32Threads, 0, stream, all, height, width, rows, columns, products);
  });
}

}  // namespace mpm::cuda
