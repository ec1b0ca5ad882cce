// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace mpm {

/// Which groups of rows may merge (docs/ops.md, `groups`).
enum class MergeGroups {
  kMutualPairs,    ///< rows that are each other's best neighbour
  kEvenOdd,        ///< each even row of the sequence with the odd row that is its best match
  kWindows,        ///< the 2x2 windows of the full grid
  kScoredWindows,  ///< the same, by scores and with merged rows that come from elsewhere
  kRule,           ///< what a function says
};

/// Their names in files.
inline constexpr std::pair<MergeGroups, const char*> kMergeGroups[] = {{MergeGroups::kMutualPairs, "mutual_pairs"},
                                                                       {MergeGroups::kEvenOdd, "even_odd"},
                                                                       {MergeGroups::kWindows, "windows"},
                                                                       {MergeGroups::kScoredWindows, "scored_windows"},
                                                                       {MergeGroups::kRule, "rule"}};

/// How one merging step chooses groups and averages them: the attributes of the op MergeTokens. The defaults are MPM.
struct MergeRule {
  MergeGroups groups = MergeGroups::kMutualPairs;
  int count = -1;         ///< merges the `count` most similar groups; -1: all
  float similarity = -2;  ///< merges only groups that are at least so similar; -2: all
  float deviations = -1;  ///< at least 0: as similar as the mean over all groups plus this many standard deviations
  bool weighted = false;  ///< averages rows by their cluster sizes; else plainly
  int grid_width = 0;     ///< of windows, and for a function
  int block = 0;          ///< for a function: where it merges

  bool operator==(const MergeRule&) const = default;
};

}  // namespace mpm
