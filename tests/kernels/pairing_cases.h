// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kernels/random.h"

namespace mpm::test {

inline double cosine(const Matrix& x, int i, int j) {
  double dot = 0, a = 0, b = 0;
  for (int k = 0; k < x.cols; ++k) {
    const double p = static_cast<double>(x.at(i, k)), q = static_cast<double>(x.at(j, k));
    dot += p * q;
    a += p * p;
    b += q * q;
  }
  return a == 0 || b == 0 ? 0 : dot / std::sqrt(a * b);
}

/// Every answer is within fp32's rounding of the double-precision maximum.
inline void expectBest(const Matrix& x, const std::vector<int>& best) {
  ASSERT_EQ(best.size(), static_cast<std::size_t>(x.rows));
  for (int i = 0; i < x.rows && x.rows > 1; ++i) {
    double top = -2;
    for (int j = 0; j < x.rows; ++j)
      if (j != i) top = std::max(top, cosine(x, i, j));
    const int found = best[i];
    ASSERT_NE(found, i);
    ASSERT_GE(found, 0);
    ASSERT_LT(found, x.rows);
    ASSERT_GE(cosine(x, i, found), top - 1e-6) << "row " << i << " -> " << found;
  }
}

/// What the best neighbours of rows are on every backend, of rows of at most `widest` columns: an emulated one is slow.
/// `pairs` expects finite rows without gaps.
inline void expectPairingRules(const std::function<std::vector<int>(const Matrix&)>& pairs, int widest = 300) {
  EXPECT_EQ(pairs(Matrix::normal(1, 16, 1)), std::vector<int>{0}) << "one row is its own neighbour";
  for (const int dim : {3, 20, 40, 192, 300}) {  // identical rows tie to the lowest
    if (dim > widest) continue;
    Matrix x(170, dim);
    const std::vector<float> row = normal(dim, 1);
    for (int i = 0; i < x.rows; ++i) std::copy(row.begin(), row.end(), x.view().row(i));
    std::vector<int> expected(170, 0);
    expected[0] = 1;
    EXPECT_EQ(pairs(x), expected) << dim;
  }
  // Copies far apart, so that they are in different tiles and panels. A row is equally similar to all of them, so the
  // first copy must win for every row.
  for (const int dim : {17, 37, 192}) {
    if (dim > widest) continue;
    Matrix x = Matrix::normal(200, dim, 3);
    const std::vector<int> copies = {5, 60, 70, 133, 190};
    for (const int copy : copies)
      for (int k = 0; k < dim; ++k) x.at(copy, k) = x.at(5, k);
    const std::vector<int> best = pairs(x);
    EXPECT_EQ(best[5], 60);
    for (std::size_t c = 1; c < copies.size(); ++c) EXPECT_EQ(best[copies[c]], 5);
    for (const int found : best)
      for (std::size_t c = 2; c < copies.size(); ++c) EXPECT_NE(found, copies[c]);
  }
  Matrix zeros = Matrix::normal(80, 24, 7);  // rows of zeros are similar to nothing
  for (const int zero : {0, 33, 79})
    for (int k = 0; k < 24; ++k) zeros.at(zero, k) = k % 2 == 0 ? 0.0f : -0.0f;
  const std::vector<int> best = pairs(zeros);
  EXPECT_EQ(best[0], 1);
  EXPECT_EQ(best[33], 0);
  EXPECT_EQ(best[79], 0);
  expectBest(zeros, best);

  Matrix opposites(2, 4);
  opposites.values = {1, 2, 3, 4, -1, -2, -3, -4};
  EXPECT_EQ(pairs(opposites), (std::vector<int>{1, 0}));

  const Matrix any = Matrix::normal(100, 40, 11);  // the length of a row does not count
  for (const float factor : {1e30f, 1e-30f, 1e20f, 1e-20f}) {
    Matrix scaled = any;
    for (int i = 0; i < any.rows; i += 2)
      for (int k = 0; k < any.cols; ++k) scaled.at(i, k) *= factor;
    EXPECT_EQ(pairs(scaled), pairs(any)) << factor;
  }
  Matrix denormal = any, largest = Matrix::normal(20, 30, 4);
  for (float& value : denormal.values) value *= 1e-40f;
  expectBest(denormal, pairs(denormal));
  for (float& value : largest.values) value = value > 0 ? 3.4e38f : -3.4e38f;
  expectBest(largest, pairs(largest));
}

}  // namespace mpm::test
