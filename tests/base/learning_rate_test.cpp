// SPDX-License-Identifier: Apache-2.0
#include "base/training.h"

#include <gtest/gtest.h>

namespace mpm {
namespace {

TEST(LearningRate, WarmsUpThenFalls) {
  const LearningRate rate{0.8, 10, 110, 0.05};
  EXPECT_DOUBLE_EQ(rate.at(0), 0.08);
  EXPECT_DOUBLE_EQ(rate.at(9), 0.8);
  EXPECT_DOUBLE_EQ(rate.at(10), 0.8);
  EXPECT_DOUBLE_EQ(rate.at(60), 0.8 * (0.05 + 0.95 / 2)) << "half way";
  EXPECT_NEAR(rate.at(110), 0.04, 1e-12);
  for (int step = 11; step < 110; ++step) EXPECT_LT(rate.at(step), rate.at(step - 1)) << step;
}

TEST(LearningRate, NeedsNoWarmUp) { EXPECT_DOUBLE_EQ((LearningRate{0.5, 0, 10, 0}).at(0), 0.5); }

}  // namespace
}  // namespace mpm
