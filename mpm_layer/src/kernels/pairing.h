// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/parallel.h"
#include "kernels/view.h"

namespace mpm {

/// Best neighbour of every row in cosine similarity, b(i) = argmax_{j != i} <x_i, x_j> / (|x_i| |x_j|), ties to the
/// lowest j (paper, sec. 3). x {N, dim}; `best` {N}; N == 1 gives best[0] = 0. The similarity of a zero row to any
/// other is 0. Similarities are fp32, each S_ij computed once for both of its rows, so S is symmetric to the bit and
/// identical rows tie exactly. The N x N matrix is never stored: scratch is 12 N bytes and one tile per thread. Same
/// result for any number of threads. Returns false, and leaves `best` undefined, when x holds a NaN or an infinity.
[[nodiscard]] bool bestNeighbours(MatrixView<const float> x, std::span<int> best, const Parallel& parallel);

}  // namespace mpm
