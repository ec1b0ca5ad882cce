// SPDX-License-Identifier: Apache-2.0
// Groups that outlive frames, against sets of patches that are written out.
#include "merging/kept_groups.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels/random.h"
#include "kernels/threads.h"
#include "merging/merge_tokens.h"
#include "merging/reference_merge.h"

namespace mpm {
namespace {

constexpr int kAllPatches = 60, kFrontRows = 1, kWidth = 6, kMergeSteps = 2;

using Partition = std::set<std::set<int>>;

struct State {
  std::vector<float> data = std::vector<float>(TokenState<float>::size(kAllPatches));
  std::vector<float> computed = std::vector<float>(1 + kAllPatches);
  TokenState<float> view() { return {data.data(), kAllPatches, computed.data()}; }
  TokenState<const float> read() const { return {data.data(), kAllPatches, computed.data()}; }

  Partition partition() const {
    std::vector<std::set<int>> groups(kAllPatches);
    for (int i = 0; i < kAllPatches; ++i) groups[read().clusterOfToken()[i]].insert(i);
    Partition result(groups.begin(), groups.end());
    result.erase(std::set<int>());
    return result;
  }
};

/// Of the similarities of all pairs in one cluster.
double lowerQuartile(const test::Rows& rows, const std::vector<int>& cluster_of_row) {
  std::vector<double> similarities;
  for (std::size_t i = 0; i < cluster_of_row.size(); ++i) {
    for (std::size_t j = i + 1; j < cluster_of_row.size(); ++j) {
      if (cluster_of_row[i] == cluster_of_row[j])
        similarities.push_back(test::cosine(rows[kFrontRows + i], rows[kFrontRows + j]));
    }
  }
  std::sort(similarities.begin(), similarities.end());
  return similarities[similarities.size() / 4];
}

/// A picture with two merging steps, and beside it the same groups as sets.
struct Sequence {
  MergeRule rule;
  State states[kMergeSteps + 1];
  KeptGroups kept[kMergeSteps];
  std::vector<std::set<int>> expected[kMergeSteps];
  double alike[kMergeSteps] = {};  ///< what a pair of changed rows must reach

  /// The frame computes `changed`, all patches for a key frame. `rows`: special rows, then theirs.
  void frame(const std::vector<int>& changed, test::Rows rows, bool key) {
    resetState(states[0].view());
    states[0].computed[0] = static_cast<float>(changed.size());
    std::copy(changed.begin(), changed.end(), states[0].computed.begin() + 1);
    std::vector<std::set<int>> members;
    for (const int patch : changed) members.push_back({patch});
    std::vector<double> sizes(changed.size(), 1);
    for (int step = 0; step < kMergeSteps; ++step) {
      const auto count = static_cast<int>(members.size());
      test::Matrix tokens(kFrontRows + count, kWidth), merged(kFrontRows + count, kWidth);
      for (int i = 0; i < tokens.rows; ++i) std::copy_n(rows[i].begin(), kWidth, tokens.view().row(i));
      const TokenState<const float> before = states[step].read();
      const TokenState<float> after = states[step + 1].view();
      const int limit = rule.count < 0
                            ? kAllPatches
                            : static_cast<int>(std::lround(static_cast<double>(rule.count) *
                                                           static_cast<double>(changed.size()) / kAllPatches));
      if (key) {
        GroupsOfImage found;
        ASSERT_TRUE(findGroups(rule, tokens.view(), kFrontRows, found, Serial()));
        mergeGroups(rule, found, tokens.view(), kFrontRows, {before.data, kAllPatches}, merged.view(),
                    {after.data, kAllPatches});
        after.computed[0] = after.data[0];
        for (int i = 0; i < after.live(); ++i) after.computed[1 + i] = static_cast<float>(i);
        kept[step].takeOver(found, before, {after.data, kAllPatches});
      } else {
        ASSERT_TRUE(
            kept[step].merge(rule, tokens.view(), tokens.view(), kFrontRows, before, merged.view(), after, Serial()));
      }
      if (key) alike[step] = static_cast<double>(rule.similarity);
      const test::MergedRows reference =
          test::merged({.count = limit, .similarity = static_cast<float>(alike[step]), .weighted = rule.weighted},
                       kFrontRows, {rows, rows, sizes});
      if (key) alike[step] = lowerQuartile(rows, reference.cluster_of_row);
      std::vector<std::set<int>> groups(reference.sizes.size());
      for (int i = 0; i < count; ++i) groups[reference.cluster_of_row[i]].merge(std::set<int>(members[i]));
      for (std::set<int>& group : expected[step])
        for (const int patch : changed) group.erase(patch);
      std::erase_if(expected[step], [](const auto& group) { return group.empty(); });
      expected[step].insert(expected[step].end(), groups.begin(), groups.end());
      check(step, groups, reference.rows, merged);
      members = groups;
      sizes = reference.sizes;
      rows = reference.rows;
      for (std::size_t i = kFrontRows; i < rows.size(); ++i)  // what a kernel would hand on
        std::copy_n(merged.view().row(static_cast<int>(i)), kWidth, rows[i].begin());
    }
  }

  void check(int step, const std::vector<std::set<int>>& groups, const test::Rows& rows, const test::Matrix& merged) {
    const TokenState<const float> state = states[step + 1].read();
    ASSERT_EQ(states[step + 1].partition(), Partition(expected[step].begin(), expected[step].end()));
    std::vector<int> sizes(kAllPatches);
    for (int i = 0; i < kAllPatches; ++i) {
      ASSERT_LT(state.clusterOfToken()[i], state.data[0]);
      ++sizes[state.clusterOfToken()[i]];
    }
    for (int row = 0; row < state.live(); ++row) ASSERT_EQ(state.clusterSize()[row], sizes[row]) << row;
    ASSERT_EQ(state.computedRows(), static_cast<int>(groups.size()));
    for (int i = 0; i < state.computedRows(); ++i) {
      ASSERT_LT(i > 0 ? state.computedRow(i - 1) : -1, state.computedRow(i));
      for (const int patch : groups[i]) ASSERT_EQ(state.clusterOfToken()[patch], state.computedRow(i));
      for (int c = 0; c < kWidth; ++c) ASSERT_NEAR(merged.at(kFrontRows + i, c), rows[kFrontRows + i][c], 1e-6);
    }
  }
};

std::vector<int> allPatches() {
  std::vector<int> all(kAllPatches);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

test::Rows randomRows(std::size_t count, unsigned seed) {
  const std::vector<float> values = test::normal((kFrontRows + count) * kWidth, seed, 1, 0.3f);
  test::Rows rows;
  for (std::size_t i = 0; i < kFrontRows + count; ++i) {
    rows.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i * kWidth),
                      values.begin() + static_cast<std::ptrdiff_t>((i + 1) * kWidth));
  }
  return rows;
}

class KeptGroupsTest : public ::testing::TestWithParam<MergeRule> {};

TEST_P(KeptGroupsTest, OutliveFramesAsSetsOfPatches) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Sequence sequence;
    sequence.rule = GetParam();
    std::mt19937 random(seed);
    ASSERT_NO_FATAL_FAILURE(sequence.frame(allPatches(), randomRows(kAllPatches, seed), true));
    for (unsigned t = 1; t < 30; ++t) {
      std::vector<int> changed;
      const unsigned share = random() % 4;  // none, few, many, most
      for (int i = 0; i < kAllPatches; ++i)
        if (random() % 8 < 2 * share) changed.push_back(i);
      const bool key = random() % 10 == 0;
      if (key) {
        changed = allPatches();
        for (auto& groups : sequence.expected) groups.clear();
      }
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", frame " << t << ", changed " << changed.size());
      ASSERT_NO_FATAL_FAILURE(sequence.frame(changed, randomRows(changed.size(), 1000 * seed + t), key));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, KeptGroupsTest,
                         ::testing::Values(MergeRule{}, MergeRule{.similarity = 0.8f},
                                           MergeRule{.count = 12, .weighted = true}));

TEST(KeptGroups, NanChangesNothing) {
  Sequence sequence;
  sequence.frame(allPatches(), randomRows(kAllPatches, 1), true);
  const State after = sequence.states[1];
  test::Matrix tokens = test::Matrix::normal(kFrontRows + kAllPatches, kWidth, 2), merged = tokens;
  tokens.at(5, 2) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(sequence.kept[0].merge({}, tokens.view(), tokens.view(), kFrontRows, sequence.states[0].read(),
                                      merged.view(), sequence.states[1].view(), Serial()));
  EXPECT_EQ(sequence.states[1].data, after.data);
  EXPECT_EQ(sequence.states[1].computed, after.computed);
}

}  // namespace
}  // namespace mpm
