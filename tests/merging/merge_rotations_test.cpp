// SPDX-License-Identifier: Apache-2.0
#include "merging/merge_rotations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace mpm {
namespace {

TEST(MergeRotations, MeanOverThePatchesOfARow) {
  constexpr int kPatches = 6, kTables = 2, kPairs = 2;
  const std::vector<float> state = {3, 0, 1, 0, 2, 1, 1, 2, 3, 1, -1, -1, -1};
  const std::vector<std::vector<int>> members = {{0, 2}, {1, 4, 5}, {3}};
  std::vector<float> cosine, sine;
  for (int i = 0; i < kTables * kPatches * kPairs; ++i) {
    cosine.push_back(static_cast<float>(i * i % 17) / 8);
    sine.push_back(static_cast<float>(i * i % 13) / 4 - 1);
  }
  constexpr float kUntouched = 1234.5f;
  std::vector<float> merged(kPatches * 2 * kTables * kPairs, kUntouched);
  mergeRotations({cosine.data(), kTables * kPatches, kPairs}, {sine.data(), kTables * kPatches, kPairs},
                 {state.data(), kPatches}, {merged.data(), kPatches, 2 * kTables * kPairs});
  auto found = merged.begin();
  for (const std::vector<int>& cluster : members) {
    for (const std::vector<float>* table : {&cosine, &sine}) {
      for (int t = 0; t < kTables; ++t) {
        for (int j = 0; j < kPairs; ++j) {
          double mean = 0;
          for (const int i : cluster)
            mean += static_cast<double>((*table)[static_cast<std::size_t>((t * kPatches + i) * kPairs + j)]);
          EXPECT_NEAR(*found++, mean / static_cast<double>(cluster.size()), 1e-6);
        }
      }
    }
  }
  EXPECT_TRUE(std::all_of(found, merged.end(), [](float value) { return value == kUntouched; }));
}

TEST(MergeRotations, RowsOfOnePatchAreItsOwn) {
  const std::vector<float> cosine = {0.1f, 0.2f, 0.3f}, sine = {0.4f, 0.5f, 0.6f};
  std::vector<float> state(TokenState<float>::size(3)), merged(6);
  resetState({state.data(), 3});
  mergeRotations({cosine.data(), 3, 1}, {sine.data(), 3, 1}, {state.data(), 3}, {merged.data(), 3, 2});
  EXPECT_EQ(merged, (std::vector<float>{0.1f, 0.4f, 0.2f, 0.5f, 0.3f, 0.6f}));
}

}  // namespace
}  // namespace mpm
