// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpm/model_info.hpp"
#include "mpm/options.hpp"
#include "onnx/model/graph_proto.h"

namespace mpm::onnx_graph {

/// One merging step of a converted net.
struct MergeStep {
  int block = 0;
  bool inside = false;                ///< between attention and MLP of the block; else before it
  bool keys = false;                  ///< compares the mean keys of the block's attention; else the tokens
  bool scored = false;                ///< merges windows by the scores of a policy network, right after the embedding
  std::vector<Attribute> attributes;  ///< of its op MergeTokens besides special_tokens; none: MutualPairMerge

  std::string name() const { return (inside ? "merge/in_block" : "merge/before_block") + std::to_string(block); }
};

/// `reduction` as ModelInfo has it: that of Mutual Pair Merging names its blocks. Throws mpm::Error for a block that
/// the model lacks.
Reduction reductionFor(const Reduction& reduction, int blocks);

/// The steps of ModelInfo::reduction. Throws mpm::Error for a grid that the method cannot merge.
std::vector<MergeStep> mergeSteps(const ModelInfo& info);

}  // namespace mpm::onnx_graph
