// SPDX-License-Identifier: Apache-2.0
#include "base/quantiles.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mpm {
namespace {

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

}  // namespace
}  // namespace mpm
