// SPDX-License-Identifier: Apache-2.0
#include "merging/merge_positions.h"

#include <gtest/gtest.h>

#include <vector>

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

TEST(PatchWeights, APatchAloneKeepsItsPosition) {
  Values state(TokenState<float>::size(3));
  resetState({state.data(), 3});
  const TokenState<const float> alone{state.data(), 3};
  EXPECT_EQ(patchWeights({&alone, 1}), (Values{1, 1, 1}));
}

}  // namespace
}  // namespace mpm
