// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/parallel.h"
#include "kernels/view.h"
#include "merging/token_state.h"

namespace mpm {

/// Merge map of mutual nearest neighbours (paper, sec. 3): i and j share a cluster when best[i] == j and best[j] == i.
/// Ids are compact, given by a left-to-right scan. Returns the number of clusters.
int clustersOfMutualPairs(std::span<const int> best, std::span<int> cluster_of_token);

/// clusters.row(k) = plain mean of the one or two rows of `tokens` whose cluster is k.
void averagePairs(MatrixView<const float> tokens, std::span<const int> cluster_of_token, MatrixView<float> clusters);

/// One MPM call on one image. `tokens` {special + before.live(), dim}; `merged` must hold as many rows; `after` gets
/// the composed map and the sizes. Returns false, with undefined outputs, when an image row holds a NaN or an infinity.
[[nodiscard]] bool mergeMutualPairs(MatrixView<const float> tokens, int special, TokenState<const float> before,
                                    MatrixView<float> merged, TokenState<float> after, const Parallel& parallel);

/// Restores the full grid of one image: special rows, then for every patch the row of its cluster. `restored`
/// {special + N, dim}; without `keep_special` {N, dim}.
void restoreRows(MatrixView<const float> merged, int special, TokenState<const float> state, bool keep_special,
                 MatrixView<float> restored);

}  // namespace mpm
