// SPDX-License-Identifier: Apache-2.0
#include "kernels/pairing.h"

#include "kernels/each_instruction_set.h"
#include "kernels/random.h"

namespace mpm {
namespace {

class Pairing : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Pairing);

std::vector<int> pairs(const Matrix& x) {
  std::vector<int> best(x.rows, -1);
  EXPECT_TRUE(bestNeighbours(x.view(), best, Serial()));
  return best;
}

// Two products that are 0, one of which fused multiplication rounds from below: -0. They tie, also in two panels.
TEST_P(Pairing, SignOfZeroDoesNotCount) {
  constexpr int kCount = 200;
  Matrix x(kCount, 3);
  for (int i = 0; i < 3 * kCount; ++i) x.at(i / 3, i % 3) = i % 3 == 0 ? -1.f : 0.f;
  x.at(0, 0) = 1;
  x.at(0, 2) = 1e-30f;
  x.at(1, 0) = x.at(kCount - 1, 0) = 0;
  x.at(1, 1) = 1;
  x.at(1, 2) = -1e-30f;
  x.at(kCount - 1, 1) = -1;
  EXPECT_EQ(pairs(x)[0], 1);
}

}  // namespace
}  // namespace mpm
