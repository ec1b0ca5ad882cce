// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/added_rows.h"

#include "kernels/cuda/merging.cuh"

namespace mpm::cuda {
namespace {

constexpr int kColumns = 8;  // columns of a sum that a lane adds up at a time

// One step of patchWeights(): `row` {batch, patches} holds the row of each patch before the merge, and then that after
// it. `counted`, `members` {batch, patches}: memory. One block per image.
__global__ void __launch_bounds__(kScanThreads)
    divideWeights(const int* map, int patches, bool first, int* row, int* counted, int* members, float* weights) {
  const int begin = static_cast<int>(blockIdx.x) * patches, thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < patches; i += kScanThreads) {
    counted[begin + i] = 0;
    members[begin + i] = 0;
    if (first) row[begin + i] = i;
  }
  __syncthreads();
  // Each row is a member once, whichever of its patches comes first.
  for (int i = thread; i < patches; i += kScanThreads) {
    if (atomicMax(&counted[begin + row[begin + i]], 1) == 0) atomicAdd(&members[begin + map[begin + i]], 1);
  }
  __syncthreads();
  for (int i = thread; i < patches; i += kScanThreads) {
    const float before = first ? 1.0f : weights[begin + i];
    weights[begin + i] = before / static_cast<float>(members[begin + map[begin + i]]);
    row[begin + i] = map[begin + i];
  }
}

// One warp per row of x. Members are added in raster order, as on the CPU.
__global__ void addToRows(const float* added, std::ptrdiff_t image_stride, int special_added, const float* weights,
                          const int* map, int patches, int special, const int* offsets, int dim, float* x) {
  const int b = static_cast<int>(blockIdx.y);
  const int k = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (k >= offsets[b + 1] - offsets[b]) return;
  const float* const of_image = added + b * image_stride;
  float* const to = rowOf(x, offsets[b] + k, dim);
  if (k < special) {
    for (int c = laneIndex(); k < special_added && c < dim; c += kWarp) to[c] += rowOf(of_image, k, dim)[c];
    return;
  }
  for (int columns = laneIndex(); columns - laneIndex() < dim; columns += kColumns * kWarp) {
    float sum[kColumns];
    for (int e = 0; e < kColumns; ++e) sum[e] = columns + e * kWarp < dim ? to[columns + e * kWarp] : 0.0f;
    for (int begin = 0; begin < patches; begin += kWarp) {
      const int patch = begin + laneIndex();
      unsigned members = __ballot_sync(kAllLanes, patch < patches && map[b * patches + patch] == k - special);
      for (; members != 0; members &= members - 1) {
        const int member = begin + __ffs(static_cast<int>(members)) - 1;
        const float weight = weights[b * patches + member];
        const float* const from = rowOf(of_image, special_added + member, dim);
        for (int e = 0; e < kColumns; ++e) {
          const int c = columns + e * kWarp;
          if (c < dim) sum[e] += weight * from[c];
        }
      }
    }
    for (int e = 0; e < kColumns; ++e)
      if (columns + e * kWarp < dim) to[columns + e * kWarp] = sum[e];
  }
}

// means {batch, heads, dim}: of the rows of an image by the softmax of their logits {rows, heads}, in double. One block
// per head and image.
__global__ void __launch_bounds__(kThreads)
    poolRows(const float* x, int dim, const float* logits, int heads, const int* offsets, int special, int patches,
             const int* sizes, float* means) {
  auto* const sums = static_cast<double*>(sharedMemory());
  const int head = static_cast<int>(blockIdx.x), b = static_cast<int>(blockIdx.y);
  const int begin = offsets[b], rows = offsets[b + 1] - begin;
  const auto logit = [&](int i) { return static_cast<double>(rowOf(logits, begin + i, heads)[head]); };
  const auto sizeOf = [&](int i) { return i < special ? 1.0 : static_cast<double>(sizes[b * patches + i - special]); };
  double top = -__builtin_inf();
  for (int i = 0; i < rows; ++i) top = fmax(top, logit(i));
  double total = 0;
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += kThreads) total += sizeOf(i) * exp(logit(i) - top);
  total = blockSum<kWarps>(total, sums);
  float* const to = rowOf(means, b * heads + head, dim);
  for (int c = static_cast<int>(threadIdx.x); c < dim; c += kThreads) {
    double sum = 0;
    for (int i = 0; i < rows; ++i)
      sum += sizeOf(i) * exp(logit(i) - top) * static_cast<double>(rowOf(x, begin + i, dim)[c]);
    to[c] = static_cast<float>(sum / total);
  }
}

// One warp per result.
__global__ void applyValues(const float* means, int dim, int heads, const float* values, const float* bias, int width,
                            float* pooled) {
  const int b = static_cast<int>(blockIdx.y);
  const int j = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (j >= width) return;
  const float* const mean = rowOf(means, b * heads + j / (width / heads), dim);
  double sum = 0;
  for (int c = laneIndex(); c < dim; c += kWarp)
    sum += static_cast<double>(rowOf(values, j, dim)[c]) * static_cast<double>(mean[c]);
  sum = warpSum(sum);
  if (laneIndex() == 0) rowOf(pooled, b, width)[j] = static_cast<float>(sum) + bias[j];
}

}  // namespace

void AddedRows::run(const Stream& stream, const std::vector<const TokenState*>& states, const float* added,
                    bool with_special, bool one, int dim, float* x) {
  const TokenState& last = *states.back();
  const int patches = last.patches(), special = last.special(), batch = last.rows().batch;
  const std::size_t all = area(batch, patches);
  float* const weights = weights_.atLeast(stream, all);
  int* const rows = rows_.atLeast(stream, 3 * all);
  for (const TokenState* state : states) {
    launch(divideWeights, Grid{static_cast<unsigned>(batch)}, kScanThreads, 0, stream, state->clusterOfPatch(), patches,
           state == states.front(), rows, rows + all, rows + 2 * all, weights);
  }
  const int special_added = with_special ? special : 0;
  const std::ptrdiff_t stride = one ? 0 : static_cast<std::ptrdiff_t>(special_added + patches) * dim;
  launch(addToRows, Grid{piecesOf(last.rows().longest, kWarps), static_cast<unsigned>(batch)}, kThreads, 0, stream,
         added, stride, special_added, static_cast<const float*>(weights), last.clusterOfPatch(), patches, special,
         last.rows().offsets, dim, x);
}

AttentionPool::AttentionPool(const Stream& stream, MatrixView<const float> keys, MatrixView<const float> values,
                             const float* bias)
    : heads_(keys.rows),
      dim_(keys.cols),
      width_(values.rows),
      keys_(stream, keys, nullptr, Precision::kFp32),
      values_(uploaded(stream, std::vector<float>(values.data, values.row(values.rows)))),
      bias_(uploaded(stream, std::vector<float>(bias, bias + values.rows))) {}

void AttentionPool::run(const Stream& stream, Gemm& gemm, const float* x, const TokenState& state, float* pooled) {
  const Ragged& rows = state.rows();
  const auto batch = static_cast<unsigned>(rows.batch);
  float* const logits = logits_.atLeast(stream, area(rows.total, heads_));
  float* const means = means_.atLeast(stream, area(rows.batch * heads_, dim_));
  keys_.run(stream, gemm, x, rows.total, Into::kFloat, logits);
  launch(poolRows, Grid{static_cast<unsigned>(heads_), batch}, kThreads, kWarps * sizeof(double), stream, x, dim_,
         static_cast<const float*>(logits), heads_, rows.offsets, state.special(), state.patches(), state.sizes(),
         means);
  launch(applyValues, Grid{piecesOf(width_, kWarps), batch}, kThreads, 0, stream, static_cast<const float*>(means),
         dim_, heads_, static_cast<const float*>(values_.data()), static_cast<const float*>(bias_.data()), width_,
         pooled);
}

}  // namespace mpm::cuda
