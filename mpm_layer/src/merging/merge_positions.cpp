// SPDX-License-Identifier: Apache-2.0
#include "merging/merge_positions.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mpm {
namespace {

// Columns `column` on of each live row = the sum over its patches of a table's rows, each times a weight.
template <typename Weight>
void addRows(MatrixView<const float> table, TokenState<const float> state, Weight weight, int column,
             MatrixView<float> sums) {
  const int patches = state.patches, pairs = table.cols, tables = table.rows / patches;
  for (int row = 0; row < state.live(); ++row) std::fill_n(sums.row(row) + column, tables * pairs, 0.0f);
  for (int i = 0; i < patches; ++i) {
    const int row = static_cast<int>(state.clusterOfToken()[i]);
    const float factor = weight(row);
    if (factor == 0) continue;
    float* to = sums.row(row) + column;
    for (int t = 0; t < tables; ++t, to += pairs) {
      const float* from = table.row(t * patches + i);
      for (int j = 0; j < pairs; ++j) to[j] += factor * from[j];
    }
  }
}

void merge(MergedPositions policy, MatrixView<const float> table, TokenState<const float> state, int column,
           MatrixView<float> rotations) {
  if (policy != MergedPositions::kFirst) {
    return addRows(
        table, state, [&](int row) { return 1 / state.clusterSize()[row]; }, column, rotations);
  }
  std::vector<float> weight(state.live(), 1.0f);
  addRows(
      table, state, [&](int row) { return std::exchange(weight[row], 0.0f); }, column, rotations);
}

}  // namespace

std::vector<float> patchWeights(std::span<const TokenState<const float>> states) {
  const auto patches = static_cast<std::size_t>(states[0].patches);
  std::vector<float> weights(patches, 1.0f);
  std::vector<int> row(patches), members;  // the row of each patch, and how many earlier rows each row was made of
  for (std::size_t i = 0; i < patches; ++i) row[i] = static_cast<int>(i);
  for (const TokenState<const float>& state : states) {
    std::vector<bool> counted(patches, false);
    members.assign(patches, 0);
    for (std::size_t i = 0; i < patches; ++i) {
      const auto before = static_cast<std::size_t>(row[i]);
      row[i] = static_cast<int>(state.clusterOfToken()[i]);
      if (!counted[before]) ++members[row[i]];
      counted[before] = true;
    }
    for (std::size_t i = 0; i < patches; ++i) weights[i] /= static_cast<float>(members[row[i]]);
  }
  return weights;
}

void mergeRotations(MergedPositions policy, MatrixView<const float> cosine, MatrixView<const float> sine,
                    TokenState<const float> state, MatrixView<float> rotations) {
  const int half = rotations.cols / 2;
  merge(policy, cosine, state, 0, rotations);
  if (policy != MergedPositions::kCentroid) return merge(policy, sine, state, half, rotations);
  for (int row = 0; row < state.live(); ++row) {
    float* const values = rotations.row(row);
    for (int j = 0; j < half; ++j) {
      const float angle = values[j];
      values[j] = std::cos(angle);
      values[half + j] = std::sin(angle);
    }
  }
}

}  // namespace mpm
