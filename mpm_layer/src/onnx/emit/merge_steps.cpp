// SPDX-License-Identifier: Apache-2.0
#include "onnx/emit/merge_steps.h"

#include <cmath>

#include "base/reduction_defaults.h"
#include "base/size_text.h"
#include "mpm/error.hpp"

namespace mpm::onnx_graph {
namespace {

void requireWindows(const ModelInfo& info) {
  if (info.grid.height % 2 == 0 && info.grid.width % 2 == 0) return;
  throw Error("reduction '" + mpm::toString(info.reduction) + "' merges windows of 2x2 patches, but the grid is " +
              mpm::toString(info.grid) + kHeightFirst + ": choose an input size with even numbers of patches");
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
  const auto similarity = static_cast<float>(reduction.similarity.value_or(-2));
  const auto count = static_cast<std::int64_t>(reduction.share ? std::llround(*reduction.share * info.tokens())
                                                               : reduction.count.value_or(-1));
  std::vector<MergeStep> steps;
  for (const int block : *reduction.blocks) {
    MergeStep step;
    step.block = block;
    step.scored = reduction.method == ReductionMethod::kCts;
    step.inside =
        reduction.method != ReductionMethod::kMpm && reduction.method != ReductionMethod::kRule && !step.scored;
    const auto set = [&](const char* name, auto value) { step.attributes.emplace_back(name, value); };
    switch (reduction.method) {
      case ReductionMethod::kNone:
      case ReductionMethod::kMpm:
        break;
      case ReductionMethod::kGradual:
        set("groups", std::string("mutual_pairs"));
        set("count", count);
        set("similarity", similarity);
        break;
      case ReductionMethod::kTome:
        step.keys = true;
        set("groups", std::string("even_odd"));
        set("count", count);
        break;
      case ReductionMethod::kAlgm:
        if (steps.empty()) {
          requireWindows(info);
          set("groups", std::string("windows"));
          set("similarity", similarity);
          set("grid_w", std::int64_t{info.grid.width});
        } else {
          set("groups", std::string("even_odd"));
          set("deviations", 1 / static_cast<float>(block + 1));
        }
        break;
      case ReductionMethod::kCts:
        requireWindows(info);
        set("groups", std::string("scored_windows"));
        set("count", std::int64_t{std::llround(*reduction.share * info.tokens() / 4)});
        set("grid_w", std::int64_t{info.grid.width});
        break;
      case ReductionMethod::kRule:
        set("groups", std::string("rule"));
        break;
    }
    if (step.inside || (reduction.method == ReductionMethod::kRule && !reduction.plain_mean))
      set("weighted", std::int64_t{1});
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace mpm::onnx_graph
