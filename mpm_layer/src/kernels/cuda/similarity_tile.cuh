// SPDX-License-Identifier: Apache-2.0
// Products of 128 rows of halves with 128 others on the tensor cores, by one block. Two implementations: WarpProducts
// for every GPU since Turing, WarpgroupProducts for Hopper, whose tensor cores read shared memory directly. row() and
// column() tell which similarities a thread has.
#pragma once

#include "kernels/cuda/kernel.cuh"
#include "kernels/cuda/warpgroup.cuh"

namespace mpm::cuda {

constexpr int kTile = 128;  // rows of a tile on either side
constexpr int kStages = 3;

/// The sums of one thread.
template <class Products>
using Similarities = float[Products::kM][Products::kN][4];

/// kDepth columns of both sides.
template <class Products>
struct Stage {
  Half side[2][kTile * Products::kDepth];
};

/// Two tiles of an image: the rows from begin[0] and from begin[1] on. Halves {rows, padded}.
struct TilePair {
  const Half* halves;
  int padded, rows;
  int begin[2];

  __device__ bool same() const { return begin[0] == begin[1]; }
};

/// 2 x 2 warps of 64 x 64 similarities. Its stages take 48 KB, which every device allows.
struct WarpProducts {
  static constexpr int kThreads = 128, kDepth = 32;
  static constexpr int kM = 4, kN = 8;  // fragments of 16 rows and of 8 columns

  static __device__ int firstRow() { return warpIndex() % 2 * 64; }
  static __device__ int firstColumn() { return warpIndex() / 2 * 64; }
  static __device__ int row(int m, int half) { return firstRow() + laneIndex() / 4 + m * 16 + half * 8; }
  static __device__ int column(int n, int parity) { return firstColumn() + laneIndex() % 4 * 2 + n * 8 + parity; }

  /// Position of a segment of 16 bytes of a row. Permuted, so that the eight rows of ldmatrix use all banks.
  static __device__ int segmentAt(int row, int segment) { return row * kDepth + (segment ^ ((row >> 1) & 3)) * 8; }

  static __device__ void publishCopies() {}

  static __device__ void multiply(const Half* rows, const Half* columns, Similarities<WarpProducts>& sum) {
    const int lane = laneIndex();
#pragma unroll
    for (int k = 0; k < kDepth / 16; ++k) {
      unsigned a[kM][4], b[kN / 2][4];
#pragma unroll
      for (int m = 0; m < kM; ++m)
        loadMatrices(a[m], rows + segmentAt(firstRow() + m * 16 + lane % 16, 2 * k + lane / 16));
#pragma unroll
      for (int n = 0; n < kN / 2; ++n) {
        const int column = firstColumn() + n * 16 + lane % 8 + lane / 16 * 8;
        loadMatrices(b[n], columns + segmentAt(column, 2 * k + lane / 8 % 2));
      }
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int n = 0; n < kN; ++n) multiplyAdd<Half>(sum[m][n], a[m], b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
    }
  }
};

/// Two groups of four warps, each with 64 rows x 128 columns. Its stages take 96 KB.
struct WarpgroupProducts {
  static constexpr int kThreads = 256, kDepth = kWarpgroupRowBytes / sizeof(Half);
  static constexpr int kM = 1, kN = 16;

  static __device__ int row(int, int half) { return warpIndex() * 16 + laneIndex() / 4 + half * 8; }
  static __device__ int column(int n, int parity) { return n * 8 + laneIndex() % 4 * 2 + parity; }
  static __device__ int segmentAt(int row, int segment) { return row * kDepth + (segment ^ (row & 7)) * 8; }

  static __device__ void publishCopies() { publishSharedToTensorCores(); }

  static __device__ void multiply(const Half* rows, const Half* columns, Similarities<WarpgroupProducts>& sum) {
    beginWarpgroupProducts();
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) multiplyAddRows(sum[0], rows + warpIndex() / 4 * 64 * kDepth + k, columns + k);
    // Meanwhile the other block on this multiprocessor uses the tensor cores.
    finishWarpgroupProducts(sum);
  }
};

/// The copies of one thread per stage: one segment of some rows of each side. The rows are a multiple of 8 apart, so
/// the segment has the same permuted position in all of them. Rows after the end of the image are zeros.
template <class Products>
struct Fetch {
  static constexpr int kDepth = Products::kDepth;
  static constexpr int kSegments = kDepth / 8, kStep = Products::kThreads / kSegments, kRows = kTile / kStep;
  static_assert(kStep % 8 == 0 && kTile % kStep == 0);
  const Half* from[2];
  int sides;            // 1 if both tiles are the same
  std::ptrdiff_t step;  // elements from one of its rows to the next
  int left[2];          // rows from its first row to the end of the image
  int target;

  __device__ explicit Fetch(const TilePair& tiles) : sides(tiles.same() ? 1 : 2) {
    const int row = static_cast<int>(threadIdx.x) / kSegments, segment = static_cast<int>(threadIdx.x) % kSegments;
    step = static_cast<std::ptrdiff_t>(kStep) * tiles.padded;
    target = Products::segmentAt(row, segment);
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      left[side] = tiles.rows - tiles.begin[side] - row;
      from[side] = rowOf(tiles.halves, tiles.begin[side] + row, tiles.padded) + segment * 8;
    }
  }
  __device__ void next(Stage<Products>& stage) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side == sides) break;
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        copyAsync16(stage.side[side] + target + i * kStep * kDepth, from[side] + i * step, i * kStep < left[side]);
      from[side] += kDepth;
    }
  }
};

/// Adds the products of the two tiles to `sum`. Uses kStages stages of dynamic shared memory, which are free again
/// after the next barrier.
template <class Products>
__device__ __forceinline__ void multiplyTiles(const TilePair& tiles, Similarities<Products>& sum) {
  auto* const stages = static_cast<Stage<Products>*>(sharedMemory());
  const int chunks = tiles.padded / Products::kDepth;
  Fetch<Products> fetch(tiles);
  for (int c = 0; c < kStages - 1; ++c) {
    if (c < chunks) fetch.next(stages[c]);
    commitCopies();
  }
  int here = 0, next = kStages - 1;
  for (int c = 0; c < chunks; ++c) {
    waitForCopies<kStages - 2>();
    Products::publishCopies();
    __syncthreads();  // this stage has arrived, and no thread reads the stage that is filled next
    if (c + kStages - 1 < chunks) fetch.next(stages[next]);
    commitCopies();
    Products::multiply(stages[here].side[0], stages[here].side[tiles.same() ? 0 : 1], sum);
    here = here + 1 < kStages ? here + 1 : 0;
    next = next + 1 < kStages ? next + 1 : 0;
  }
}

}  // namespace mpm::cuda
