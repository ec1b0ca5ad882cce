// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/view.h"
#include "mpm/options.hpp"

namespace mpm {

/// Softmax of each row of `scores` {N, classes} at its largest value.
std::vector<float> bestClassShare(MatrixView<const float> scores);

/// Cosine similarity of the rows that one merging step merged, the mean over their pairs. `tokens`: its input rows
/// without the special ones. `before`, `after`: the composed clusters of the N image tokens before and after it. NaN
/// for tokens that it did not merge.
std::vector<float> pairSimilarity(MatrixView<const float> tokens, const std::vector<int>& before,
                                  const std::vector<int>& after);

}  // namespace mpm
