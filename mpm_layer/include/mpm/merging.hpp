// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L
#error "mpm_layer needs C++20: compile with -std=c++20"
#endif

#include <span>
#include <vector>

#include "mpm/export.hpp"

namespace mpm {

/// The cluster of each token. Ids count from 0 in the order of the clusters' first members (the paper's r, sec. 3). The
/// functions below throw mpm::Error for an id outside 0 ... clusters - 1.
struct MergeMap {
  std::vector<int> cluster_of_token;  ///< {N}
  int clusters = 0;                   ///< number of tokens that are left
};

/// Tokens of one image after one insertion of Mutual Pair Merging.
struct MergedTokens {
  std::vector<float> tokens;  ///< {special + map.clusters, dim}
  MergeMap map;               ///< the cluster of each image token
};

/// Mutual Pair Merging of the tokens of one image {special + N, dim}, row-major (paper, sec. 3). Two image tokens that
/// are each other's nearest neighbour in cosine similarity (ties: the lower index) become their mean; the first
/// `special` tokens are copied. Memory: O(N + dim) in addition to the result. Throws mpm::Error if dim < 1, if special
/// < 0, if the size is not (special + N) * dim, or if an image token holds a NaN or an infinity. Thread-safe; the
/// result does not depend on the number of threads.
MPM_API MergedTokens mutualPairMerge(std::span<const float> tokens, int special, int dim);

/// The map of two insertions, one after the other: second[first[i]] for each token i (paper, sec. 3). Throws mpm::Error
/// when `second` is not a map of first.clusters tokens.
MPM_API MergeMap compose(const MergeMap& first, const MergeMap& second);

/// Number of tokens in each cluster, {clusters}.
MPM_API std::vector<int> clusterSizes(const MergeMap& map);

/// Undoes merging: {special + clusters, dim} -> {special + N, dim}, where each token gets the row of its cluster
/// (paper, sec. 3). Throws mpm::Error if dim < 1, if special < 0, or if the size of `merged` is not
/// (special + clusters) * dim.
MPM_API std::vector<float> restoreTokens(std::span<const float> merged, int special, int dim, const MergeMap& map);

}  // namespace mpm
