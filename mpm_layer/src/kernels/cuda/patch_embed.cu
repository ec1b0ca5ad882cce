// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/patch_embed.h"

#include <vector>

#include "kernels/cuda/numbers.cuh"

namespace mpm::cuda {
namespace {

constexpr int kThreads = 256;

// Pixels of every patch as a row, zeros for special rows: they too go through the product, and nothing is added to
// them.
template <typename T>
__global__ void gatherPatches(const float* images, PatchGeometry g, int grid_width, int patches, int special, int depth,
                              std::size_t count, T* rows) {
  const std::size_t index = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= count) return;
  const std::size_t row = index / static_cast<std::size_t>(depth);
  const int column = static_cast<int>(index % static_cast<std::size_t>(depth));
  const int in_image = static_cast<int>(row % static_cast<std::size_t>(special + patches)) - special;
  if (in_image < 0) {
    rows[index] = fromFloat<T>(0.0f);
    return;
  }
  const int area = g.kernel_h * g.kernel_w;
  const int c = column / area, y = column % area / g.kernel_w, x = column % g.kernel_w;
  const std::size_t plane = row / static_cast<std::size_t>(special + patches) * static_cast<std::size_t>(g.channels) +
                            static_cast<std::size_t>(c);
  const int top = in_image / grid_width * g.stride_h + y, left = in_image % grid_width * g.stride_w + x;
  rows[index] = fromFloat<T>(images[(plane * static_cast<std::size_t>(g.height) + static_cast<std::size_t>(top)) *
                                        static_cast<std::size_t>(g.width) +
                                    static_cast<std::size_t>(left)]);
}

__global__ void repeatRows(const float* rows, std::size_t per_image, std::size_t count, float* tokens) {
  const std::size_t index = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index < count) tokens[index] = rows[index % per_image];
}

Grid gridFor(std::size_t count) { return {static_cast<unsigned>((count + kThreads - 1) / kThreads)}; }

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
  stream.wait();
}

void PatchEmbed::run(const Stream& stream, Gemm& gemm, const float* images, int batch, float* tokens) {
  const int rows = batch * (special_ + patches_);
  const Number operand = operandOf(precision_);
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(weight_.in());
  void* const gathered = gathered_.atLeast(stream, count * bytesOf(operand));
  withNumber(operand, [&](auto zero) {
    using T = decltype(zero);
    launch(gatherPatches<T>, gridFor(count), kThreads, 0, stream, images, geometry_, geometry_.gridWidth(), patches_,
           special_, weight_.in(), count, static_cast<T*>(gathered));
  });
  const std::size_t values = static_cast<std::size_t>(rows) * static_cast<std::size_t>(dim());
  launch(repeatRows, gridFor(values), kThreads, 0, stream, rows_.data(), values / static_cast<std::size_t>(batch),
         values, tokens);
  weight_.run(stream, gemm, gathered, rows, Into::kAddToFloat, tokens);
}

}  // namespace mpm::cuda
