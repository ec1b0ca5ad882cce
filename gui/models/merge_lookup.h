// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpm/options.hpp"

namespace mpm::gui {

/// Which tokens merged with which, in O(1) per question while the mouse moves. Step 0 is the patch grid before any
/// merging, step k the clusters after insertion k.
class MergeLookup {
 public:
  MergeLookup() = default;
  /// `cluster_of_token`: the composed maps of a RunReport, one per insertion of `schedule`. Throws mpm::Error when
  /// they do not fit `grid` or `schedule`.
  MergeLookup(Size2 grid, const std::vector<std::vector<int>>& cluster_of_token, const Schedule& schedule);

  Size2 grid() const { return grid_; }
  int tokens() const { return grid_.height * grid_.width; }
  int steps() const { return static_cast<int>(steps_.size()); }  ///< insertions + 1, 0 when empty
  int clusters(int step) const { return static_cast<int>(steps_[step].members.size()); }
  /// The block that the insertion which made `step` stands before; `step` >= 1.
  int block(int step) const { return schedule_[step - 1]; }

  int cluster(int step, int token) const { return steps_[step].cluster_of_token[token]; }
  const std::vector<int>& members(int step, int cluster) const { return steps_[step].members[cluster]; }
  int size(int step, int token) const { return static_cast<int>(members(step, cluster(step, token)).size()); }

  /// The first step, up to `step`, at which `token` shared its cluster with another; 0: never.
  int mergedAt(int step, int token) const { return size(step, token) == 1 ? 0 : merged_at_[token]; }

 private:
  struct Step {
    std::vector<int> cluster_of_token;
    std::vector<std::vector<int>> members;  // of each cluster
  };
  Size2 grid_;
  Schedule schedule_;
  std::vector<Step> steps_;
  std::vector<int> merged_at_;
};

}  // namespace mpm::gui
