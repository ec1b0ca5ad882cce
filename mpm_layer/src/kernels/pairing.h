// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/parallel.h"
#include "kernels/view.h"

namespace mpm {

// These rules hold for all functions below. The similarity of two rows is the cosine of their angle, fp32; that of a
// zero row to any other is 0. The result is equal for any number of threads. They return false, and leave their outputs
// undefined, when a row holds a NaN or an infinity.

/// Best neighbour of every row, b(i) = argmax_{j != i} <x_i, x_j> / (|x_i| |x_j|), ties to the lowest j (paper, sec.
/// 3), and its similarity. x {N, dim}; `best` {N}; `similarity` {N}, or empty: not wanted. N == 1 gives best[0] = 0.
/// Each S_ij is computed once for both of its rows, so S is symmetric to the bit and identical rows tie exactly. The N
/// x N matrix is never stored: scratch is 12 N bytes and one tile per thread.
[[nodiscard]] bool bestNeighbours(MatrixView<const float> x, std::span<int> best, const Parallel& parallel,
                                  std::span<float> similarity = {});

/// Best match in `b` {M, dim} of every row of `a` {N, dim}, ties to the lowest, and its similarity; M >= 1. `best`,
/// `similarity` {N}. Scratch is 12 N + 4 M bytes and one tile per thread.
[[nodiscard]] bool bestMatches(MatrixView<const float> a, MatrixView<const float> b, std::span<int> best,
                               std::span<float> similarity, const Parallel& parallel);

/// Mean similarity of the six pairs of rows in every 2x2 window of a grid. x {height * width, dim} in raster order,
/// both sides even; `similarity` {height / 2 * width / 2}, in raster order of the windows.
[[nodiscard]] bool windowSimilarities(MatrixView<const float> x, int width, std::span<float> similarity,
                                      const Parallel& parallel);

}  // namespace mpm
