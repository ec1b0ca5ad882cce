// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpm/options.hpp"
#include "mpm/read_net.hpp"

namespace mpm {

/// How an image went through a net: the part of a result that every task has.
struct RunReport {
  Size2 grid;  ///< image tokens
  /// {K, N}: the cluster of each image token after each of K insertions, composed from the start. Empty without
  /// merging. With Fit::kWindow: of the first window.
  std::vector<std::vector<int>> cluster_of_token;
  /// {K + 1}: image tokens before merging and after each insertion. With Fit::kWindow: the mean over the windows.
  std::vector<double> tokens;
  /// With Fit::kWindow, {windows, K + 1}: the tokens of each window. Empty without windows.
  std::vector<std::vector<double>> window_tokens;
  /// With the option `inspect`, {K, N}: for each step and token, the mean cosine similarity of the pairs of tokens that
  /// were merged with it at this step, in the residual stream; NaN for a token that was not merged at this step.
  std::vector<std::vector<float>> pair_similarity;
  StageTimes ms;  ///< of this image
};

}  // namespace mpm
