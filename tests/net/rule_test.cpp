// SPDX-License-Identifier: Apache-2.0
// Merging by a function of the program: ReadOptions::rule.
#include <cmath>
#include <numeric>

#include "mpm/mpm.hpp"
#include "support/pictures.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kRuleModel = std::string(MPM_TEST_DATA_DIR) + "/segmenter_linear_ts12.onnx";  // 3 blocks

/// Of two of `count` rows.
auto cosineOf(std::span<const float> rows, int count) {
  return [rows, dim = static_cast<int>(rows.size()) / count](int first, int second) {
    const auto product = [&](int a, int b) {
      return std::inner_product(&rows[a * dim], &rows[a * dim] + dim, &rows[b * dim], 0.0);
    };
    return product(first, second) / std::sqrt(product(first, first) * product(second, second));
  };
}

/// Mutual Pair Merging in double loops.
std::vector<std::int64_t> mutualPairs(const RuleInput& input) {
  const int count = static_cast<int>(input.sizes.size());
  const auto cosine = cosineOf(input.rows, count);
  const auto nearest = [&](int a) {
    int best = a == 0 ? 1 : 0;
    for (int b = best + 1; b < count; ++b)
      if (b != a && cosine(a, b) > cosine(a, best)) best = b;
    return best;
  };
  std::vector<std::int64_t> groups(count);
  for (int i = 0; i < count; ++i) groups[i] = nearest(nearest(i)) == i ? std::min(i, nearest(i)) : i;
  return groups;
}

Reduction ruleBefore(const Schedule& blocks) {
  return {.method = ReductionMethod::kRule, .blocks = blocks, .plain_mean = true};
}

EstimatorOptions optionsOf(const MergeFunction& rule, const Reduction& reduction) {
  return {.reduce = reduction, .rule = rule};
}

TEST(Rule, OfMutualPairsGivesWhatMpmGives) {
  const Estimate found =
      Estimator(kRuleModel, optionsOf(mutualPairs, ruleBefore({1, 2}))).estimate(test::noisePicture(45, 61));
  const Estimate expected =
      Estimator(kRuleModel, optionsOf({}, mpmBefore({1, 2}))).estimate(test::noisePicture(45, 61));
  EXPECT_EQ(found.tokens, expected.tokens);
  EXPECT_EQ(found.cluster_of_token, expected.cluster_of_token);
  EXPECT_EQ(cv::norm(found.labels, expected.labels, cv::NORM_INF), 0);
  EXPECT_LT(found.tokens.back(), found.tokens.front());
}

/// At each step of two, before and inside: what the function sees fits the net's own outputs.
TEST(Rule, SeesGridMapBlockKeysAndImage) {
  for (const bool inside : {false, true}) {
    std::vector<int> blocks;
    std::vector<std::vector<int>> maps;
    Reduction reduction = ruleBefore({1, 2});
    reduction.inside = inside;
    EstimatorOptions options = optionsOf(
        [&](const RuleInput& input) {
          blocks.push_back(input.block);
          maps.emplace_back(input.row_of_patch.begin(), input.row_of_patch.end());
          const std::size_t patches = input.row_of_patch.size(), count = input.sizes.size();
          EXPECT_EQ(input.grid.height * input.grid.width, static_cast<int>(patches));
          EXPECT_EQ(input.image.size(), 3u * input.image_size.height * input.image_size.width);
          std::vector<float> sizes(count);
          for (const int row : input.row_of_patch) ++sizes.at(row);
          EXPECT_TRUE(std::equal(sizes.begin(), sizes.end(), input.sizes.begin()));
          EXPECT_EQ(input.keys.empty(), !inside);
          EXPECT_EQ(input.keys.size() % count, 0u);
          return mutualPairs(input);
        },
        reduction);
    const Estimate found = Estimator(kRuleModel, options).estimate(test::noisePicture(45, 61));
    EXPECT_THAT(blocks, ElementsAre(1, 2));
    ASSERT_EQ(maps.size(), 2u);
    EXPECT_EQ(maps[1], found.cluster_of_token[0]);
  }
}

/// Token Merging's keys: what a rule inside a block is given are the rows that ToMe compares.
TEST(Rule, InsideABlockCanBeTokenMerging) {
  const auto even_into_odd = [](const RuleInput& input) {
    const int count = static_cast<int>(input.sizes.size());
    const auto cosine = cosineOf(input.keys, count);
    int from = 0, into = 1;  // the one best pair of an even and an odd row
    for (int a = 0; a < count; a += 2) {
      for (int b = 1; b < count; b += 2)
        if (cosine(a, b) > cosine(from, into)) from = a, into = b;
    }
    std::vector<std::int64_t> groups(count);
    std::iota(groups.begin(), groups.end(), 0);
    groups[from] = into;
    return groups;
  };
  const Reduction inside{.method = ReductionMethod::kRule, .blocks = Schedule{1}, .inside = true};
  const Reduction tome{
      .method = ReductionMethod::kTome, .blocks = Schedule{1}, .count = 1, .attention = Attention::kPlain};
  const Estimate found = Estimator(kRuleModel, optionsOf(even_into_odd, inside)).estimate(test::noisePicture(45, 61));
  const Estimate expected = Estimator(kRuleModel, optionsOf({}, tome)).estimate(test::noisePicture(45, 61));
  const auto pair = [](const std::vector<int>& map) {  // the two patches that share a token, whatever the rows' order
    std::vector<int> patches;
    for (int i = 0; i < static_cast<int>(map.size()); ++i) {
      for (int j = 0; j < static_cast<int>(map.size()); ++j)
        if (i != j && map[i] == map[j]) patches.push_back(i);
    }
    return patches;
  };
  EXPECT_THAT(pair(found.cluster_of_token[0]), SizeIs(2));
  EXPECT_EQ(pair(found.cluster_of_token[0]), pair(expected.cluster_of_token[0]));
}

TEST(Rule, ErrorOfTheFunctionReachesTheCaller) {
  const MergeFunction fails = [](auto...) -> std::vector<std::int64_t> { throw std::domain_error("not today"); };
  Estimator estimator(kRuleModel, optionsOf(fails, ruleBefore({1})));
  EXPECT_THROW(estimator.estimate(test::noisePicture(45, 61)), std::domain_error);
  const MergeFunction few = [](auto...) { return std::vector<std::int64_t>(3); };
  EXPECT_MPM_ERROR(
      Estimator(kRuleModel, optionsOf(few, ruleBefore({1}))).estimate(test::noisePicture(45, 61)),
      kRuleModel + ": layer 'onnx_node!merge/before_block1' (ai.mpm.MergeTokens): the rule gave 3 groups for ");
}

TEST(Rule, NeedsItsReductionAndAFunction) {
  const mpm::test::TemporaryFolder folder;
  EXPECT_MPM_ERROR(Estimator(kRuleModel, optionsOf({}, ruleBefore({1}))), "is a function of a program");
  EXPECT_MPM_ERROR(Estimator(kRuleModel, optionsOf(mutualPairs, mpmBefore({1}))),
                   "for the reduction 'rule', not for 'mpm");
  EXPECT_MPM_ERROR(convertFile(kRuleModel, folder / "m.onnx", {.reduce = ruleBefore({1})}),
                   "a function of a program, which no file holds");
  const ReadOptions beyond{.reduce = ruleBefore({99}), .rule = mutualPairs};
  EXPECT_MPM_ERROR(readNet(kRuleModel, beyond), "block 99 does not exist");
  for (const std::optional<Reduction>& other : {std::optional<Reduction>(), std::optional(mpmBefore({1}))}) {
    const ReadOptions forgotten{.reduce = other, .rule = mutualPairs};
    EXPECT_MPM_ERROR(readNet(kRuleModel, forgotten), "a rule is for the reduction 'rule', not for ");
  }
}

}  // namespace
}  // namespace mpm
