// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/merge_rule.h"

/// The merging steps of docs/reduction.md as plain loops in double precision.
namespace mpm::test {

using Rows = std::vector<std::vector<double>>;

struct MergedRows {
  Rows rows;                        ///< special rows in front
  std::vector<double> sizes;        ///< of the clusters
  std::vector<int> cluster_of_row;  ///< of the image rows
};

inline double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    dot += a[c] * b[c];
    aa += a[c] * a[c];
    bb += b[c] * b[c];
  }
  return aa > 0 && bb > 0 ? dot / std::sqrt(aa) / std::sqrt(bb) : 0;
}

/// `clusters`: the image rows of each merged row, in the order of the result.
inline MergedRows averaged(const Rows& x, int special, const std::vector<double>& sizes,
                           const std::vector<std::vector<int>>& clusters, bool weighted) {
  MergedRows result;
  result.rows.assign(x.begin(), x.begin() + special);
  result.cluster_of_row.assign(x.size() - static_cast<std::size_t>(special), -1);
  for (const std::vector<int>& members : clusters) {
    double total = 0, weights = 0;
    std::vector<double> sum(x[0].size());
    for (const int i : members) {
      const double size = sizes[i], weight = weighted ? size : 1;
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += weight * x[special + i][c];
      total += size;
      weights += weight;
      result.cluster_of_row[i] = static_cast<int>(result.sizes.size());
    }
    for (double& value : sum) value /= weights;
    result.rows.push_back(sum);
    result.sizes.push_back(total);
  }
  return result;
}

/// Image rows that may merge, the lowest, the even one or the top left one in front.
struct Group {
  double similarity = 0;
  std::vector<int> rows;
  int window = 0;
};

/// Rows that are each other's best neighbour; of equal ones the first.
inline std::vector<Group> mutualPairs(const Rows& metric, int special) {
  const int n = static_cast<int>(metric.size()) - special;
  const auto similarity = [&](int i, int j) { return cosine(metric[special + i], metric[special + j]); };
  std::vector<int> best;
  for (int i = 0; i < n; ++i) {
    int nearest = i > 0 ? 0 : std::min(1, n - 1);
    double most = similarity(i, nearest);
    for (int j = nearest + 1; j < n; ++j) {
      if (const double one = similarity(i, j); i != j && one > most) {
        most = one;
        nearest = j;
      }
    }
    best.push_back(nearest);
  }
  std::vector<Group> pairs;
  for (int i = 0; i < n; ++i)
    if (i < best[i] && best[best[i]] == i) pairs.push_back({similarity(i, best[i]), {i, best[i]}});
  return pairs;
}

/// ToMe's matching: even rows of the whole sequence `metric` with odd ones.
inline std::vector<Group> matches(const Rows& metric, int special) {
  std::vector<Group> pairs;
  const int all = static_cast<int>(metric.size());
  for (int a = special + special % 2; a < all; a += 2) {
    Group pair{-3, {}};
    for (int b = special + 1 - special % 2; b < all; b += 2)
      if (const double s = cosine(metric[a], metric[b]); s > pair.similarity) pair = {s, {a - special, b - special}};
    if (!pair.rows.empty()) pairs.push_back(pair);
  }
  return pairs;
}

/// 2x2 windows in raster order, by `scores` or if there are none by `metric`.
inline std::vector<Group> windows(const Rows& metric, int special, int width, const std::vector<float>& scores) {
  std::vector<Group> all;
  const int height = static_cast<int>(metric.size() - static_cast<std::size_t>(special)) / width;
  for (int row = 0; row < height; row += 2) {
    for (int column = 0; column < width; column += 2) {
      const int first = row * width + column, number = static_cast<int>(all.size());
      Group window{0, {first, first + 1, first + width, first + width + 1}, number};
      if (!scores.empty()) window.similarity = static_cast<double>(scores[number]);
      for (const int i : window.rows) {
        for (const int j : window.rows)
          if (i < j && scores.empty()) window.similarity += cosine(metric[special + i], metric[special + j]);
      }
      if (scores.empty()) window.similarity /= 6;
      all.push_back(window);
    }
  }
  return all;
}

/// Rows that a step compares and merges, of one image.
struct MergeStep {
  Rows x, metric;                  ///< special rows in front
  std::vector<double> sizes;       ///< of the clusters
  std::vector<float> scores = {};  ///< of scored windows, and the row of each that merges
  Rows shared = {};
};

/// What a step makes of them. `count` and `similarity` of the rule are limits of all methods.
inline MergedRows merged(const MergeRule& rule, int special, const MergeStep& step) {
  const int n = static_cast<int>(step.sizes.size());
  const bool pairs = rule.groups == MergeGroups::kMutualPairs, even_odd = rule.groups == MergeGroups::kEvenOdd,
             scored = rule.groups == MergeGroups::kScoredWindows;
  std::vector<Group> groups = pairs      ? mutualPairs(step.metric, special)
                              : even_odd ? matches(step.metric, special)
                                         : windows(step.metric, special, rule.grid_width, step.scores);
  // A sum of floats is exact here, so that all are as similar as their mean if they are equal.
  for (Group& group : groups) group.similarity = static_cast<double>(static_cast<float>(group.similarity));
  double threshold = scored ? -INFINITY : static_cast<double>(rule.similarity);
  if (rule.deviations >= 0 && !groups.empty() && !scored) {
    const auto count = static_cast<double>(groups.size());
    double mean = 0, squares = 0;
    for (const Group& group : groups) mean += group.similarity;
    mean /= count;
    for (const Group& group : groups) squares += (group.similarity - mean) * (group.similarity - mean);
    threshold = std::max(
        threshold,
        groups.size() == 1 ? mean : mean + static_cast<double>(rule.deviations) * std::sqrt(squares / (count - 1)));
  }
  std::erase_if(groups, [&](const Group& group) { return group.similarity < threshold; });
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.similarity > b.similarity; });
  std::size_t most = even_odd ? step.sizes.size() / 2 : groups.size();  // not more than half of the rows
  if (rule.count >= 0) most = std::min(most, static_cast<std::size_t>(rule.count));
  groups.resize(std::min(most, groups.size()));

  std::vector<std::vector<int>> clusters, with(step.sizes.size());
  std::vector<bool> gone(step.sizes.size());
  for (const Group& group : groups) {
    if (!pairs && !even_odd) clusters.push_back(group.rows);
    const int into = group.rows[even_odd ? 1 : 0];
    for (const int row : group.rows) {
      if (row != into) with[into].push_back(row);
      gone[row] = !(pairs || even_odd) || row != into || gone[row];
    }
  }
  const auto keep = [&](int first, int stride) {
    for (int i = first; i < n; i += stride) {
      if (gone[i]) continue;
      clusters.push_back(with[i]);
      clusters.back().push_back(i);
    }
  };
  keep(even_odd ? special % 2 : 0, even_odd ? 2 : 1);
  if (even_odd) keep(1 - special % 2, 2);
  MergedRows result = averaged(step.x, special, step.sizes, clusters, rule.weighted);
  for (std::size_t k = 0; scored && k < groups.size(); ++k) result.rows[special + k] = step.shared[groups[k].window];
  return result;
}

}  // namespace mpm::test
