// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/patch_embed.h"

#include <vector>

#include "kernels/cuda/numbers.cuh"
#include "kernels/cuda/rows.cuh"

namespace mpm::cuda {
namespace {

constexpr int kThreads = 256;

// One row of pixels per patch, zeros for special rows, which are part of the product. `offset_of` {depth}: offset of a
// pixel from the first pixel of its patch. One block per row.
template <typename T>
__global__ void gatherPatches(const float* images, PatchGeometry g, const int* offset_of, int grid_width, int patches,
                              int special, int depth, T* rows) {
  T* row = rowOf(rows, blockIdx.x, depth);
  const int image = static_cast<int>(blockIdx.x) / (special + patches);
  const int patch = static_cast<int>(blockIdx.x) % (special + patches) - special;
  const int there = patch < 0 ? 0 : patch;
  const int top = there / grid_width * g.stride_h, left = there % grid_width * g.stride_w;
  const float* const corner = rowOf(images, image * g.channels * g.height + top, g.width) + left;
  for (int k = static_cast<int>(threadIdx.x); k < depth; k += kThreads) {
    row[k] = fromFloat<T>(patch < 0 ? 0.0f : corner[offset_of[k]]);
  }
}

// Copies special tokens and positions to each image.
__global__ void repeatRows(const float* rows, std::size_t count, float* tokens) {
  const std::size_t k = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (k < count) tokens[blockIdx.y * count + k] = rows[k];
}

}  // namespace

PatchEmbed::PatchEmbed(const Stream& stream, const PatchGeometry& geometry, MatrixView<const float> weight,
                       MatrixView<const float> position, MatrixView<const float> special, Precision precision)
    : geometry_(geometry),
      precision_(precision),
      patches_(position.rows),
      special_(special.rows),
      weight_(stream, weight, nullptr, precision) {
  std::vector<float> rows;
  for (const MatrixView<const float>& part : {special, position})
    for (int i = 0; i < part.rows; ++i) rows.insert(rows.end(), part.row(i), part.row(i) + part.cols);
  rows_ = uploaded(stream, rows);
  std::vector<int> offsets;
  for (int c = 0; c < geometry.channels; ++c)
    for (int y = 0; y < geometry.kernel_h; ++y)
      for (int x = 0; x < geometry.kernel_w; ++x) offsets.push_back((c * geometry.height + y) * geometry.width + x);
  pixel_offset_ = uploaded(stream, offsets);
}

void PatchEmbed::run(const Stream& stream, Gemm& gemm, const float* images, int batch, float* tokens) {
  const int rows = batch * (special_ + patches_);
  const Number operand = operandOf(precision_);
  void* const gathered = gathered_.atLeast(stream, area(rows, weight_.in()) * bytesOf(operand));
  withNumber(operand, [&](auto zero) {
    using T = decltype(zero);
    launch(gatherPatches<T>, Grid{static_cast<unsigned>(rows)}, kThreads, 0, stream, images, geometry_,
           pixel_offset_.data(), geometry_.gridWidth(), patches_, special_, weight_.in(), static_cast<T*>(gathered));
  });
  const std::size_t values = area(special_ + patches_, dim());
  launch(repeatRows, Grid{piecesOf(values, kThreads), static_cast<unsigned>(batch)}, kThreads, 0, stream, rows_.data(),
         values, tokens);
  weight_.run(stream, gemm, gathered, rows, Into::kAddToFloat, tokens);
}

}  // namespace mpm::cuda
