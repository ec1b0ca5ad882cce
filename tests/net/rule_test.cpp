// SPDX-License-Identifier: Apache-2.0
// Merging by a function of the program: ReadOptions::rule.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "mpm/mpm.hpp"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kRuleModel = std::string(MPM_TEST_DATA_DIR) + "/segmenter_linear_ts12.onnx";  // 3 blocks

/// Mutual Pair Merging in double loops.
std::vector<std::int64_t> mutualPairs(std::span<const float> rows, int dim, std::span<const float> sizes) {
  const int count = static_cast<int>(sizes.size());
  const auto product = [&](int a, int b) {
    return std::inner_product(&rows[a * dim], &rows[a * dim] + dim, &rows[b * dim], 0.0);
  };
  const auto cosine = [&](int a, int b) { return product(a, b) / std::sqrt(product(a, a) * product(b, b)); };
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
  EstimatorOptions options;
  options.read.convert.reduce = reduction;
  options.read.rule = rule;
  return options;
}

cv::Mat ruleImage() {
  cv::Mat image(45, 61, CV_8UC3);
  cv::RNG(3).fill(image, cv::RNG::UNIFORM, 0, 256);
  return image;
}

TEST(Rule, OfMutualPairsGivesWhatMpmGives) {
  const Estimate found = Estimator(kRuleModel, optionsOf(mutualPairs, ruleBefore({1, 2}))).estimate(ruleImage());
  const Estimate expected = Estimator(kRuleModel, optionsOf({}, mpmBefore({1, 2}))).estimate(ruleImage());
  EXPECT_EQ(found.tokens, expected.tokens);
  EXPECT_EQ(found.cluster_of_token, expected.cluster_of_token);
  EXPECT_EQ(cv::norm(found.labels, expected.labels, cv::NORM_INF), 0);
  EXPECT_LT(found.tokens.back(), found.tokens.front());
}

TEST(Rule, ErrorOfTheFunctionReachesTheCaller) {
  const MergeFunction fails = [](auto...) -> std::vector<std::int64_t> { throw std::domain_error("not today"); };
  Estimator estimator(kRuleModel, optionsOf(fails, ruleBefore({1})));
  EXPECT_THROW(estimator.estimate(ruleImage()), std::domain_error);
  const MergeFunction few = [](auto...) { return std::vector<std::int64_t>(3); };
  EXPECT_MPM_ERROR(Estimator(kRuleModel, optionsOf(few, ruleBefore({1}))).estimate(ruleImage()),
                   "the rule gave 3 groups for ");
}

TEST(Rule, NeedsItsReductionAndAFunction) {
  const mpm::test::TemporaryFolder folder;
  EXPECT_MPM_ERROR(Estimator(kRuleModel, optionsOf({}, ruleBefore({1}))), "is a function of a program");
  EXPECT_MPM_ERROR(Estimator(kRuleModel, optionsOf(mutualPairs, mpmBefore({1}))),
                   "for the reduction 'rule', not for 'mpm");
  EXPECT_MPM_ERROR(convertFile(kRuleModel, folder / "m.onnx", {.reduce = ruleBefore({1})}),
                   "a function of a program, which no file holds");
  ConvertOptions options;
  options.reduce = ruleBefore({99});
  EXPECT_MPM_ERROR(readNet(kRuleModel, {.convert = options, .rule = mutualPairs}), "block 99 does not exist");
}

}  // namespace
}  // namespace mpm
