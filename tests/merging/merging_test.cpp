// SPDX-License-Identifier: Apache-2.0
#include "mpm/merging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "kernels/threads.h"
#include "merging/merge_tokens.h"
#include "mpm/error.hpp"
#include "support/throws_with.h"

namespace mpm {
namespace {

using testing::ElementsAre;

/// Clusters of points with a little noise, so that there are close pairs as in the tokens of an image.
std::vector<float> clusteredTokens(int count, int dim, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> centres(static_cast<std::size_t>(count / 3 + 1) * dim), tokens;
  for (float& value : centres) value = normal(random);
  for (int i = 0; i < count; ++i) {
    const float* centre = &centres[static_cast<std::size_t>(random() % (count / 3 + 1)) * dim];
    for (int c = 0; c < dim; ++c) tokens.push_back(centre[c] + 0.3f * normal(random));
  }
  return tokens;
}

/// The method as the paper writes it: the whole N x N matrix, in double.
MergedTokens referenceMerge(const std::vector<float>& tokens, int special, int dim, double* closest_call = nullptr) {
  const int n = static_cast<int>(tokens.size()) / dim - special;
  const auto row = [&](int i) { return &tokens[static_cast<std::size_t>(special + i) * dim]; };
  std::vector<int> best(n);
  double margin = std::numeric_limits<double>::infinity();
  for (int i = 0; i < n; ++i) {
    double first = -std::numeric_limits<double>::infinity(), second = first;
    for (int j = 0; j < n; ++j) {
      if (i == j) continue;
      double dot = 0, ii = 0, jj = 0;
      for (int c = 0; c < dim; ++c) {
        dot += static_cast<double>(row(i)[c]) * row(j)[c];
        ii += static_cast<double>(row(i)[c]) * row(i)[c];
        jj += static_cast<double>(row(j)[c]) * row(j)[c];
      }
      const double similarity = ii > 0 && jj > 0 ? dot / std::sqrt(ii * jj) : 0;
      if (similarity > first) {
        second = first;
        first = similarity;
        best[i] = j;
      } else if (similarity > second) {
        second = similarity;
      }
    }
    if (n > 2) margin = std::min(margin, first - second);
  }
  if (closest_call) *closest_call = margin;

  MergedTokens result;
  result.tokens.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(special) * dim);
  for (int i = 0; i < n; ++i) {
    const int j = best[i];
    const bool mutual = n > 1 && best[j] == i;
    if (mutual && j < i) {
      result.map.cluster_of_token.push_back(result.map.cluster_of_token[j]);
      continue;
    }
    result.map.cluster_of_token.push_back(result.map.clusters++);
    for (int c = 0; c < dim; ++c) {
      result.tokens.push_back(mutual ? static_cast<float>((static_cast<double>(row(i)[c]) + row(j)[c]) / 2)
                                     : row(i)[c]);
    }
  }
  return result;
}

TEST(MutualPairMerge, AgreesWithTheWholeMatrixInDouble) {
  int compared = 0;
  for (const int n : {2, 3, 5, 17, 63, 64, 65, 129, 200}) {
    for (const int dim : {1, 3, 24, 64, 100}) {
      for (const int special : {0, 1, 5}) {
        auto tokens = clusteredTokens(n + special, dim, static_cast<unsigned>(n * 1000 + dim * 10 + special));
        double margin = 0;
        const MergedTokens expected = referenceMerge(tokens, special, dim, &margin);
        if (n > 2 && margin < 2e-6) continue;  // decided by rounding
        const MergedTokens merged = mutualPairMerge(tokens, special, dim);
        ASSERT_EQ(merged.map.cluster_of_token, expected.map.cluster_of_token) << n << " tokens of " << dim;
        ASSERT_EQ(merged.map.clusters, expected.map.clusters);
        ASSERT_EQ(merged.tokens.size(), expected.tokens.size());
        for (std::size_t i = 0; i < merged.tokens.size(); ++i) {
          ASSERT_FLOAT_EQ(merged.tokens[i], expected.tokens[i]);
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 60);
}

TEST(MutualPairMerge, KeepsBetweenHalfAndAllButOne) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (int n = 2; n < 80; ++n) {
    std::vector<float> tokens(static_cast<std::size_t>(n) * 16);
    for (float& value : tokens) value = normal(random);
    const int clusters = mutualPairMerge(tokens, 0, 16).map.clusters;
    EXPECT_GE(clusters, (n + 1) / 2);
    EXPECT_LE(clusters, n - 1);  // the globally closest pair is always mutual
  }
}

TEST(MutualPairMerge, IdenticalTokensGiveExactlyOnePair) {
  for (const int k : {2, 3, 7, 64, 65, 130}) {
    std::vector<float> tokens;
    for (int i = 0; i < k; ++i) tokens.insert(tokens.end(), {0.3f, -1.7f, 2.f});
    const auto merged = mutualPairMerge(tokens, 0, 3);
    EXPECT_EQ(merged.map.clusters, k - 1) << k;
    EXPECT_EQ(merged.map.cluster_of_token[0], 0);
    EXPECT_EQ(merged.map.cluster_of_token[1], 0);
    EXPECT_THAT(std::vector<float>(merged.tokens.begin(), merged.tokens.begin() + 3), ElementsAre(0.3f, -1.7f, 2.f));
  }
}

TEST(MutualPairMerge, TiesGoToTheLowestIndex) {
  // 1 is as close to 0 as to 2 (same angle on both sides); so are all to the orthogonal 3, not at all.
  const std::vector<float> tokens = {1, 0, 0, /**/ 1, 1, 0, /**/ 0, 1, 0, /**/ 0, 0, 1};
  EXPECT_THAT(mutualPairMerge(tokens, 0, 3).map.cluster_of_token, ElementsAre(0, 0, 1, 2));
}

TEST(MutualPairMerge, ZeroRowsAreSimilarToNothing) {
  // Row 1 is zero: its similarities are all 0, so it picks row 0, whose best is row 2.
  const std::vector<float> tokens = {1, 0, /**/ 0, 0, /**/ 2, 0.1f};
  EXPECT_THAT(mutualPairMerge(tokens, 0, 2).map.cluster_of_token, ElementsAre(0, 1, 0));
  // Nothing but zeros: all tie at 0, 0 and 1 pick each other.
  EXPECT_THAT(mutualPairMerge(std::vector<float>(8), 0, 2).map.cluster_of_token, ElementsAre(0, 0, 1, 2));
}

TEST(MutualPairMerge, OneTokenOrNoneIsLeftAlone) {
  EXPECT_THAT(mutualPairMerge(std::vector<float>{1, 2, 3, 4}, 1, 2).map.cluster_of_token, ElementsAre(0));
  const auto none = mutualPairMerge(std::vector<float>{1, 2}, 1, 2);
  EXPECT_EQ(none.map.clusters, 0);
  EXPECT_THAT(none.tokens, ElementsAre(1, 2));
}

TEST(MutualPairMerge, SpecialRowsAreNeverLookedAt) {
  auto tokens = clusteredTokens(40, 8, 1);
  const auto clean = mutualPairMerge(tokens, 3, 8);
  std::copy_n(tokens.begin() + 3 * 8, 8, tokens.begin());  // the same as the first image token
  tokens[9] = std::numeric_limits<float>::quiet_NaN();     // and one that would be an error in an image row
  const auto merged = mutualPairMerge(tokens, 3, 8);
  EXPECT_EQ(merged.map.cluster_of_token, clean.map.cluster_of_token);
  EXPECT_TRUE(std::isnan(merged.tokens[9]));
  EXPECT_EQ(merged.tokens[0], tokens[24]);
}

TEST(MutualPairMerge, RefusesNanAndInfinity) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    for (const int where : {0, 8 * 70 + 3, 8 * 99 + 7}) {
      auto tokens = clusteredTokens(100, 8, 2);
      tokens[where] = bad;
      EXPECT_MPM_ERROR(mutualPairMerge(tokens, 0, 8), "NaN or an infinity");
    }
  }
}

TEST(MutualPairMerge, DoesNotDependOnScale) {
  const auto tokens = clusteredTokens(90, 12, 3);
  const auto map = mutualPairMerge(tokens, 0, 12).map.cluster_of_token;
  for (const float scale : {1e-30f, 1e-12f, 1e15f, 1e30f}) {
    auto scaled = tokens;
    for (float& value : scaled) value *= scale;
    EXPECT_EQ(mutualPairMerge(scaled, 0, 12).map.cluster_of_token, map) << scale;
  }
}

TEST(MutualPairMerge, LargestFloatsDoNotOverflowInTheMean) {
  const float huge = 3e38f;
  const auto merged = mutualPairMerge(std::vector<float>{huge, huge, huge, huge}, 0, 2);
  EXPECT_THAT(merged.tokens, ElementsAre(huge, huge));
}

TEST(MutualPairMerge, RefusesAShapeThatDoesNotFit) {
  EXPECT_THROW(mutualPairMerge(std::vector<float>(7), 0, 2), Error);
  EXPECT_THROW(mutualPairMerge(std::vector<float>(4), 3, 2), Error);
  EXPECT_THROW(mutualPairMerge(std::vector<float>(4), 0, 0), Error);
}

TEST(MutualPairMerge, SameBytesForAnyNumberOfThreads) {
  const int n = 500, dim = 48;
  const auto tokens = clusteredTokens(n, dim, 4);
  const auto run = [&](const Parallel& parallel) {
    std::vector<float> merged(tokens.size()), before(1 + 2 * n), after(1 + 2 * n);
    resetState({before.data(), n});
    EXPECT_TRUE(mergeTokens({}, {tokens.data(), n, dim}, 0, {before.data(), n}, {merged.data(), n, dim},
                            {after.data(), n}, parallel));
    merged.resize(static_cast<std::size_t>(after[0]) * dim);
    after.insert(after.end(), merged.begin(), merged.end());
    return after;
  };
  const auto expected = run(Serial());
  for (int threads = 1; threads <= 4; ++threads) EXPECT_EQ(run(test::Threads(threads)), expected) << threads;
}

TEST(MergeMaps, ComposeIsOneIndexing) {
  const auto tokens = clusteredTokens(150, 10, 6);
  const auto first = mutualPairMerge(tokens, 2, 10);
  const auto second = mutualPairMerge(first.tokens, 2, 10);
  const MergeMap both = compose(first.map, second.map);
  EXPECT_EQ(both.clusters, second.map.clusters);
  const auto restored_in_steps = restoreTokens(restoreTokens(second.tokens, 2, 10, second.map), 2, 10, first.map);
  EXPECT_EQ(restoreTokens(second.tokens, 2, 10, both), restored_in_steps);
  const auto sizes = clusterSizes(both);
  EXPECT_EQ(static_cast<int>(sizes.size()), both.clusters);
  EXPECT_THAT(sizes, testing::Each(testing::AllOf(testing::Ge(1), testing::Le(4))));
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

TEST(TokenState, TwoCallsComposeAsTheMapsDo) {
  const int n = 90, dim = 6, special = 1;
  const auto tokens = clusteredTokens(n + special, dim, 7);
  std::vector<float> states[3];
  for (auto& state : states) state.assign(1 + 2 * n, -1.f);
  std::vector<float> merged1(tokens.size()), merged2(tokens.size());
  resetState({states[0].data(), n});
  ASSERT_TRUE(mergeTokens({}, {tokens.data(), special + n, dim}, special, {states[0].data(), n},
                          {merged1.data(), special + n, dim}, {states[1].data(), n}, Serial()));
  const int live = static_cast<int>(states[1][0]);
  ASSERT_TRUE(mergeTokens({}, {merged1.data(), special + live, dim}, special, {states[1].data(), n},
                          {merged2.data(), special + live, dim}, {states[2].data(), n}, Serial()));

  const auto first = mutualPairMerge(tokens, special, dim);
  const auto second = mutualPairMerge(first.tokens, special, dim);
  const MergeMap both = compose(first.map, second.map);
  const TokenState<const float> state{states[2].data(), n};
  EXPECT_EQ(state.live(), both.clusters);
  for (int i = 0; i < n; ++i) EXPECT_EQ(state.clusterOfToken()[i], both.cluster_of_token[i]);
  const auto sizes = clusterSizes(both);
  for (int k = 0; k < both.clusters; ++k) EXPECT_EQ(state.clusterSize()[k], sizes[k]);
  std::vector<float> restored(tokens.size());
  restoreRows({merged2.data(), special + both.clusters, dim}, special, state, true,
              {restored.data(), special + n, dim});
  EXPECT_EQ(restored, restoreTokens(second.tokens, special, dim, both));
}

}  // namespace
}  // namespace mpm
