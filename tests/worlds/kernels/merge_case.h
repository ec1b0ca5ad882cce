// SPDX-License-Identifier: Apache-2.0
// Random merging steps, for the CPU and for GPUs.
#pragma once

#include <numeric>

#include "merging/reference_merge.h"
#include "mpm/options.hpp"
#include "trial.h"

namespace mpm::worlds {

/// Which row each patch is in, and how many patches each row has.
struct RandomState {
  int patches, live;
  std::vector<int> map, sizes;

  /// Rows of `rows` (patches, or those of another state) join at random until `count` are left.
  static std::vector<int> joined(Random& random, int rows, int count) {
    std::vector<int> into;
    for (int i = 0; i < rows; ++i) into.push_back(i < count ? i : static_cast<int>(random.bits() % count));
    for (int i = rows - 1; i > 0; --i) std::swap(into[i], into[random.bits() % static_cast<unsigned>(i + 1)]);
    return into;
  }
  RandomState(Random& random, int patch_count, int rows)
      : patches(patch_count), live(rows), map(joined(random, patches, live)), sizes(static_cast<std::size_t>(live)) {
    for (const int row : map) ++sizes[row];
  }
  /// After one more merge, `into` {live}: the rows that the rows become.
  RandomState merged(const std::vector<int>& into) const {
    RandomState next = *this;
    next.live = 1 + *std::max_element(into.begin(), into.end());
    for (int& row : next.map) row = into[row];
    next.sizes.assign(static_cast<std::size_t>(next.live), 0);
    for (const int row : next.map) ++next.sizes[row];
    return next;
  }
  /// As the CPU has it (merging/token_state.h); what is behind the live sizes does not count.
  std::vector<float> blob() const {
    std::vector<float> values = {static_cast<float>(live)};
    values.insert(values.end(), map.begin(), map.end());
    values.insert(values.end(), sizes.begin(), sizes.end());
    values.resize(1 + 2 * static_cast<std::size_t>(patches), -1.0f);
    return values;
  }
  /// The share of each patch in a mean of means, one for each merge. `joins`: the rows that patches, then rows, become.
  static std::vector<double> shares(const std::vector<std::vector<int>>& joins) {
    std::vector<double> shares(joins[0].size(), 1);
    std::vector<int> row(joins[0].size());
    std::iota(row.begin(), row.end(), 0);
    for (const std::vector<int>& into : joins) {
      for (std::size_t p = 0; p < row.size(); ++p) {
        row[p] = into[row[p]];
        shares[p] /= static_cast<double>(std::count(into.begin(), into.end(), row[p]));
      }
    }
    return shares;
  }
};

/// Rotary positions of merged rows: the mean of their patches, the angle of the mean, or the first patch.
inline Reference mergedRotations(MergedPositions policy, MatrixView<const float> cosine, MatrixView<const float> sine,
                                 const RandomState& state) {
  const int pairs = cosine.cols, half = cosine.rows / state.patches * pairs;
  Reference expected(state.live, 2 * half);
  for (int row = 0; row < state.live; ++row) {
    for (int c = 0; c < 2 * half; ++c) {
      const bool second = c >= half, angle = policy == MergedPositions::kCentroid;
      const int column = c % half;
      double sum = 0, members = 0;
      for (int p = 0; p < state.patches; ++p) {
        if (state.map[p] != row || (policy == MergedPositions::kFirst && members > 0)) continue;
        const MatrixView<const float>& table = second && !angle ? sine : cosine;
        sum += static_cast<double>(table.row(column / pairs * state.patches + p)[column % pairs]);
        ++members;
      }
      const double mean = sum / members;
      expected.at(row, c) = !angle ? mean : second ? std::sin(mean) : std::cos(mean);
    }
  }
  return expected;
}

/// What all images of a step share.
struct MergeShape {
  MergeRule rule;
  int special, patches, dim, metric_dim;
  bool compares_tokens;  ///< the rows that are compared are those that merge

  MergeShape(Random& random, MergeGroups groups, int most_patches) {
    const bool windows = groups == MergeGroups::kWindows || groups == MergeGroups::kScoredWindows;
    special = random.size(0, 5);
    patches = random.size(1, most_patches);
    rule.groups = groups;
    if (windows) {
      rule.grid_width = 2 * random.size(1, 12);
      patches = 2 * random.size(1, std::max(1, most_patches / 2 / rule.grid_width)) * rule.grid_width;
    }
    if (random.chance(2)) rule.count = random.oneOf({0, 1, random.size(1, patches), 1000});
    if (random.chance(3)) rule.similarity = windows ? 0.1f * static_cast<float>(random.size(0, 5)) + 0.03f : 0.3f;
    if (random.chance(3)) rule.deviations = 0.1f * static_cast<float>(random.size(0, 12));
    rule.weighted = random.chance(2);
    dim = random.size(1, 40);
    compares_tokens = random.chance(2);
    metric_dim = compares_tokens ? dim : random.size(1, 30);
    if (metric_dim == 1) metric_dim = dim = 2;  // all similarities would be 1 or -1
  }
};

/// One image: rows, of which some are equal, and what merges.
struct MergeImage {
  RandomState state;
  int rows;                      ///< special and live
  float length;                  ///< of all rows of x, about
  std::vector<float> x, metric;  ///< {rows, dim}, {rows, metric_dim}
  std::vector<float> scores, shared;
  bool finite = true, clear = true;  ///< false: the choice depends on rounding
  test::MergedRows expected;

  MergeImage(Trial& trial, const MergeShape& shape)
      : state(trial.random, shape.patches,
              shape.rule.grid_width > 0 ? shape.patches : trial.random.size(1, shape.patches)),
        rows(shape.special + state.live) {
    Random& random = trial.random;
    const int width = shape.rule.grid_width, m = shape.metric_dim, windows = shape.patches / 4;
    if (width > 0) std::iota(state.map.begin(), state.map.end(), 0);
    // Rows that tie have few numbers, and a length of 1 or 2: each similarity is exact, and many are equal.
    const bool ties = random.chance(3);
    metric = trial.memory.normal(static_cast<std::size_t>(rows) * m, 1, 0.5f);
    const bool lengths = !shape.compares_tokens && random.chance(4);  // their squares leave the range of floats
    for (int i = 0; i < rows; ++i) {
      float* const row = metric.data() + static_cast<std::ptrdiff_t>(i) * m;
      const float of_row = random.oneOf({1e25f, 1e-25f, 1.0f});
      for (int c = 0; lengths && c < m; ++c) row[c] *= of_row;
      if (random.chance(30)) std::fill_n(row, m, 0.0f);  // similar to nothing
      if (!ties) continue;
      const int first = static_cast<int>(random.bits() % static_cast<unsigned>(m)),
                count = m > 4 && random.chance(2) ? 4 : 1;
      for (int c = 0; c < m; ++c) row[c] = (c - first + m) % m < count ? random.oneOf({1.0f, 1.0f, -1.0f}) : 0.0f;
    }
    length = shape.compares_tokens ? 1 : random.oneOf({1.0f, 1.0f, 5e37f, 1e-37f});
    x = shape.compares_tokens ? metric : trial.memory.normal(static_cast<std::size_t>(rows) * shape.dim, length);
    if (shape.rule.groups == MergeGroups::kScoredWindows) {
      scores = trial.memory.normal(static_cast<std::size_t>(windows));
      for (float& score : scores) score = std::round(2 * score) - (random.chance(2) ? 40.0f : 0.0f);  // many ties
      shared = trial.memory.normal(static_cast<std::size_t>(windows) * shape.dim);
    }
    const auto asRows = [](const auto& values, int count, int columns) {
      test::Rows all;
      for (int i = 0; i < count; ++i)
        all.emplace_back(values.begin() + i * columns, values.begin() + (i + 1) * columns);
      return all;
    };
    test::MergeStep step{asRows(x, rows, shape.dim),
                         asRows(metric, rows, m),
                         {state.sizes.begin(), state.sizes.end()},
                         scores,
                         asRows(shared, static_cast<int>(shared.size()) / shape.dim, shape.dim)};
    expected = test::merged(shape.rule, shape.special, step);
    for (int attempt = 0; attempt < 3 && !ties; ++attempt) {
      std::vector<double> other(metric.begin(), metric.end());
      for (double& value : other) value *= 1 + 4e-6 * static_cast<double>(random.normal(1));
      step.metric = asRows(other, rows, m);
      clear = clear && test::merged(shape.rule, shape.special, step).cluster_of_row == expected.cluster_of_row;
    }
    if (state.live > 1 && random.chance(10)) {
      const float bad = random.oneOf({std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()});
      const int row = random.size(shape.compares_tokens ? shape.special : 0, rows - 1);
      const auto at = static_cast<std::size_t>(row) * m + random.size(0, m - 1);
      finite = scores.empty() && row < shape.special;
      (scores.empty() ? metric[at] : scores[random.bits() % scores.size()]) = bad;
      if (scores.empty() && shape.compares_tokens) x[at] = bad;
    }
  }

  /// `found` {rows of the result, dim}, `map` {patches} and `sizes` {clusters} behind the step.
  template <typename Number>
  void check(Trial& trial, const MergeShape& shape, int live, MatrixView<const float> found, const Number* map,
             const Number* sizes) const {
    const int clusters = static_cast<int>(expected.sizes.size());
    trial.require(live == clusters, "leaves " + std::to_string(live) + " rows of " + std::to_string(clusters));
    if (live != clusters) return;
    for (int k = 0; k < clusters; ++k)
      trial.require(static_cast<double>(sizes[k]) == expected.sizes[k], "gives a row another number of patches");
    for (int p = 0; p < state.patches; ++p)
      trial.require(static_cast<int>(map[p]) == expected.cluster_of_row[state.map[p]], "puts a patch in another row");
    for (int i = 0; i < shape.special + clusters; ++i)
      for (int c = 0; c < shape.dim; ++c) trial.near(static_cast<double>(found.row(i)[c]), expected.rows[i][c], 2e-6);
    // The mean of equal rows is the same row, so that they tie again.
    std::vector<const float*> first(static_cast<std::size_t>(clusters));
    std::vector<bool> equal(static_cast<std::size_t>(clusters), shared.empty());
    const auto bytes = sizeof(float) * static_cast<std::size_t>(shape.dim);
    for (int i = 0; i < state.live; ++i) {
      const int k = expected.cluster_of_row[i];
      const float* const row = x.data() + static_cast<std::ptrdiff_t>(shape.special + i) * shape.dim;
      if (first[k] == nullptr) first[k] = row;
      equal[k] = equal[k] && std::memcmp(first[k], row, bytes) == 0;
    }
    for (int k = 0; k < clusters; ++k) {
      trial.require(!equal[k] || std::memcmp(found.row(shape.special + k), first[k], bytes) == 0,
                    "makes another row of equal rows");
    }
  }
};

}  // namespace mpm::worlds
