// SPDX-License-Identifier: Apache-2.0
#include "merging/merge_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/elementwise.h"
#include "kernels/pairing.h"
#include "kernels/scratch.h"

namespace mpm {
namespace {

// Memory of one call, for the best neighbour of each row and their similarity.
std::pair<std::span<int>, std::span<float>> neighboursOf(int rows) {
  thread_local Scratch<int> best;
  thread_local Scratch<float> similarity;
  const auto count = static_cast<std::size_t>(rows);
  return {{best.atLeast(count), count}, {similarity.atLeast(count), count}};
}

bool findMutualPairs(MatrixView<const float> rows, std::vector<MergeGroup>& groups, const Parallel& parallel) {
  const auto [best, similarity] = neighboursOf(rows.rows);
  if (!bestNeighbours(rows, best, parallel, similarity)) return false;
  for (int i = 0; i < rows.rows; ++i)
    if (const int j = best[i]; i < j && best[j] == i) groups.push_back({similarity[i], i, j});
  return true;
}

// Even and odd are rows of the whole sequence, special rows included.
bool findMatches(MatrixView<const float> rows, int special, std::vector<MergeGroup>& groups, const Parallel& parallel) {
  const int even = special % 2, odd = 1 - even;
  const auto everySecond = [&](int first) {
    return MatrixView<const float>(rows.row(first), (rows.rows - first + 1) / 2, rows.cols, 2 * rows.stride);
  };
  if (rows.rows < 2) return true;
  const MatrixView<const float> a = everySecond(even), b = everySecond(odd);
  const auto [best, similarity] = neighboursOf(a.rows);
  if (!bestMatches(a, b, best, similarity, parallel)) return false;
  for (int i = 0; i < a.rows; ++i) groups.push_back({similarity[i], even + 2 * i, odd + 2 * best[i]});
  return true;
}

void addWindows(std::span<const float> similarity, int width, std::vector<MergeGroup>& groups) {
  for (int w = 0; w < static_cast<int>(similarity.size()); ++w) {
    const int y = 2 * (w / (width / 2)), x = 2 * (w % (width / 2));
    groups.push_back({similarity[w], y * width + x, w});
  }
}

bool findWindows(MatrixView<const float> rows, int width, std::vector<MergeGroup>& groups, const Parallel& parallel) {
  const std::span<float> similarity = neighboursOf(rows.rows / 4).second;
  if (!windowSimilarities(rows, width, similarity, parallel)) return false;
  addWindows(similarity, width, groups);
  return true;
}

// mean + deviations * standard deviation of a sample, in double.
double thresholdOf(const std::vector<MergeGroup>& groups, double deviations) {
  const auto count = static_cast<double>(groups.size());
  if (groups.size() < 2) return groups.empty() ? 0 : static_cast<double>(groups[0].similarity);
  double sum = 0, squares = 0;
  for (const MergeGroup& group : groups) sum += static_cast<double>(group.similarity);
  const double mean = sum / count;
  for (const MergeGroup& group : groups) squares += std::pow(static_cast<double>(group.similarity) - mean, 2);
  return mean + deviations * std::sqrt(squares / (count - 1));
}

bool moreSimilar(const MergeGroup& one, const MergeGroup& other) {
  return one.similarity != other.similarity ? one.similarity > other.similarity : one.first < other.first;
}

// Which row each row merges into, and the rows that stay, in the order of the merged rows.
struct Plan {
  std::span<int> into;  // {live}
  std::span<int> kept;  // {clusters}
};

Plan planFor(const MergeRule& rule, const std::vector<MergeGroup>& groups, int special, int live) {
  thread_local Scratch<int> scratch;
  const auto count = static_cast<std::size_t>(live);
  Plan plan{{scratch.atLeast(2 * count), count}, {scratch.atLeast(2 * count) + live, count}};
  std::iota(plan.into.begin(), plan.into.end(), 0);
  std::size_t kept = 0;
  const auto keep = [&](int first, int step) {
    for (int i = first; i < live; i += step)
      if (plan.into[i] == i) plan.kept[kept++] = i;
  };
  switch (rule.groups) {
    case MergeGroups::kMutualPairs:
      for (const MergeGroup& group : groups) plan.into[group.second] = group.first;
      keep(0, 1);
      break;
    case MergeGroups::kEvenOdd:
      for (const MergeGroup& group : groups) plan.into[group.first] = group.second;
      keep(special % 2, 2);
      keep(1 - special % 2, 2);
      break;
    case MergeGroups::kWindows:
    case MergeGroups::kScoredWindows:
      for (const MergeGroup& group : groups) {
        const int first = group.first, below = first + rule.grid_width;
        plan.kept[kept++] = first;
        for (const int row : {first, first + 1, below, below + 1}) plan.into[row] = first;
      }
      for (const MergeGroup& group : groups) plan.into[group.first] = -1;  // kept already
      keep(0, 1);
      for (const MergeGroup& group : groups) plan.into[group.first] = group.first;
      break;
    case MergeGroups::kRule:
      break;  // mergeRows()
  }
  plan.kept = plan.kept.first(kept);
  return plan;
}

// merged.row(k) = mean of the rows in cluster k, each with its weight. In double, so that the mean of equal rows is the
// same row and their similarities still tie.
void average(MatrixView<const float> tokens, std::span<const int> cluster_of_row, const float* weights,
             MatrixView<float> merged) {
  thread_local Scratch<int> links;
  thread_local Scratch<double> sums;
  int* const last = links.atLeast(2 * static_cast<std::size_t>(tokens.rows));
  int* const before = last + tokens.rows;  // the member in front of each row
  std::fill_n(last, merged.rows, -1);
  for (int i = 0; i < tokens.rows; ++i) before[i] = std::exchange(last[cluster_of_row[i]], i);
  double* const sum = sums.atLeast(tokens.cols);
  for (int k = 0; k < merged.rows; ++k) {
    int member = last[k];
    if (before[member] < 0) {
      std::copy_n(tokens.row(member), tokens.cols, merged.row(k));
      continue;
    }
    std::fill_n(sum, tokens.cols, 0.0);
    double total = 0;
    for (; member >= 0; member = before[member]) {
      const double weight = weights != nullptr ? static_cast<double>(weights[member]) : 1;
      const float* const x = tokens.row(member);
      for (int c = 0; c < tokens.cols; ++c) sum[c] += weight * static_cast<double>(x[c]);
      total += weight;
    }
    float* const mean = merged.row(k);
    for (int c = 0; c < tokens.cols; ++c) mean[c] = static_cast<float>(sum[c] / total);
  }
}

}  // namespace

void resetState(TokenState<float> state) {
  state.data[0] = static_cast<float>(state.patches);
  std::iota(state.clusterOfToken(), state.clusterOfToken() + state.patches, 0.f);
  std::fill_n(state.clusterSize(), state.patches, 1.f);
  if (state.computed == nullptr) return;
  state.computed[0] = static_cast<float>(state.patches);
  std::iota(state.computed + 1, state.computed + 1 + state.patches, 0.f);
}

bool findGroups(const MergeRule& rule, MatrixView<const float> metric, int special, GroupsOfImage& found,
                const Parallel& parallel) {
  const MatrixView<const float> rows = metric.rowRange(special, metric.rows);
  found.groups.clear();
  found.groups.reserve(static_cast<std::size_t>(rows.rows) / 2 + 1);
  bool finite = true;
  switch (rule.groups) {
    case MergeGroups::kMutualPairs:
      finite = findMutualPairs(rows, found.groups, parallel);
      break;
    case MergeGroups::kEvenOdd:
      finite = findMatches(rows, special, found.groups, parallel);
      break;
    case MergeGroups::kWindows:
      finite = findWindows(rows, rule.grid_width, found.groups, parallel);
      break;
    case MergeGroups::kScoredWindows:  // findScoredWindows()
    case MergeGroups::kRule:           // mergeRows()
      break;
  }
  found.threshold = static_cast<double>(rule.similarity);
  if (rule.deviations >= 0)
    found.threshold = std::max(found.threshold, thresholdOf(found.groups, static_cast<double>(rule.deviations)));
  return finite;
}

bool findScoredWindows(const MergeRule& rule, std::span<const float> scores, GroupsOfImage& found) {
  found.groups.clear();
  addWindows(scores, rule.grid_width, found.groups);
  found.threshold = -std::numeric_limits<double>::infinity();
  return allFinite(scores.data(), scores.size());
}

void mergeGroups(const MergeRule& rule, GroupsOfImage& found, MatrixView<const float> tokens, int special,
                 TokenState<const float> before, MatrixView<float> merged, TokenState<float> after,
                 MatrixView<const float> shared) {
  thread_local Scratch<int> scratch;
  const int live = before.live();
  const bool windows = rule.groups == MergeGroups::kWindows || rule.groups == MergeGroups::kScoredWindows;
  std::vector<MergeGroup>& groups = found.groups;
  std::erase_if(groups,
                [&](const MergeGroup& group) { return static_cast<double>(group.similarity) < found.threshold; });
  if (windows) std::sort(groups.begin(), groups.end(), moreSimilar);
  // Not more than half of the rows: of an odd number one more may be even than odd.
  const int most = rule.groups == MergeGroups::kEvenOdd ? live / 2 : static_cast<int>(groups.size());
  const auto chosen = static_cast<std::size_t>(rule.count < 0 ? most : std::min(rule.count, most));
  if (chosen < groups.size()) {
    if (!windows) std::nth_element(groups.begin(), groups.begin() + chosen, groups.end(), moreSimilar);
    groups.resize(chosen);
  }

  const Plan plan = planFor(rule, groups, special, live);
  const int clusters = static_cast<int>(plan.kept.size());
  const std::span<int> cluster_of_row(scratch.atLeast(live), static_cast<std::size_t>(live));
  for (int k = 0; k < clusters; ++k) cluster_of_row[plan.kept[k]] = k;
  for (int i = 0; i < live; ++i) cluster_of_row[i] = cluster_of_row[plan.into[i]];

  mergeRows(cluster_of_row, clusters, rule.weighted, tokens, special, before, merged, after);
  for (int k = 0; rule.groups == MergeGroups::kScoredWindows && k < static_cast<int>(groups.size()); ++k)
    std::copy_n(shared.row(groups[k].second), shared.cols, merged.row(special + k));
}

void mergeRows(std::span<const int> cluster_of_row, int clusters, bool weighted, MatrixView<const float> tokens,
               int special, TokenState<const float> before, MatrixView<float> merged, TokenState<float> after) {
  const int live = before.live();
  copyRows(tokens.rowRange(0, special), merged);
  average(tokens.rowRange(special, special + live), cluster_of_row, weighted ? before.clusterSize() : nullptr,
          merged.rowRange(special, special + clusters));
  after.data[0] = static_cast<float>(clusters);
  std::fill_n(after.clusterSize(), clusters, 0.f);
  for (int i = 0; i < live; ++i) after.clusterSize()[cluster_of_row[i]] += before.clusterSize()[i];
  for (int i = 0; i < before.patches; ++i) {
    const int row = static_cast<int>(before.clusterOfToken()[i]);
    after.clusterOfToken()[i] = static_cast<float>(cluster_of_row[row]);
  }
}

bool mergeTokens(const MergeRule& rule, MatrixView<const float> tokens, int special, TokenState<const float> before,
                 MatrixView<float> merged, TokenState<float> after, const Parallel& parallel) {
  thread_local GroupsOfImage found;
  if (!findGroups(rule, tokens.rowRange(0, special + before.live()), special, found, parallel)) return false;
  mergeGroups(rule, found, tokens, special, before, merged, after);
  return true;
}

void restoreRows(MatrixView<const float> merged, int special, TokenState<const float> state, bool keep_special,
                 MatrixView<float> restored) {
  int out = 0;
  for (int i = 0; keep_special && i < special; ++i) std::copy_n(merged.row(i), merged.cols, restored.row(out++));
  for (int i = 0; i < state.patches; ++i) {
    const int row = special + static_cast<int>(state.clusterOfToken()[i]);
    std::copy_n(merged.row(row), merged.cols, restored.row(out++));
  }
}

}  // namespace mpm
