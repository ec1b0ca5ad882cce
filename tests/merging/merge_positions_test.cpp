// SPDX-License-Identifier: Apache-2.0
#include "merging/merge_positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace mpm {
namespace {

using Values = std::vector<float>;

// Patches 0 and 2 merge, then their row with patch 3; patch 4 is left over, 1 merges with 5 at once.
const Values kFirst = {4, 0, 1, 0, 2, 3, 1, 2, 2, 1, 1, -1, -1}, kSecond = {3, 0, 1, 0, 0, 2, 1, 3, 2, 1, -1, -1, -1};
constexpr int kSix = 6;

TEST(PatchWeights, OneStateGivesEqualShares) {
  const TokenState<const float> second{kSecond.data(), kSix};
  const float third = 1.0f / 3;
  EXPECT_EQ(patchWeights({&second, 1}), (Values{third, 0.5f, third, third, 1, 0.5f}));
}

TEST(PatchWeights, SeveralStatesGiveMeansOfMeans) {
  const TokenState<const float> states[] = {{kFirst.data(), kSix}, {kSecond.data(), kSix}};
  EXPECT_EQ(patchWeights(states), (Values{0.25f, 0.5f, 0.25f, 0.5f, 1, 0.5f}));
}

constexpr int kPatches = 6, kTables = 2, kPairs = 2, kColumns = 2 * kTables * kPairs;
const std::vector<float> kState = {3, 0, 1, 0, 2, 1, 1, 2, 3, 1, -1, -1, -1};
const std::vector<std::vector<int>> kMembers = {{0, 2}, {1, 4, 5}, {3}};
constexpr float kUntouched = 1234.5f;

struct Tables {
  std::vector<float> cosine, sine;

  Tables() {
    for (int i = 0; i < kTables * kPatches * kPairs; ++i) {
      cosine.push_back(static_cast<float>(i * i % 17) / 8);
      sine.push_back(static_cast<float>(i * i % 13) / 4 - 1);
    }
  }
  static MatrixView<const float> view(const std::vector<float>& table) {
    return {table.data(), kTables * kPatches, kPairs};
  }
  static double at(const std::vector<float>& table, int t, int patch, int pair) {
    return static_cast<double>(table[(t * kPatches + patch) * kPairs + pair]);
  }
  /// The mean over patches.
  static double mean(const std::vector<float>& table, int t, const std::vector<int>& patches, int pair) {
    double sum = 0;
    for (const int i : patches) sum += at(table, t, i, pair);
    return sum / static_cast<double>(patches.size());
  }
  std::vector<float> merged(MergedPositions policy) const {
    std::vector<float> result(kPatches * kColumns, kUntouched);
    mergeRotations(policy, view(cosine), view(sine), {kState.data(), kPatches}, {result.data(), kPatches, kColumns});
    EXPECT_TRUE(std::all_of(result.begin() + 3 * kColumns, result.end(), [](float x) { return x == kUntouched; }));
    return result;
  }
};

/// expected(cluster, table, pair, sine) for every live row.
template <typename Expected>
void expectRows(const std::vector<float>& found, Expected expected) {
  auto value = found.begin();
  for (const std::vector<int>& cluster : kMembers)
    for (const bool sine : {false, true})
      for (int t = 0; t < kTables; ++t)
        for (int j = 0; j < kPairs; ++j) EXPECT_NEAR(*value++, expected(cluster, t, j, sine), 1e-6);
}

TEST(MergeRotations, MeanOverThePatchesOfARow) {
  const Tables tables;
  expectRows(tables.merged(MergedPositions::kMean), [&](const auto& cluster, int t, int j, bool sine) {
    return Tables::mean(sine ? tables.sine : tables.cosine, t, cluster, j);
  });
}

TEST(MergeRotations, FirstPatchOfARow) {
  const Tables tables;
  expectRows(tables.merged(MergedPositions::kFirst), [&](const auto& cluster, int t, int j, bool sine) {
    return Tables::at(sine ? tables.sine : tables.cosine, t, cluster.front(), j);
  });
}

TEST(MergeRotations, AngleOfTheCentroid) {
  const Tables tables;  // its cosines are the angles
  expectRows(tables.merged(MergedPositions::kCentroid), [&](const auto& cluster, int t, int j, bool sine) {
    const double angle = Tables::mean(tables.cosine, t, cluster, j);
    return sine ? std::sin(angle) : std::cos(angle);
  });
}

}  // namespace
}  // namespace mpm
