// SPDX-License-Identifier: Apache-2.0
#include "merging/kept_groups.h"

#include <algorithm>
#include <cmath>

namespace mpm {

void KeptGroups::takeOver(const GroupsOfImage& found, TokenState<const float> before, TokenState<const float> after) {
  std::vector<float> similarities;
  for (const MergeGroup& group : found.groups) similarities.push_back(group.similarity);
  const auto quartile = similarities.begin() + (similarities.size() / 4);
  std::nth_element(similarities.begin(), quartile, similarities.end());
  similarity_ = similarities.empty() ? MergeRule{}.similarity : *quartile;

  const auto patches = static_cast<std::size_t>(before.patches);
  group_of_row_.assign(patches, -1);
  members_.assign(patches, 0);
  for (std::size_t i = 0; i < patches; ++i) {
    int& group = group_of_row_[static_cast<std::size_t>(before.clusterOfToken()[i])];
    if (group >= 0) continue;
    group = static_cast<int>(after.clusterOfToken()[i]);
    ++members_[group];
  }
}

bool KeptGroups::merge(const MergeRule& rule, MatrixView<const float> tokens, MatrixView<const float> metric,
                       int special, TokenState<const float> before, MatrixView<float> merged, TokenState<float> after,
                       const Parallel& parallel) {
  thread_local GroupsOfImage found;
  MergeRule alike = rule;
  alike.similarity = std::max(rule.similarity, similarity_);
  const int rows = before.computedRows(), patches = before.patches;
  if (!findGroups(alike, metric.rowRange(0, special + rows), special, found, parallel)) return false;

  // The computed rows leave their groups, and so do those that are gone.
  const auto leave = [&](int row) {
    if (group_of_row_[row] < 0) return;
    --members_[group_of_row_[row]];
    group_of_row_[row] = -1;
  };
  for (int i = 0; i < rows; ++i) leave(before.computedRow(i));
  for (int row = 0; row < static_cast<int>(group_of_row_.size()); ++row)
    if (row >= before.live() || before.clusterSize()[row] == 0) leave(row);

  // The computed rows, as if they were a picture of their own.
  local_before_.resize(TokenState<float>::size(rows));
  local_after_.resize(local_before_.size());
  const TokenState<float> own{local_before_.data(), rows}, groups{local_after_.data(), rows};
  resetState(own);
  double changed = 0;  // patches
  for (int i = 0; i < rows; ++i) {
    own.clusterSize()[i] = before.clusterSize()[before.computedRow(i)];
    changed += static_cast<double>(own.clusterSize()[i]);
  }
  if (rule.count >= 0) alike.count = static_cast<int>(std::lround(rule.count * changed / patches));
  mergeGroups(alike, found, tokens, special, {own.data, rows}, merged, groups);

  // Free rows for the new groups, lowest first.
  after.computed[0] = static_cast<float>(groups.live());
  int free = 0;
  for (int k = 0; k < groups.live(); ++k, ++free) {
    while (members_[free] > 0) ++free;
    after.computed[1 + k] = static_cast<float>(free);
  }
  for (int i = 0; i < rows; ++i) {
    const int group = static_cast<int>(after.computed[1 + static_cast<int>(groups.clusterOfToken()[i])]);
    group_of_row_[before.computedRow(i)] = group;
    ++members_[group];
  }

  std::fill_n(after.clusterSize(), patches, 0.f);
  int live = 0;
  for (int row = 0; row < before.live(); ++row) {
    const int group = group_of_row_[row];
    if (group < 0) continue;
    after.clusterSize()[group] += before.clusterSize()[row];
    live = std::max(live, group + 1);
  }
  after.data[0] = static_cast<float>(live);
  for (int i = 0; i < patches; ++i) {
    const auto row = static_cast<std::size_t>(before.clusterOfToken()[i]);
    after.clusterOfToken()[i] = static_cast<float>(group_of_row_[row]);
  }
  return true;
}

}  // namespace mpm
