// SPDX-License-Identifier: Apache-2.0
#include "onnx/emit/merge_steps.h"

#include "base/reduction_defaults.h"
#include "mpm/error.hpp"

namespace mpm::onnx_graph {
namespace {

/// The attributes that differ from the defaults, and always the groups.
std::vector<Attribute> attributesOf(const MergeRule& rule) {
  const MergeRule usual;
  std::vector<Attribute> attributes;
  const auto set = [&](bool differs, const char* name, auto value) {
    if (differs) attributes.emplace_back(name, value);
  };
  for (const auto& [groups, name] : kMergeGroups) set(groups == rule.groups, "groups", std::string(name));
  set(rule.count != usual.count, "count", std::int64_t{rule.count});
  set(rule.similarity != usual.similarity, "similarity", rule.similarity);
  set(rule.deviations != usual.deviations, "deviations", rule.deviations);
  set(rule.weighted, "weighted", std::int64_t{1});
  set(rule.grid_width != usual.grid_width, "grid_w", std::int64_t{rule.grid_width});
  set(rule.block != usual.block, "block", std::int64_t{rule.block});
  return attributes;
}

}  // namespace

Reduction reductionFor(const Reduction& reduction, int blocks) {
  const Reduction full = withDefaults(reduction, blocks);
  if (!full.blocks->empty() && full.blocks->back() >= blocks) {
    throw Error("reduction '" + mpm::toString(reduction) + "': block " + std::to_string(full.blocks->back()) +
                " does not exist, the model has " + std::to_string(blocks) + " blocks (0 to " +
                std::to_string(blocks - 1) + "); choose other blocks, or none");
  }
  if (full.method == ReductionMethod::kNone) return kFullModel;
  Reduction result = reduction;
  if (full.method == ReductionMethod::kMpm) result.blocks = full.blocks;
  if (full.method == ReductionMethod::kMpm && full.attention == Attention::kPlain) result.attention.reset();
  return result;
}

std::vector<MergeStep> mergeSteps(const ModelInfo& info) {
  const Reduction reduction = withDefaults(info.reduction, info.blocks);
  std::vector<MergeStep> steps;
  for (std::size_t i = 0; i < reduction.blocks->size(); ++i) {
    const ReductionStep one = stepOf(reduction, info, i);
    MergeStep step{.block = (*reduction.blocks)[i],
                   .inside = one.inside,
                   .keys = one.keys,
                   .scored = one.rule.groups == MergeGroups::kScoredWindows,
                   .attributes = {}};
    if (reduction.method != ReductionMethod::kMpm) step.attributes = attributesOf(one.rule);
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace mpm::onnx_graph
