// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/merge_rule.h"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"

namespace mpm {

/// Blocks with commas between them, strictly increasing; "0-7" is a range. Throws mpm::Error that starts with `what`.
Schedule parseBlocks(const std::string& text, const std::string& what);

/// Throws mpm::Error, which starts with `what`, when the blocks are negative or not strictly increasing.
void requireIncreasing(const Schedule& blocks, const std::string& what);

/// The attention of a Reduction whose `attention` is not set.
Attention defaultAttention(ReductionMethod method);

/// `reduction` with its blocks, and every other default that counts, in a model of so many blocks. Merging in no block
/// is kNone.
Reduction withDefaults(Reduction reduction, int blocks);

/// The blocks 0 to `count` - 1.
Schedule firstBlocks(int count);

/// One merging step of a reduction.
struct MergeStep {
  MergeRule rule = {};
  bool inside = true;  ///< between attention and MLP of the block; else before it
  bool keys = false;   ///< compares the mean keys of the block's attention; else the tokens
  int block = 0;

  /// Of its node in a converted net.
  std::string name() const { return (inside ? "merge/in_block" : "merge/before_block") + std::to_string(block); }
  /// By the scores of a policy network, right after the embedding.
  bool scored() const { return rule.groups == MergeGroups::kScoredWindows; }
};

/// The steps of info.reduction. Throws mpm::Error for a grid that the method cannot merge.
std::vector<MergeStep> mergeSteps(const ModelInfo& info);

}  // namespace mpm
