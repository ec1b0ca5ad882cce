// SPDX-License-Identifier: Apache-2.0
#include "kernels/pairing.h"

#include "kernels/each_instruction_set.h"
#include "kernels/pairing_cases.h"
#include "kernels/threads.h"
#include "merging/reference_merge.h"

namespace mpm {
namespace {

using test::cosine;
using test::expectBest;

class Pairing : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Pairing);

std::vector<int> pairs(const Matrix& x, const Parallel& parallel = Serial()) {
  std::vector<int> best(x.rows, -1);
  EXPECT_TRUE(bestNeighbours(x.view(), best, parallel));
  return best;
}

TEST_P(Pairing, RowsAndDimsInPrimes) {
  for (const int rows : {2, 3, 5, 7, 13, 31, 47, 48, 49, 63, 64, 65, 97, 127, 128, 131, 199})
    for (const int dim : {1, 2, 3, 7, 16, 29, 64, 129, 192}) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << dim);
      const Matrix x = Matrix::normal(rows, dim, static_cast<unsigned>(rows + dim), 1, dim % 3);
      expectBest(x, pairs(x));
    }
}

TEST_P(Pairing, DeepRows) {
  const Matrix x = Matrix::normal(150, 1100, 5);
  expectBest(x, pairs(x));
}

TEST_P(Pairing, RulesOfEveryBackend) {
  test::expectPairingRules([](const Matrix& x) { return pairs(x); });
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

TEST_P(Pairing, NotANumberAndInfinityAreRefusedAnywhere) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()})
    for (const int row : {0, 64, 129})
      for (const int column : {0, 18}) {
        Matrix x = Matrix::normal(130, 19, 2, 1, 2);
        x.at(row, column) = bad;
        std::vector<int> best(130);
        EXPECT_FALSE(bestNeighbours(x.view(), best, Serial())) << bad << " at " << row << ", " << column;
      }
}

TEST_P(Pairing, MatchesRefuseWhatIsNotFiniteInEitherSet) {
  for (const bool second : {false, true}) {
    Matrix a = Matrix::normal(5, 7, 1), b = Matrix::normal(9, 7, 2);
    (second ? b : a).at(4, 6) = std::numeric_limits<float>::quiet_NaN();
    std::vector<int> best(5);
    std::vector<float> similarity(5);
    EXPECT_FALSE(bestMatches(a.view(), b.view(), best, similarity, Serial())) << second;
  }
}

TEST_P(Pairing, SameResultForAnyNumberOfThreads) {
  Matrix x = Matrix::normal(500, 33, 9);
  for (int i = 100; i < 150; ++i)
    for (int k = 0; k < 33; ++k) x.at(i, k) = x.at(i % 10, k);
  const std::vector<int> serial = pairs(x);
  for (const int threads : {1, 2, 3, 4})
    for (int repeat = 0; repeat < 5; ++repeat) EXPECT_EQ(pairs(x, test::Threads(threads)), serial);
}

TEST_P(Pairing, SimilaritiesAreThoseOfTheBestNeighbours) {
  const Matrix x = Matrix::normal(131, 29, 4);
  std::vector<int> best(131);
  std::vector<float> similarity(131);
  ASSERT_TRUE(bestNeighbours(x.view(), best, Serial(), similarity));
  EXPECT_EQ(best, pairs(x));
  for (int i = 0; i < 131; ++i) EXPECT_NEAR(similarity[i], cosine(x, i, best[i]), 1e-6) << i;
}

TEST_P(Pairing, MatchesOfTwoSetsAreThoseOfDoubleLoops) {
  for (const auto& [rows, columns] : {std::pair(1, 1), {1, 64}, {65, 1}, {47, 65}, {64, 64}, {131, 97}, {49, 200}})
    for (const int dim : {1, 3, 16, 64, 131}) {
      SCOPED_TRACE(::testing::Message() << rows << " with " << columns << " of " << dim);
      const Matrix both = Matrix::normal(rows + columns, dim, static_cast<unsigned>(rows + dim), 1, dim % 3);
      std::vector<int> best(rows, -1);
      std::vector<float> similarity(best.size());
      ASSERT_TRUE(bestMatches(both.view().rowRange(0, rows), both.view().rowRange(rows, rows + columns), best,
                              similarity, test::Threads(2)));
      for (int i = 0; i < rows; ++i) {
        double top = -2;
        for (int j = 0; j < columns; ++j) top = std::max(top, cosine(both, i, rows + j));
        ASSERT_TRUE(best[i] >= 0 && best[i] < columns);
        ASSERT_NEAR(cosine(both, i, rows + best[i]), top, 1e-6);
        ASSERT_NEAR(similarity[i], top, 1e-6);
      }
    }
}

TEST_P(Pairing, MatchesThatTieAreTheLowest) {
  Matrix a(3, 2), b(130, 2);
  for (int j = 0; j < 130; ++j) b.at(j, 0) = 1, b.at(j, 1) = j % 2 == 0 ? 1.f : -1.f;
  a.at(0, 0) = 1, a.at(0, 1) = 0;   // as similar to all
  a.at(1, 0) = 1, a.at(1, 1) = -1;  // to every odd one
  a.at(2, 0) = 0, a.at(2, 1) = 0;   // a zero row: to none
  std::vector<int> best(3);
  std::vector<float> similarity(3);
  ASSERT_TRUE(bestMatches(a.view(), b.view(), best, similarity, Serial()));
  EXPECT_EQ(best, (std::vector{0, 1, 0}));
  EXPECT_EQ(similarity[2], 0);
}

TEST_P(Pairing, WindowsAreThoseOfDoubleLoops) {
  constexpr int kWidth = 6, kHeight = 8;
  Matrix x = Matrix::normal(kWidth * kHeight, 37, 8, 1, 3);
  for (int c = 0; c < 37; ++c) x.at(0, c) = 0;  // a zero row is similar to none
  std::vector<float> similarity(kWidth * kHeight / 4);
  ASSERT_TRUE(windowSimilarities(x.view(), kWidth, similarity, test::Threads(2)));
  test::Rows rows;
  for (int i = 0; i < x.rows; ++i) rows.emplace_back(x.view().row(i), x.view().row(i) + x.cols);
  const std::vector<test::ScoredPair> expected = test::scoredWindows(rows, 0, kWidth);
  ASSERT_EQ(expected.size(), similarity.size());
  for (std::size_t w = 0; w < expected.size(); ++w) EXPECT_NEAR(similarity[w], expected[w].similarity, 1e-6) << w;
}

}  // namespace
}  // namespace mpm
