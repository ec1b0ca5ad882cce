// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/mask_scores.h"

#include "kernels/cuda/kernel.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

constexpr int kTile = 32;      // rows and classes of a block, and depth of a step
constexpr int kThreads = 256;  // each computes four scores of one class
constexpr int kRowsApart = kThreads / kTile;

// scores = rows times the class keys of their image, in tiles of shared memory. Class rows precede each image in x.
__global__ void __launch_bounds__(kThreads)
    multiplyByClasses(const float* x, const float* keys, int depth, int classes, const int* with_classes,
                      const int* without, float* scores) {
  float* const rows = static_cast<float*>(sharedMemory());  // {kTile, kTile + 1}: a column uses every bank once
  float* const columns = rows + kTile * (kTile + 1);
  const int b = static_cast<int>(blockIdx.z);
  const int live = without[b + 1] - without[b];
  const int r0 = static_cast<int>(blockIdx.x) * kTile, c0 = static_cast<int>(blockIdx.y) * kTile;
  if (r0 >= live) return;
  const float* image = rowOf(x, with_classes[b] + classes, depth);
  const float* classes_of_image = rowOf(keys, b, classes * depth);
  const int across = static_cast<int>(threadIdx.x) % kTile, down = static_cast<int>(threadIdx.x) / kTile;
  float sums[kTile / kRowsApart] = {};
  for (int k0 = 0; k0 < depth; k0 += kTile) {
    const int k = k0 + across;
    for (int i = down; i < kTile; i += kRowsApart) {
      rows[i * (kTile + 1) + across] = r0 + i < live && k < depth ? rowOf(image, r0 + i, depth)[k] : 0.0f;
      columns[i * (kTile + 1) + across] =
          c0 + i < classes && k < depth ? rowOf(classes_of_image, c0 + i, depth)[k] : 0.0f;
    }
    __syncthreads();
    for (int e = 0; e < kTile; ++e) {
      const float key = columns[across * (kTile + 1) + e];
#pragma unroll
      for (int i = 0; i < kTile / kRowsApart; ++i)
        sums[i] = fmaf(rows[(down + i * kRowsApart) * (kTile + 1) + e], key, sums[i]);
    }
    __syncthreads();
  }
  const int c = c0 + across;
  for (int i = 0; i < kTile / kRowsApart; ++i) {
    const int r = r0 + down + i * kRowsApart;
    if (r < live && c < classes) rowOf(scores, without[b] + r, classes)[c] = sums[i];
  }
}

}  // namespace

MaskScores::MaskScores(const Stream& stream, MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
                       const NormWeights& norm, int classes, Precision precision)
    : classes_(classes),
      proj_patch_(stream, proj_patch, nullptr, floatPrecision(precision)),
      proj_classes_(stream, proj_classes, nullptr, floatPrecision(precision)),
      norm_(stream, norm, classes) {}

void MaskScores::run(const Stream& stream, Gemm& gemm, const float* tokens, const TokenState& with_classes,
                     const TokenState& patches, float* scores) {
  const Ragged rows = with_classes.rows();
  const int dim = proj_patch_.in(), depth = proj_patch_.out(), class_rows = rows.batch * classes_;
  if (with_classes.special() != classes_ || patches.special() != 0 || proj_classes_.out() != depth)
    throw Error("mask scores of " + std::to_string(classes_) + " classes: the state has another number of class rows");
  float* const front = class_rows_.atLeast(stream, area(class_rows, dim));
  gatherSpecialRows(stream, tokens, dim, with_classes, 0, with_classes.special(), front);
  float* const keys = class_keys_.atLeast(stream, area(class_rows, depth));
  proj_classes_.run(stream, gemm, front, class_rows, Into::kFloat, keys);
  normaliseRows(stream, class_rows, depth, keys);
  // The few class rows too, so that one product is enough.
  float* const projected = projected_.atLeast(stream, area(rows.total, depth));
  proj_patch_.run(stream, gemm, tokens, rows.total, Into::kFloat, projected);
  normaliseRows(stream, rows.total, depth, projected);
  launch(multiplyByClasses,
         Grid{piecesOf(patches.rows().longest, kTile), piecesOf(classes_, kTile), static_cast<unsigned>(rows.batch)},
         kThreads, 2 * kTile * (kTile + 1) * sizeof(float), stream, projected, keys, depth, classes_, rows.offsets,
         patches.rows().offsets, scores);
  norm_.run(stream, patches.rows().total, Number::kFloat, scores, Number::kFloat, scores);
}

}  // namespace mpm::cuda
