// SPDX-License-Identifier: Apache-2.0
#include "merging/mutual_pair_merge.h"

#include <algorithm>
#include <numeric>

#include "kernels/pairing.h"
#include "kernels/scratch.h"

namespace mpm {

void resetState(TokenState<float> state) {
  state.data[0] = static_cast<float>(state.patches);
  std::iota(state.clusterOfToken(), state.clusterOfToken() + state.patches, 0.f);
  std::fill_n(state.clusterSize(), state.patches, 1.f);
}

int clustersOfMutualPairs(std::span<const int> best, std::span<int> cluster_of_token) {
  int clusters = 0;
  for (int i = 0; i < static_cast<int>(best.size()); ++i) {
    const int j = best[i];
    const bool mutual = j != i && best[j] == i;
    cluster_of_token[i] = mutual && j < i ? cluster_of_token[j] : clusters++;
  }
  return clusters;
}

void averagePairs(MatrixView<const float> tokens, std::span<const int> cluster_of_token, MatrixView<float> clusters) {
  int seen = 0;
  for (int i = 0; i < tokens.rows; ++i) {
    const float* x = tokens.row(i);
    float* mean = clusters.row(cluster_of_token[i]);
    if (cluster_of_token[i] == seen) {
      std::copy_n(x, tokens.cols, mean);
      ++seen;
    } else {
      // Halving first cannot overflow, and is exact for every normal number.
      for (int c = 0; c < tokens.cols; ++c) mean[c] = 0.5f * mean[c] + 0.5f * x[c];
    }
  }
}

bool mergeMutualPairs(MatrixView<const float> tokens, int special, TokenState<const float> before,
                      MatrixView<float> merged, TokenState<float> after, const Parallel& parallel) {
  const int live = before.live();
  thread_local Scratch<int> scratch;
  int* const buffer = scratch.atLeast(2 * static_cast<std::size_t>(live));
  const std::span<int> best(buffer, live);
  const std::span<int> cluster_of_row(buffer + live, live);
  const auto image_rows = tokens.rowRange(special, special + live);
  if (!bestNeighbours(image_rows, best, parallel)) return false;

  const int clusters = clustersOfMutualPairs(best, cluster_of_row);
  for (int i = 0; i < special; ++i) std::copy_n(tokens.row(i), tokens.cols, merged.row(i));
  averagePairs(image_rows, cluster_of_row, merged.rowRange(special, special + clusters));

  after.data[0] = static_cast<float>(clusters);
  std::fill_n(after.clusterSize(), clusters, 0.f);
  for (int i = 0; i < live; ++i) after.clusterSize()[cluster_of_row[i]] += before.clusterSize()[i];
  for (int i = 0; i < before.patches; ++i) {
    const int row = static_cast<int>(before.clusterOfToken()[i]);
    after.clusterOfToken()[i] = static_cast<float>(cluster_of_row[row]);
  }
  return true;
}

void restoreRows(MatrixView<const float> merged, int special, TokenState<const float> state, bool keep_special,
                 MatrixView<float> restored) {
  int out = 0;
  for (int i = 0; keep_special && i < special; ++i) std::copy_n(merged.row(i), merged.cols, restored.row(out++));
  for (int i = 0; i < state.patches; ++i) {
    const int row = special + static_cast<int>(state.clusterOfToken()[i]);
    std::copy_n(merged.row(row), merged.cols, restored.row(out++));
  }
}

}  // namespace mpm
