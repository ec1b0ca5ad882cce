// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/parallel.h"
#include "kernels/view.h"
#include "merging/merge_tokens.h"

namespace mpm {

/// The groups of one merging step in a net that reuses rows of earlier frames (docs/reuse.md, "With merging"). Groups
/// outlive frames: rows that a frame computes leave their groups and merge among themselves, and the new groups get
/// free rows. A group that lost a member keeps its row as it is; a group without members is gone. What changed is often
/// unlike anything around it, so it merges only where it is as similar as most groups of the whole picture were.
class KeptGroups {
 public:
  /// Takes over the groups of a frame that was computed whole: mergeGroups() merged `found`, and made `after` from
  /// `before`.
  void takeOver(const GroupsOfImage& found, TokenState<const float> before, TokenState<const float> after);

  /// Merges the rows that this frame computed and that are at least similarity_ alike, by a rule of mutual pairs; its
  /// `count` is for the whole picture, and of a part of the rows the same share of it merges. `tokens` {special +
  /// before.computedRows(), dim}, `metric` {the same rows, m}: what is compared; `merged` has room for as many rows as
  /// `tokens`. `after` and its computed rows are those of `merged`. Returns false, and changes nothing, when a compared
  /// row holds a NaN or an infinity.
  [[nodiscard]] bool merge(const MergeRule& rule, MatrixView<const float> tokens, MatrixView<const float> metric,
                           int special, TokenState<const float> before, MatrixView<float> merged,
                           TokenState<float> after, const Parallel& parallel);

 private:
  std::vector<int> group_of_row_;              ///< {N}, of the rows before this step; -1: the row is not there
  std::vector<int> members_;                   ///< {N}, rows in each group; 0: the row is free
  float similarity_ = MergeRule{}.similarity;  ///< the lower quartile of the groups taken over
  std::vector<float> local_before_, local_after_;
};

}  // namespace mpm
