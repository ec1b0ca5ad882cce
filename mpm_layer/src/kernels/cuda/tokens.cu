// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tokens.h"

#include "kernels/cuda/platform.cuh"
#include "kernels/cuda/rows.cuh"
#include "kernels/cuda/warp.cuh"

namespace mpm::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

__device__ void copyRow(const float* from, float* to, int dim) {
  for (int c = 4 * laneIndex(); c < dim; c += 4 * kWarp) storeFour(to, dim, c, loadFour(from, dim, c));
}

// One warp per row of the result.
__global__ void behindFront(const float* x, int dim, int special_before, const int* before, const float* front,
                            int special_after, const int* after, float* y) {
  const int b = static_cast<int>(blockIdx.y);
  const int k = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (k >= after[b + 1] - after[b]) return;
  const float* from =
      k < special_after ? rowOf(front, k, dim) : rowOf(x, before[b] + special_before + k - special_after, dim);
  copyRow(from, rowOf(y, after[b] + k, dim), dim);
}

// Copies the rows first ... first + count - 1 of each image.
__global__ void gatherFront(const float* x, int dim, const int* offsets, int first, int count, float* front) {
  const int b = static_cast<int>(blockIdx.y);
  const int k = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (k >= count) return;
  copyRow(rowOf(x, offsets[b] + first + k, dim), rowOf(front, b * count + k, dim), dim);
}

// One thread per column: neighbouring threads read neighbouring elements.
__global__ void weightedMean(const float* x, int dim, const int* offsets, int special, int patches, const int* sizes,
                             float* pooled) {
  const int b = static_cast<int>(blockIdx.y);
  const int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (c >= dim) return;
  const int begin = offsets[b] + special, live = offsets[b + 1] - begin;
  double sum = 0;  // as on the CPU
  for (int i = 0; i < live; ++i) sum += static_cast<double>(sizes[b * patches + i]) * rowOf(x, begin + i, dim)[c];
  rowOf(pooled, b, dim)[c] = static_cast<float>(sum / patches);
}

unsigned images(const TokenState& state) { return static_cast<unsigned>(state.rows().batch); }

}  // namespace

void replaceSpecialRows(const Stream& stream, const float* x, int dim, const TokenState& before, const float* front,
                        const TokenState& after, float* y) {
  launch(behindFront, Grid{piecesOf(after.rows().longest, kWarps), images(after)}, kThreads, 0, stream, x, dim,
         before.special(), before.rows().offsets, front, after.special(), after.rows().offsets, y);
}

void gatherSpecialRows(const Stream& stream, const float* x, int dim, const TokenState& state, float* front) {
  launch(gatherFront, Grid{piecesOf(state.special(), kWarps), images(state)}, kThreads, 0, stream, x, dim,
         state.rows().offsets, 0, state.special(), front);
}

void meanOverPatches(const Stream& stream, const float* x, int dim, const TokenState& state, float* pooled) {
  launch(weightedMean, Grid{piecesOf(dim, kThreads), images(state)}, kThreads, 0, stream, x, dim, state.rows().offsets,
         state.special(), state.patches(), state.sizes(), pooled);
}

void specialRow(const Stream& stream, const float* x, int dim, const TokenState& state, int index, float* pooled) {
  launch(gatherFront, Grid{1, images(state)}, kThreads, 0, stream, x, dim, state.rows().offsets, index, 1, pooled);
}

}  // namespace mpm::cuda
