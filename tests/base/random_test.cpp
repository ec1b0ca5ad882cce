// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

namespace mpm {
namespace {

TEST(Random, IsUniformAndNormal) {
  Random random(11, 0);
  double sum = 0, squares = 0, normals = 0, normal_squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform(), z = random.normal();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
    normals += z;
    normal_squares += z * z;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(squares / kDraws, 1. / 3, 0.005);
  EXPECT_NEAR(normals / kDraws, 0, 0.015);
  EXPECT_NEAR(normal_squares / kDraws, 1, 0.02);
}

TEST(Random, NeighbouringStreamsDiffer) {
  EXPECT_NE(Random(1, 0).bits(), Random(1, 1).bits());
  EXPECT_NE(Random(0, 1).bits(), Random(1, 0).bits());
  EXPECT_EQ(Random(1, 1).bits(), Random(1, 1).bits());
}

}  // namespace
}  // namespace mpm
