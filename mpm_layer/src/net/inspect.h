// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/view.h"
#include "mpm/read_net.hpp"

namespace mpm {

/// Scores of pixels as shares of 1, in place: the softmax of logits, else each score divided by the sum. `scores`:
/// CV_32F {classes, height, width}.
void toProbabilities(cv::Mat& scores, bool logits, const Parallel& parallel);

/// Cosine similarity of the rows that one merging step merged, the mean over their pairs. `tokens`: its input rows
/// without the special ones. `before`, `after`: the composed clusters of the N image tokens before and after it. NaN
/// for tokens that it did not merge.
std::vector<float> pairSimilarity(MatrixView<const float> tokens, const std::vector<int>& before,
                                  const std::vector<int>& after);

/// The field of StageTimes that a layer's time belongs to, by its name (docs/ops.md, "Names of nodes").
double StageTimes::*stageOfLayer(std::string_view layer);

/// The encoder block that a layer belongs to, also as a merging step before or inside it; nullopt for none.
std::optional<std::size_t> blockOfLayer(std::string_view layer);

/// forwardTimes() from the time of each layer. Without a profile (as many times as layers, not all 0) all of
/// `forward_ms` is backbone.
StageTimes forwardTimes(const std::vector<cv::String>& layers, const std::vector<double>& layer_ms, double forward_ms);

}  // namespace mpm
