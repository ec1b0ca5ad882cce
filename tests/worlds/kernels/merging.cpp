// SPDX-License-Identifier: Apache-2.0
// Merging steps of each method, and what is made of the map afterwards.
#include "merging/merge_positions.h"
#include "merging/merge_tokens.h"

#include "cpu.h"
#include "merge_case.h"

namespace mpm::worlds {
namespace {

template <MergeGroups kGroups>
void tryMerge(Trial& trial) {
  const MergeShape shape(trial.random, kGroups, 150);
  const MergeImage image(trial, shape);
  if (!image.clear) return;
  Memory& memory = trial.memory;
  const MatrixView<const float> x = memory.inputRows(image.rows, shape.dim, image.x),
                                metric = memory.inputRows(image.rows, shape.metric_dim, image.metric);
  const TokenState<const float> before{memory.input<float>(image.state.blob()), shape.patches};
  const float* const scores = memory.input<float>(image.scores);
  const MatrixView<const float> shared =
      memory.inputRows(static_cast<int>(image.shared.size()) / shape.dim, shape.dim, image.shared);
  const auto merge = [&](const Parallel& parallel, MatrixView<float> merged, TokenState<float> after) {
    if (kGroups != MergeGroups::kScoredWindows && shape.compares_tokens)
      return mergeTokens(shape.rule, x, shape.special, before, merged, after, parallel);
    GroupsOfImage found;
    if (kGroups == MergeGroups::kScoredWindows ? !findScoredWindows(shape.rule, {scores, image.scores.size()}, found)
                                               : !findGroups(shape.rule, metric, shape.special, found, parallel))
      return false;
    mergeGroups(shape.rule, found, x, shape.special, before, merged, after, shared);
    return true;
  };
  const auto size = TokenState<float>::size(shape.patches);
  MatrixView<float> merged[2];
  float* after[2];
  for (int k = 0; k < 2; ++k) {
    merged[k] = memory.outputRows(image.rows, shape.dim);
    after[k] = memory.output<float>(size);
    const TokenState<float> state{after[k], shape.patches};
    trial.require(
        merge(k == 0 ? static_cast<const Parallel&>(Serial()) : trial.threads(), merged[k], state) == image.finite,
        "takes a NaN for a number, or a number for one");
  }
  if (!image.finite) return;
  const TokenState<const float> state{after[0], shape.patches};
  trial.require(std::memcmp(after[0], after[1], size * sizeof(float)) == 0, kThreadsMatter);
  trial.same<float>(merged[0], merged[1], kThreadsMatter);
  image.check(trial, shape, state.live(), merged[0], state.clusterOfToken(), state.clusterSize());
}

void tryResetState(Trial& trial) {
  const int patches = trial.random.size(1, 90);
  const bool lists = trial.random.chance(2);
  float* const data = trial.memory.output<float>(TokenState<float>::size(patches));
  float* const computed = trial.memory.output<float>(1 + static_cast<std::size_t>(patches));
  resetState({data, patches, lists ? computed : nullptr});
  const TokenState<const float> state{data, patches, lists ? computed : nullptr};
  trial.require(state.live() == patches && state.computedRows() == patches, "has other rows");
  for (int i = 0; i < patches; ++i) {
    trial.require(
        static_cast<int>(state.clusterOfToken()[i]) == i && state.clusterSize()[i] == 1 && state.computedRow(i) == i,
        "has other clusters");
  }
}

/// Rows join as somebody else says.
void tryMergeRows(Trial& trial) {
  MergeShape shape(trial.random, MergeGroups::kMutualPairs, 100);
  shape.rule = {.count = 0, .weighted = shape.rule.weighted};
  MergeImage image(trial, shape);
  if (!image.finite) return;
  const int live = image.state.live, clusters = trial.random.size(1, live);
  const std::vector<int> into = RandomState::joined(trial.random, live, clusters);
  std::vector<std::vector<int>> members(static_cast<std::size_t>(clusters));
  for (int i = 0; i < live; ++i) members[into[i]].push_back(i);
  const MatrixView<const float> x = trial.memory.inputRows(image.rows, shape.dim, image.x);
  test::Rows rows;
  for (int i = 0; i < image.rows; ++i) rows.emplace_back(x.row(i), x.row(i) + shape.dim);
  image.expected = test::averaged(rows, shape.special, {image.state.sizes.begin(), image.state.sizes.end()}, members,
                                  shape.rule.weighted);
  const MatrixView<float> merged = trial.memory.outputRows(image.rows, shape.dim);
  float* const after = trial.memory.output<float>(TokenState<float>::size(shape.patches));
  const TokenState<float> state{after, shape.patches};
  mergeRows({trial.memory.input<int>(into), into.size()}, clusters, shape.rule.weighted, x, shape.special,
            {trial.memory.input<float>(image.state.blob()), shape.patches}, merged, state);
  image.check(trial, shape, state.live(), merged, state.clusterOfToken(), state.clusterSize());
}

void tryRestoreRows(Trial& trial) {
  const int patches = trial.random.size(1, 90), special = trial.random.size(0, 3), dim = trial.random.size(1, 30);
  const RandomState state(trial.random, patches, trial.random.size(1, patches));
  const bool keep = trial.random.chance(2);
  const MatrixView<const float> merged = trial.memory.inputRows(special + state.live, dim);
  const MatrixView<float> restored = trial.memory.outputRows((keep ? special : 0) + patches, dim);
  restoreRows(merged, special, {trial.memory.input<float>(state.blob()), patches}, keep, restored);
  for (int i = 0; i < restored.rows; ++i) {
    const int patch = i - (keep ? special : 0);
    trial.same<float>(restored.rowRange(i, i + 1),
                      merged.rowRange(patch < 0 ? i : special + state.map[patch], merged.rows).rowRange(0, 1),
                      "restores another row");
  }
}

void tryPatchWeights(Trial& trial) {
  Random& random = trial.random;
  const int patches = random.size(1, 90);
  std::vector<std::vector<int>> joins = {RandomState::joined(random, patches, random.size(1, patches))};
  RandomState first(random, patches, patches);
  std::iota(first.map.begin(), first.map.end(), 0);
  std::vector<RandomState> states = {first.merged(joins[0])};
  for (int more = random.size(0, 3); more > 0; --more) {
    joins.push_back(RandomState::joined(random, states.back().live, random.size(1, states.back().live)));
    states.push_back(states.back().merged(joins.back()));
  }
  std::vector<TokenState<const float>> blobs;
  for (const RandomState& state : states) blobs.push_back({trial.memory.input<float>(state.blob()), patches});
  const std::vector<float> found = patchWeights(blobs), alone = patchWeights({&blobs.back(), 1});
  const std::vector<double> shares = RandomState::shares(joins), equal = RandomState::shares({states.back().map});
  for (std::size_t p = 0; p < shares.size(); ++p) {
    trial.near(static_cast<double>(found[p]), shares[p], 1e-6);
    trial.near(static_cast<double>(alone[p]), equal[p], 1e-6);
  }
}

void tryMergeRotations(Trial& trial) {
  Random& random = trial.random;
  const int patches = random.size(1, 60), tables = random.size(1, 3), pairs = random.size(1, 9);
  const RandomState state(random, patches, random.size(1, patches));
  const auto policy = random.oneOf({MergedPositions::kMean, MergedPositions::kCentroid, MergedPositions::kFirst});
  const MatrixView<const float> cosine = trial.memory.inputRows(tables * patches, pairs),
                                sine = trial.memory.inputRows(tables * patches, pairs);
  const MatrixView<float> found = trial.memory.outputRows(patches, 2 * tables * pairs);
  mergeRotations(policy, cosine, sine, {trial.memory.input<float>(state.blob()), patches}, found);
  trial.near(found.rowRange(0, state.live), mergedRotations(policy, cosine, sine, state), 1e-6);
  for (int i = state.live; i < patches; ++i)
    for (int c = 0; c < found.cols; ++c) trial.require(std::isnan(found.row(i)[c]), "writes rows that are not live");
}

}  // namespace

std::vector<Kernel> mergingKernels() {
  return {{"mergeTokens mutual pairs", tryMerge<MergeGroups::kMutualPairs>},
          {"findGroups even and odd rows", tryMerge<MergeGroups::kEvenOdd>},
          {"mergeGroups windows", tryMerge<MergeGroups::kWindows>},
          {"findScoredWindows", tryMerge<MergeGroups::kScoredWindows>},
          {"mergeRows", tryMergeRows},
          {"resetState", tryResetState},
          {"restoreRows", tryRestoreRows},
          {"patchWeights", tryPatchWeights},
          {"mergeRotations", tryMergeRotations}};
}

}  // namespace mpm::worlds
