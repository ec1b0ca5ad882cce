// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "mpm/export.hpp"

namespace mpm {

/// Which cluster each token went to: compact ids, in the order of the clusters' first members (the paper's r, sec. 3).
/// The functions below throw mpm::Error for a map whose ids are not within 0 ... clusters - 1.
struct MergeMap {
  std::vector<int> cluster_of_token;
  int clusters = 0;
};

/// Tokens of one image after a call of Mutual Pair Merging.
struct MergedTokens {
  std::vector<float> tokens;  ///< {special + map.clusters, dim}
  MergeMap map;
};

/// One call of Mutual Pair Merging on the tokens of one image, {special + N, dim}, row-major (paper, sec. 3). Special
/// rows are copied, image tokens that are each other's nearest neighbour in cosine similarity (ties: lowest index) are
/// averaged. Needs O(N + dim) memory beside the result. Throws mpm::Error when a row holds a NaN or an infinity.
/// The result does not depend on the number of threads. Thread-safe.
MPM_API MergedTokens mutualPairMerge(std::span<const float> tokens, int special, int dim);

/// The map of two insertions in a row: second[first[i]] for every token i of the first (paper, sec. 3). Throws
/// mpm::Error when `second` was not made for first.clusters tokens.
MPM_API MergeMap compose(const MergeMap& first, const MergeMap& second);

/// Members of each cluster.
MPM_API std::vector<int> clusterSizes(const MergeMap& map);

/// {special + N, dim}: special rows, then row cluster_of_token[i] of the clusters for every token i (paper, sec. 3).
MPM_API std::vector<float> restoreTokens(std::span<const float> merged, int special, int dim, const MergeMap& map);

}  // namespace mpm
