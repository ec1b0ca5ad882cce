// SPDX-License-Identifier: Apache-2.0
#include "mpm/merging.hpp"

#include "kernels/random.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

TEST(MutualPairMerge, OneTokenOrNoneIsLeftAlone) {
  EXPECT_THAT(mutualPairMerge(std::vector<float>{1, 2, 3, 4}, 1, 2).map.cluster_of_token, ElementsAre(0));
  const auto none = mutualPairMerge(std::vector<float>{1, 2}, 1, 2);
  EXPECT_EQ(none.map.clusters, 0);
  EXPECT_THAT(none.tokens, ElementsAre(1, 2));
}

TEST(MutualPairMerge, RefusesNan) {
  const std::vector<float> tokens = {1, 2, std::numeric_limits<float>::quiet_NaN(), 3};
  EXPECT_MPM_ERROR(mutualPairMerge(tokens, 0, 2), "a token holds a NaN or an infinity");
}

TEST(MutualPairMerge, RefusesAShapeThatDoesNotFit) {
  EXPECT_THROW(mutualPairMerge(std::vector<float>(7), 0, 2), Error);
  EXPECT_THROW(mutualPairMerge(std::vector<float>(4), 3, 2), Error);
  EXPECT_THROW(mutualPairMerge(std::vector<float>(4), 0, 0), Error);
}

TEST(MergeMaps, ComposeIsOneIndexing) {
  const auto tokens = test::normal(150 * 10, 6);
  const auto first = mutualPairMerge(tokens, 2, 10);
  const auto second = mutualPairMerge(first.tokens, 2, 10);
  const MergeMap both = compose(first.map, second.map);
  EXPECT_EQ(both.clusters, second.map.clusters);
  const auto restored_in_steps = restoreTokens(restoreTokens(second.tokens, 2, 10, second.map), 2, 10, first.map);
  EXPECT_EQ(restoreTokens(second.tokens, 2, 10, both), restored_in_steps);
  const auto sizes = clusterSizes(both);
  EXPECT_EQ(static_cast<int>(sizes.size()), both.clusters);
  EXPECT_THAT(sizes, Each(AllOf(testing::Ge(1), testing::Le(4))));
  EXPECT_THROW(compose(second.map, first.map), Error);
}

TEST(MergeMaps, RefuseIdsOfNoCluster) {
  EXPECT_MPM_ERROR(clusterSizes({{0, 5}, 2}), "clusterSizes");
  EXPECT_MPM_ERROR(clusterSizes({{}, -1}), "-1 clusters");
  EXPECT_MPM_ERROR(compose({{0, 1, 7}, 2}, {{0, 0}, 1}), "compose");
  EXPECT_MPM_ERROR(compose({{0, 1}, 2}, {{0, -1}, 1}), "compose");
  EXPECT_MPM_ERROR(restoreTokens(std::vector<float>(6), 0, 3, {{0, 1, 9}, 2}), "restoreTokens");
}

TEST(MergeMaps, RestoreKeepsTheRasterOrder) {
  const MergeMap map{{0, 1, 0, 2, 1}, 3};
  EXPECT_THAT(restoreTokens(std::vector<float>{9, 10, 20, 30}, 1, 1, map), ElementsAre(9, 10, 20, 10, 30, 20));
  EXPECT_THROW(restoreTokens(std::vector<float>{10, 20}, 0, 1, map), Error);
}

}  // namespace
}  // namespace mpm
