// SPDX-License-Identifier: Apache-2.0
// Attention of 16-bit operands on the tensor cores: a softmax in registers between two products. The products have two
// implementations, ByWarps and ByWarpgroups, which share the softmax and the loop over tiles of keys.
#include "kernels/cuda/attention_operands.cuh"
#include "kernels/cuda/warpgroup.cuh"

namespace mpm::cuda {
namespace {

constexpr int kKeys = 64;  // per tile

// Heads are padded with zeros to kWidth columns.
template <typename T, int kWidth>
struct KeyTile {
  T k[kKeys * kWidth], v[kKeys * kWidth];
};

// The segments of 16 bytes are permuted within a row, so that the eight rows of ldmatrix use all banks. All rows of 128
// or 256 bytes start in the same bank, every second row of 64 or 192 bytes.
template <int kWidth>
__device__ int segmentAt(int row, int segment) {
  static_assert(kWidth % 32 == 0);
  return row * kWidth + (kWidth % 64 == 0 ? segment ^ (row & 7) : (segment & ~3) | ((segment ^ (row >> 1)) & 3)) * 8;
}

// Copies kRows rows from `begin` on, with zeros after `end`. Called by all kThreads threads of the block.
template <int kThreads, int kRows, int kWidth, typename T>
__device__ void fetchRows(const T* from, std::ptrdiff_t stride, int head_dim, int begin, int end, T* to) {
  constexpr int kSegments = kWidth / 8, kStep = kThreads / kSegments;
  if constexpr (kThreads % kSegments == 0) {
    // The rows of a thread are a multiple of 8 apart, so its segment has the same permuted position in all of them.
    static_assert(kRows % kStep == 0 && kStep % 8 == 0);
    const int first = static_cast<int>(threadIdx.x) / kSegments, segment = static_cast<int>(threadIdx.x) % kSegments;
    const T* source = rowOf(from, begin + first, stride) + segment * 8;
    T* const target = to + segmentAt<kWidth>(first, segment);
    const int rows = segment * 8 < head_dim ? end - begin - first : 0;
#pragma unroll
    for (int i = 0; i < kRows / kStep; ++i) {
      copyAsync16(target + i * kStep * kWidth, source, i * kStep < rows);
      source += kStep * stride;
    }
  } else {
    static_assert(kRows * kSegments % kThreads == 0);
#pragma unroll
    for (int i = 0; i < kRows * kSegments / kThreads; ++i) {
      const int s = static_cast<int>(threadIdx.x) + i * kThreads, row = s / kSegments, segment = s % kSegments;
      copyAsync16(to + segmentAt<kWidth>(row, segment), rowOf(from, begin + row, stride) + segment * 8,
                  begin + row < end && segment * 8 < head_dim);
    }
  }
}

template <typename T>
__device__ unsigned packed(float low, float high) {
  return static_cast<unsigned>(fromFloat<T>(low).bits) | static_cast<unsigned>(fromFloat<T>(high).bits) << 16;
}

// State of a thread for its queries, in kM fragments: for its rows in each half of a fragment.
template <int kWidth, int kM>
struct Attended {
  float sum[kM][kWidth / 8][4];    // of values times probabilities
  float top[kM][2], total[kM][2];  // the largest score, and the sum of the probabilities of this lane's keys
};

// fp32 probabilities as the left operand of a product. A result of m16n8k16 has the layout of half a left operand.
template <typename T>
__device__ __forceinline__ void packProbabilities(const float (&low)[4], const float (&high)[4], unsigned (&a)[4]) {
  a[0] = packed<T>(low[0], low[1]);
  a[1] = packed<T>(low[2], low[3]);
  a[2] = packed<T>(high[0], high[1]);
  a[3] = packed<T>(high[2], high[3]);
}

// Four warps, each with kFragments fragments of 16 queries.
template <typename T, int kColumns, int kFragments>
struct ByWarps {
  using Number = T;
  static constexpr int kWidth = kColumns, kM = kFragments, kThreads = 128, kQueries = 64 * kM;
  static constexpr int kBlocks = kWidth > 64 ? 2 : kM == 1 ? 4 : kWidth > 32 ? 2 : 3;  // per multiprocessor

  static __device__ int firstQuery() { return warpIndex() * 16 * kM; }
  static __device__ int query(int m, int half) { return firstQuery() + m * 16 + laneIndex() / 4 + half * 8; }

  const T* queries;

  __device__ void begin(const T* shared_queries) { queries = shared_queries; }
  __device__ void publishCopies() const {}

  template <int kGroups>
  __device__ __forceinline__ void multiplyKeys(const KeyTile<T, kWidth>& keys,
                                               float (&score)[kM][2 * kGroups][4]) const {
    const int lane = laneIndex();
#pragma unroll
    for (int k = 0; k < kWidth / 16; ++k) {
      unsigned a[kM][4];
#pragma unroll
      for (int m = 0; m < kM; ++m)
        loadMatrices(a[m], queries + segmentAt<kWidth>(firstQuery() + m * 16 + lane % 16, 2 * k + lane / 16));
#pragma unroll
      for (int n = 0; n < 2 * kGroups; n += 2) {
        unsigned b[4];
        loadMatrices(b, keys.k + segmentAt<kWidth>(n * 8 + lane % 8 + lane / 16 * 8, 2 * k + lane / 8 % 2));
#pragma unroll
        for (int m = 0; m < kM; ++m) {
          multiplyAdd<T>(score[m][n], a[m], b[0], b[1]);
          multiplyAdd<T>(score[m][n + 1], a[m], b[2], b[3]);
        }
      }
    }
  }

  template <int kGroups>
  __device__ __forceinline__ void multiplyValues(const float (&probability)[kM][2 * kGroups][4],
                                                 const KeyTile<T, kWidth>& keys,
                                                 float (&sum)[kM][kWidth / 8][4]) const {
    const int lane = laneIndex();
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
      unsigned a[kM][4];
#pragma unroll
      for (int m = 0; m < kM; ++m) packProbabilities<T>(probability[m][2 * k], probability[m][2 * k + 1], a[m]);
#pragma unroll
      for (int d = 0; d < kWidth / 8; d += 2) {
        unsigned b[4];
        loadMatricesTransposed(b, keys.v + segmentAt<kWidth>(k * 16 + lane % 16, d + lane / 16));
#pragma unroll
        for (int m = 0; m < kM; ++m) {
          multiplyAdd<T>(sum[m][d], a[m], b[0], b[1]);
          multiplyAdd<T>(sum[m][d + 1], a[m], b[2], b[3]);
        }
      }
    }
  }
};

// Two warpgroups of 64 queries each. Queries stay in registers; the tensor cores read keys and values from shared
// memory. While one warpgroup computes probabilities, the others on the multiprocessor multiply.
template <typename T>
struct ByWarpgroups {
  using Number = T;
  static constexpr int kWidth = 64, kM = 1, kThreads = 256, kQueries = 128, kBlocks = 2;
  static_assert(kWidth * sizeof(T) == kWarpgroupRowBytes);

  static __device__ int firstQuery() { return warpIndex() / 4 * 64; }
  static __device__ int query(int, int half) { return warpIndex() * 16 + laneIndex() / 4 + half * 8; }

  unsigned queries[kWidth / 16][4];

  __device__ void begin(const T* shared_queries) {
    const int lane = laneIndex();
#pragma unroll
    for (int k = 0; k < kWidth / 16; ++k)
      loadMatrices(queries[k], shared_queries + segmentAt<kWidth>(warpIndex() * 16 + lane % 16, 2 * k + lane / 16));
  }
  __device__ void publishCopies() const { publishSharedToTensorCores(); }

  template <int kGroups>
  __device__ __forceinline__ void multiplyKeys(const KeyTile<T, kWidth>& keys,
                                               float (&score)[kM][2 * kGroups][4]) const {
    beginWarpgroupProducts();
#pragma unroll
    for (int k = 0; k < kWidth / 16; ++k) multiplyAddRows(score[0], queries[k], keys.k + k * 16);
    finishWarpgroupProducts(score);
  }

  template <int kGroups>
  __device__ __forceinline__ void multiplyValues(const float (&probability)[kM][2 * kGroups][4],
                                                 const KeyTile<T, kWidth>& keys,
                                                 float (&sum)[kM][kWidth / 8][4]) const {
    unsigned a[kGroups][4];
#pragma unroll
    for (int k = 0; k < kGroups; ++k) packProbabilities<T>(probability[0][2 * k], probability[0][2 * k + 1], a[k]);
    beginWarpgroupProducts();
#pragma unroll
    for (int k = 0; k < kGroups; ++k) multiplyAddColumns(sum[0], a[k], keys.v + k * 16 * kWidth);
    finishWarpgroupProducts(sum);
  }
};

// The first 16 * kGroups keys of a tile; `left` of them exist. Scores stay in registers, become probabilities there,
// and are the left operand of the product with v.
//
// kRaw: without a bias and with a scale above 0, the largest product is also the largest score. Then the maximum is
// taken before scaling, and the scale is applied in the exponent: one operation per score instead of three.
template <int kGroups, bool kRaw, class Products, typename Tile>
__device__ __forceinline__ void attend(const Products& products, const Tile& keys, const float* bias, int left,
                                       float given_scale, Attended<Products::kWidth, Products::kM>& state) {
  constexpr int kM = Products::kM, kN = 2 * kGroups, kD = Products::kWidth / 8;
  const int t = laneIndex() % 4;
  float score[kM][kN][4] = {};
  products.template multiplyKeys<kGroups>(keys, score);
  if (!kRaw || left < 16 * kGroups) {
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int parity = 0; parity < 2; ++parity) {
        const int key = n * 8 + 2 * t + parity;
        const bool valid = key < left;
        const float added = !kRaw && valid && bias != nullptr ? bias[key] * kLog2E : 0.0f;
#pragma unroll
        for (int m = 0; m < kM; ++m) {
#pragma unroll
          for (int e = parity; e < 4; e += 2) {
            float& mine = score[m][n][e];
            mine = !valid ? -kInfinity : kRaw ? mine : fmaf(mine, given_scale, added);
          }
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
      const float correction = exp2Fast((top - most) * scale);  // 0 for the first tile, 1 if the maximum is unchanged
      top = most;
      state.total[m][half] *= correction;
#pragma unroll
      for (int d = 0; d < kD; ++d) {
        state.sum[m][d][2 * half] *= correction;
        state.sum[m][d][2 * half + 1] *= correction;
      }
#pragma unroll
      for (int n = 0; n < kN; ++n) {
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          score[m][n][e] = exp2Fast(fmaf(score[m][n][e], scale, -scaled));
          state.total[m][half] += score[m][n][e];
        }
      }
    }

  products.template multiplyValues<kGroups>(score, keys, state.sum);
}

// The queries of one block, over tiles of keys. The next tile is copied while the current one is used.
template <class Products, bool kRaw>
__global__ void __launch_bounds__(Products::kThreads, Products::kBlocks)
    attendOnTensorCores(Operands<typename Products::Number> all) {
  using T = typename Products::Number;
  constexpr int kWidth = Products::kWidth, kM = Products::kM, kQueries = Products::kQueries;
  const HeadRows<T> head = headRows(all, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y));
  const int first_query = static_cast<int>(blockIdx.x) * kQueries;
  if (first_query >= head.rows) return;
  T* queries = static_cast<T*>(sharedMemory());
  auto* tiles = reinterpret_cast<KeyTile<T, kWidth>*>(queries + kQueries * kWidth);
  const auto fetchTile = [&](int tile) {
    fetchRows<Products::kThreads, kKeys, kWidth>(head.k, head.key_stride, all.head_dim, tile * kKeys, head.keys,
                                                 tiles[tile % 2].k);
    fetchRows<Products::kThreads, kKeys, kWidth>(head.v, head.key_stride, all.head_dim, tile * kKeys, head.keys,
                                                 tiles[tile % 2].v);
    commitCopies();
  };
  fetchRows<Products::kThreads, kQueries, kWidth>(head.q, head.stride, all.head_dim, first_query, head.rows, queries);
  fetchTile(0);

  // With 1025 rows the last block has one query and the last tile one key. Warps without queries only copy, and only 16
  // keys of the tile are used.
  const bool idle = first_query + Products::firstQuery() >= head.rows;
  Products products = {};
  Attended<kWidth, kM> state = {};
  for (int m = 0; m < kM; ++m) state.top[m][0] = state.top[m][1] = -kInfinity;

  const int tile_count = (head.keys + kKeys - 1) / kKeys;
  for (int tile = 0; tile < tile_count; ++tile) {
    waitForCopies<0>();
    products.publishCopies();
    __syncthreads();  // this tile has arrived, and no thread reads the previous one
    if (tile + 1 < tile_count) fetchTile(tile + 1);
    if (idle) continue;
    if (tile == 0) products.begin(queries);
    const KeyTile<T, kWidth>& keys = tiles[tile % 2];
    const int left = head.keys - tile * kKeys;
    const float* const bias = head.bias != nullptr ? head.bias + tile * kKeys : nullptr;
    if (left > kKeys - 16)
      attend<kKeys / 16, kRaw>(products, keys, bias, left, all.scale, state);
    else if (left > 16)
      attend<kKeys / 16 - 1, kRaw>(products, keys, bias, left, all.scale, state);
    else
      attend<1, kRaw>(products, keys, bias, left, all.scale, state);
  }

  const int t = laneIndex() % 4;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float whole = state.total[m][half];
      whole += __shfl_xor_sync(kAllLanes, whole, 1);
      whole += __shfl_xor_sync(kAllLanes, whole, 2);
      const int query = first_query + Products::query(m, half);
      if (query >= head.rows) continue;
      const float inverse = 1.0f / whole;
      T* to = rowOf(head.out, query, head.out_stride) + 2 * t;
#pragma unroll
      for (int d = 0; d < kWidth / 8; ++d) {
        if (d * 8 < all.head_dim) {
          *reinterpret_cast<unsigned*>(to + d * 8) =
              packed<T>(state.sum[m][d][2 * half] * inverse, state.sum[m][d][2 * half + 1] * inverse);
        }
      }
    }
}

template <class Products>
void run(const Stream& stream, const Operands<typename Products::Number>& all) {
  using Tile = KeyTile<typename Products::Number, Products::kWidth>;
  const Grid grid{piecesOf(all.rows.longest, Products::kQueries), static_cast<unsigned>(all.heads),
                  static_cast<unsigned>(all.rows.batch)};
  const auto kernel = all.key_bias == nullptr && all.scale > 0 ? attendOnTensorCores<Products, true>
                                                               : attendOnTensorCores<Products, false>;
  const std::size_t queries = area(Products::kQueries, Products::kWidth) * sizeof(typename Products::Number);
  launch(kernel, grid, Products::kThreads, queries + 2 * sizeof(Tile), stream, all);
}

}  // namespace

template <typename T>
void attentionOnTensorCores(const Stream& stream, const Operands<T>& all, std::optional<bool> warpgroups) {
  const int multiprocessors = stream.device().multiprocessors;
  const long long blocks = static_cast<long long>((all.rows.longest + 127) / 128) * all.heads * all.rows.batch;
  // A batch that leaves multiprocessors idle is faster on warps, which make twice as many blocks of it.
  if (warpgroups.value_or(2 * blocks >= multiprocessors) && all.head_dim > 32 && all.head_dim <= 64 &&
      hasWarpgroupProducts(stream.device()))
    return run<ByWarpgroups<T>>(stream, all);
  // Two fragments per warp halve the reads of shared memory, if their sums fit into registers. One fragment gives twice
  // as many blocks, for batches that would not fill the GPU.
  const bool many = blocks >= 2 * multiprocessors;
  if (all.head_dim <= 32) return many ? run<ByWarps<T, 32, 2>>(stream, all) : run<ByWarps<T, 32, 1>>(stream, all);
  if (all.head_dim <= 64) return many ? run<ByWarps<T, 64, 2>>(stream, all) : run<ByWarps<T, 64, 1>>(stream, all);
  if (all.head_dim <= 96) return run<ByWarps<T, 96, 1>>(stream, all);
  run<ByWarps<T, 128, 1>>(stream, all);
}

template void attentionOnTensorCores(const Stream&, const Operands<Half>&, std::optional<bool>);
template void attentionOnTensorCores(const Stream&, const Operands<Bfloat>&, std::optional<bool>);

}  // namespace mpm::cuda
