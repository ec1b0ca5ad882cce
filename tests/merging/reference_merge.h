// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

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
  return aa > 0 && bb > 0 ? dot / std::sqrt(aa * bb) : 0;
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

struct ScoredPair {
  double similarity = 0;
  int first = 0, second = 0;
};

/// The `count` first by falling similarity, ties to the lower first row.
inline std::vector<ScoredPair> mostSimilar(std::vector<ScoredPair> pairs, std::size_t count) {
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const ScoredPair& a, const ScoredPair& b) { return a.similarity > b.similarity; });
  pairs.resize(std::min(count, pairs.size()));
  return pairs;
}

/// Mutual nearest neighbours; `count`, `similarity` as in gradual. MPM: both without limit, not weighted.
inline MergedRows mergeMutual(const Rows& x, int special, const std::vector<double>& sizes, std::size_t count,
                              double similarity, bool weighted) {
  const int n = static_cast<int>(sizes.size());
  std::vector<int> best(sizes.size());
  std::vector<double> top(sizes.size(), -3);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (const double s = cosine(x[special + i], x[special + j]); i != j && s > top[i]) {
        top[i] = s;
        best[i] = j;
      }
  std::vector<ScoredPair> pairs;
  for (int i = 0; i < n; ++i)
    if (i < best[i] && best[best[i]] == i && top[i] >= similarity) pairs.push_back({top[i], i, best[i]});
  std::vector<int> partner(sizes.size(), -1);
  std::vector<bool> gone(sizes.size());
  for (const ScoredPair& pair : mostSimilar(pairs, count)) {
    partner[pair.first] = pair.second;
    gone[pair.second] = true;
  }
  std::vector<std::vector<int>> clusters;
  for (int i = 0; i < n; ++i) {
    if (gone[i]) continue;
    clusters.push_back({i});
    if (partner[i] >= 0) clusters.back().push_back(partner[i]);
  }
  return averaged(x, special, sizes, clusters, weighted);
}

/// ToMe's matching: even rows of the whole sequence `metric` with odd ones. `chosen` picks from the pairs.
inline MergedRows mergeEvenOdd(const Rows& x, const Rows& metric, int special, const std::vector<double>& sizes,
                               const std::function<std::vector<ScoredPair>(std::vector<ScoredPair>)>& chosen) {
  const int all = static_cast<int>(x.size());
  std::vector<ScoredPair> pairs;
  for (int a = 0; a < all; a += 2) {
    ScoredPair pair{-3, a, -1};
    for (int b = 1; b < all; b += 2)
      if (const double s = cosine(metric[a], metric[b]); a >= special && b >= special && s > pair.similarity)
        pair = {s, a, b};
    if (pair.second >= 0) pairs.push_back(pair);
  }
  std::vector<std::vector<int>> into(x.size());
  std::vector<bool> gone(x.size());
  for (const ScoredPair& pair : chosen(pairs)) {
    into[pair.second].push_back(pair.first - special);
    gone[pair.first] = true;
  }
  std::vector<std::vector<int>> clusters;
  for (const int parity : {0, 1})
    for (int i = parity; i < all; i += 2) {
      if (i < special || gone[i]) continue;
      clusters.push_back(into[i]);
      clusters.back().push_back(i - special);
    }
  return averaged(x, special, sizes, clusters, true);
}

inline MergedRows mergeTome(const Rows& x, const Rows& metric, int special, const std::vector<double>& sizes,
                            int count) {
  const auto most = static_cast<std::size_t>(std::min<int>(count, static_cast<int>(sizes.size()) / 2));
  return mergeEvenOdd(x, metric, special, sizes,
                      [&](std::vector<ScoredPair> pairs) { return mostSimilar(std::move(pairs), most); });
}

inline double meanPlusDeviations(const std::vector<ScoredPair>& pairs, double deviations) {
  double mean = 0, squares = 0;
  for (const ScoredPair& pair : pairs) mean += pair.similarity / static_cast<double>(pairs.size());
  for (const ScoredPair& pair : pairs) squares += (pair.similarity - mean) * (pair.similarity - mean);
  return mean + deviations * std::sqrt(squares / static_cast<double>(pairs.size() - 1));
}

/// The second step of ALGM.
inline MergedRows mergeAboveMean(const Rows& x, int special, const std::vector<double>& sizes, double deviations) {
  return mergeEvenOdd(x, x, special, sizes, [&](std::vector<ScoredPair> pairs) {
    const double threshold = meanPlusDeviations(pairs, deviations);
    std::erase_if(pairs, [&](const ScoredPair& pair) { return pair.similarity < threshold; });
    return pairs;
  });
}

inline std::vector<ScoredPair> scoredWindows(const Rows& x, int special, int width) {
  std::vector<ScoredPair> windows;
  const int height = static_cast<int>(x.size() - static_cast<std::size_t>(special)) / width;
  for (int row = 0; row < height; row += 2)
    for (int column = 0; column < width; column += 2) {
      const int first = row * width + column;
      const int members[] = {first, first + 1, first + width, first + width + 1};
      double sum = 0;
      for (const int i : members)
        for (const int j : members)
          if (i != j) sum += cosine(x[special + i], x[special + j]) / 12;
      windows.push_back({sum, first, 0});
    }
  return windows;
}

/// The first step of ALGM.
inline MergedRows mergeWindows(const Rows& x, int special, const std::vector<double>& sizes, int width,
                               double threshold, std::size_t count = static_cast<std::size_t>(-1)) {
  std::vector<ScoredPair> windows = scoredWindows(x, special, width);
  std::erase_if(windows, [&](const ScoredPair& window) { return window.similarity < threshold; });
  std::vector<std::vector<int>> clusters;
  std::vector<bool> gone(sizes.size());
  for (const ScoredPair& window : mostSimilar(windows, count)) {
    const int first = window.first;
    clusters.push_back({first, first + 1, first + width, first + width + 1});
    for (const int i : clusters.back()) gone[i] = true;
  }
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i)
    if (!gone[i]) clusters.push_back({i});
  return averaged(x, special, sizes, clusters, true);
}

}  // namespace mpm::test
