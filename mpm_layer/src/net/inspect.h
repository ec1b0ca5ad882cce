// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/view.h"
#include "mpm/options.hpp"

namespace mpm {

/// Softmax of each row of `scores` {N, classes} at its largest value.
std::vector<float> bestClassShare(MatrixView<const float> scores);

/// Scores of pixels as shares of 1, in place: the softmax of logits, else each score divided by the sum. `scores`:
/// CV_32F {classes, height, width}.
void toProbabilities(cv::Mat& scores, bool logits, const Parallel& parallel);

/// Cosine similarity of the rows that one merging step merged, the mean over their pairs. `tokens`: its input rows
/// without the special ones. `before`, `after`: the composed clusters of the N image tokens before and after it. NaN
/// for tokens that it did not merge.
std::vector<float> pairSimilarity(MatrixView<const float> tokens, const std::vector<int>& before,
                                  const std::vector<int>& after);

}  // namespace mpm
