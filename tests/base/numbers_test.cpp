// SPDX-License-Identifier: Apache-2.0
// Random numbers, hashes, quantiles and learning rates.
#include <cmath>
#include <numeric>

#include "base/element_functions.h"
#include "base/hash.h"
#include "base/quantiles.h"
#include "base/training.h"
#include "support/matchers.h"

namespace mpm {
namespace {

TEST(ElementReductions, SumsExponentsOfAnySize) {
  const ElementReduction& reduction = *elementReduction("ReduceLogSumExp");
  const auto of = [&](std::initializer_list<double> values) {
    return reduction.finish(std::accumulate(values.begin(), values.end(), reduction.start, reduction.step), 1);
  };
  EXPECT_DOUBLE_EQ(of({1, 2, 0.5}), std::log(std::exp(1) + std::exp(2) + std::exp(0.5)));
  EXPECT_DOUBLE_EQ(of({1000, 1000, 999}), 1000 + std::log(2 + std::exp(-1)));
  EXPECT_DOUBLE_EQ(of({-1000, -1001}), -1000 + std::log1p(std::exp(-1)));
  EXPECT_EQ(of({-kLargest, -kLargest}), -kLargest);
  EXPECT_TRUE(std::isnan(of({1, NAN, 2})));
}

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
  EXPECT_NE(Random(1, 0).bits(), Random(1, 1).bits()) << "neighbouring streams differ";
  EXPECT_NE(Random(0, 1).bits(), Random(1, 0).bits());
}

// Values of another implementation (Python). Another hash would give another machine other parts of a folder.
TEST(HashBytes, IsTheSameOnEveryMachine) {
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(hashBytes(""), 0xa706dd2f4d197e6fu);
  EXPECT_EQ(hashBytes("street_01.png"), 0x9c8e63c97a59618bu);
  EXPECT_EQ(hashBytes("\xc3\xa9"), 0x13b89305d28b3111u);
  EXPECT_NE(hashBytes("b", hashBytes("a")), hashBytes("a", hashBytes("b")));
  EXPECT_EQ(digestText(0x0e20a8397b1dcdaf), "0e20a8397b1dcdaf");
}

// Expected values: numpy.quantile.
TEST(Quantiles, AreThoseOfNumpy) {
  const std::vector<double> values = {7, 1, 4, 4, 10};
  const std::map<double, std::int64_t> occurrences = {{1, 1}, {4, 2}, {7, 1}, {10, 1}};
  for (const auto& [p, expected] :
       {std::pair{0.0, 1.0}, {0.1, 2.2}, {0.25, 4.0}, {0.5, 4.0}, {0.9, 8.8}, {1.0, 10.0}}) {
    EXPECT_NEAR(quantile(values, p), expected, 1e-12) << p;
    EXPECT_NEAR(quantile(occurrences, p), expected, 1e-12) << p;
  }
  EXPECT_EQ(quantile(std::vector<double>{1, 2}, 0.5), 1.5);
  EXPECT_EQ(quantile(std::vector<double>{3}, 0.95), 3);
  EXPECT_TRUE(std::isnan(quantile(std::vector<double>{}, 0.5)));
}

TEST(LearningRate, WarmsUpThenFalls) {
  const LearningRate rate{0.8, 10, 110, 0.05};
  EXPECT_DOUBLE_EQ(rate.at(0), 0.08);
  EXPECT_DOUBLE_EQ(rate.at(9), 0.8);
  EXPECT_DOUBLE_EQ(rate.at(10), 0.8);
  EXPECT_DOUBLE_EQ(rate.at(60), 0.8 * (0.05 + 0.95 / 2)) << "half way";
  EXPECT_NEAR(rate.at(110), 0.04, 1e-12);
  EXPECT_DOUBLE_EQ((LearningRate{0.5, 0, 10, 0}).at(0), 0.5) << "no warm-up";
}

}  // namespace
}  // namespace mpm
