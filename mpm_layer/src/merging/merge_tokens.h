// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/merge_rule.h"
#include "kernels/parallel.h"
#include "kernels/view.h"
#include "merging/token_state.h"

namespace mpm {

/// Rows of one image that may merge into one. Indices count image rows from 0.
struct MergeGroup {
  float similarity = 0;
  int first = 0;   ///< the lower row of a pair, the even row of a match, the top left row of a window
  int second = 0;  ///< the other row; of a window its number in raster order, its rows follow from the grid
};

/// The groups of one image, in the order of their first rows.
struct GroupsOfImage {
  std::vector<MergeGroup> groups;
  double threshold = 0;  ///< least similarity of a group that merges
};

/// The groups that `rule` looks at. `metric` {special + live, m}: the rows that are compared. Returns false when an
/// image row holds a NaN or an infinity.
[[nodiscard]] bool findGroups(const MergeRule& rule, MatrixView<const float> metric, int special, GroupsOfImage& found,
                              const Parallel& parallel);

/// The groups of kScoredWindows. `scores` {windows}, in raster order. Returns false for a NaN or an infinity.
[[nodiscard]] bool findScoredWindows(const MergeRule& rule, std::span<const float> scores, GroupsOfImage& found);

/// Merges, of the groups that meet their threshold, the `rule.count` most similar (-1: all; ties: the lower first row).
/// `tokens` {special + before.live(), dim}; `merged` must hold as many rows; `after` gets the composed map and the
/// sizes. The order of the merged rows:
///
/// - mutual pairs: raster order of their first members;
/// - even and odd rows: the even ones that are left, then the odd ones (the order of ToMe);
/// - windows: merged ones by falling similarity, then the other rows in raster order (the order of ALGM).
///
/// `shared` {windows, dim}, of kScoredWindows: the row of a merged window instead of a mean.
void mergeGroups(const MergeRule& rule, GroupsOfImage& found, MatrixView<const float> tokens, int special,
                 TokenState<const float> before, MatrixView<float> merged, TokenState<float> after,
                 MatrixView<const float> shared = {});

/// The tail of mergeGroups(), and all of kRule: each cluster's rows become one row, in the order of the clusters.
/// `cluster_of_row` {before.live()}, each 0 ... clusters - 1, and no cluster without rows.
void mergeRows(std::span<const int> cluster_of_row, int clusters, bool weighted, MatrixView<const float> tokens,
               int special, TokenState<const float> before, MatrixView<float> merged, TokenState<float> after);

/// findGroups() and mergeGroups() of one image, whose tokens are compared themselves.
[[nodiscard]] bool mergeTokens(const MergeRule& rule, MatrixView<const float> tokens, int special,
                               TokenState<const float> before, MatrixView<float> merged, TokenState<float> after,
                               const Parallel& parallel);

/// Restores the full grid of one image: special rows, then for every patch the row of its cluster. `restored`
/// {special + N, dim}; without `keep_special` {N, dim}.
void restoreRows(MatrixView<const float> merged, int special, TokenState<const float> state, bool keep_special,
                 MatrixView<float> restored);

}  // namespace mpm
