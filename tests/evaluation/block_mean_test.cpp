// SPDX-License-Identifier: Apache-2.0
#include "evaluation/block_mean.h"

#include <cmath>

#include "support/matchers.h"

namespace mpm::evaluation {
namespace {

TEST(BlockMean, StudentQuantilesOfTheTables) {
  const std::pair<double, double> table[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},   {5, 2.571},
                                             {10, 2.228}, {30, 2.042}, {120, 1.980}, {100000, 1.960}};
  for (const auto& [degrees, quantile] : table) EXPECT_NEAR(studentQuantile(degrees), quantile, 6e-4) << degrees;
  EXPECT_NEAR(studentQuantile(0.5), 12.706, 6e-4) << "fewer than 1 count as 1";
}

TEST(BlockMean, BlocksOfOneImageGiveTheOrdinaryInterval) {
  const double half = 4.303 * 2 / std::sqrt(3);  // of 1, 3, 5: standard deviation 2
  using Values = std::vector<double>;
  using Blocks = std::vector<int>;
  EXPECT_NEAR(*halfInterval(Values{1, 3, 5}, Blocks{0, 1, 2}), half, 1e-3);
  EXPECT_NEAR(*halfInterval(Values{1, 1, 3, 3, 5, 5}, Blocks{0, 0, 1, 1, 2, 2}), half, 1e-3) << "no new information";
  EXPECT_FALSE(halfInterval(Values{1, 3, 5}, Blocks{0, 0, 0}));
  EXPECT_EQ(halfInterval(Values{2, 2}, Blocks{0, 1}), 0);
}

TEST(BlockMean, WelchsIntervalOfADifference) {
  const MeanEstimate a{.mean = 10, .variance = 4, .blocks = 5}, b{.mean = 12, .variance = 1, .blocks = 11};
  const double degrees = 25 / (16 / 4. + 1 / 10.);  // 6.0976
  EXPECT_NEAR(halfInterval(a, b), 2.43745 * std::sqrt(5), 1e-4) << degrees;
  EXPECT_EQ(halfInterval({.mean = 1, .variance = 0, .blocks = 2}, {.mean = 1, .variance = 0, .blocks = 2}), 0);
}

TEST(BlockMean, FiveFilmsAreABlockEachAndFewerAreCut) {
  EXPECT_THAT(blocksOf({0, 0, 1, 1, 2, 2, 3, 3, 4, 4}), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4));
  EXPECT_THAT(blocksOf({0, 1, 2, 3}), ElementsAre(0, 1, 2, 3)) << "a camera's files are one film, cut";
  std::vector<int> film(40), blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(i / 4);
  EXPECT_EQ(blocksOf(film), blocks) << "ten stretches of one film";
  EXPECT_TRUE(blocksOf({}).empty());
}

}  // namespace
}  // namespace mpm::evaluation
