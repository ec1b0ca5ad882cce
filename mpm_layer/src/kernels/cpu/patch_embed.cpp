// SPDX-License-Identifier: Apache-2.0
#include "kernels/patch_embed.h"

#include <algorithm>
#include <functional>

#include "kernels/scratch.h"

namespace mpm {
namespace {

// The pixels of patch `index` (raster order) as one row {channels, kernel_h, kernel_w}.
void gatherPatch(const float* image, const PatchGeometry& g, int index, float* row) {
  const std::ptrdiff_t top = static_cast<std::ptrdiff_t>(index / g.gridWidth()) * g.stride_h;
  const int left = index % g.gridWidth() * g.stride_w;
  for (int c = 0; c < g.channels; ++c) {
    for (int y = 0; y < g.kernel_h; ++y) {
      row =
          std::copy_n(image + (c * static_cast<std::ptrdiff_t>(g.height) + top + y) * g.width + left, g.kernel_w, row);
    }
  }
}

}  // namespace

void patchEmbed(const float* image, const PatchGeometry& geometry, const PackedLinear& weight,
                MatrixView<const float> position, MatrixView<float> tokens, const Parallel& parallel,
                const NormWeights* norm, const int* only) {
  constexpr int kRows = 64;
  const auto patchOf = [only](int row) { return only != nullptr ? only[row] : row; };
  runPieces(parallel, tokens.rows, kRows, [&](int begin, int end) {
    thread_local Scratch<float> scratch;
    const MatrixView<float> rows(scratch.atLeast(kRows * static_cast<std::size_t>(weight.in())), end - begin,
                                 weight.in());
    for (int i = begin; i < end; ++i) {
      gatherPatch(image, geometry, patchOf(i), rows.row(i - begin));
      if (norm == nullptr) std::copy_n(position.row(patchOf(i)), position.cols, tokens.row(i));
    }
    const MatrixView<float> out = tokens.rowRange(begin, end);
    weight.run(rows, out, norm == nullptr);
    if (norm == nullptr) return;
    mpm::norm(out, *norm, out);
    for (int i = begin; i < end; ++i) {
      std::transform(tokens.row(i), tokens.row(i) + position.cols, position.row(patchOf(i)), tokens.row(i),
                     std::plus<>());
    }
  });
}

}  // namespace mpm
