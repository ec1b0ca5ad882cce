// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/random.h"

namespace mpm {
namespace {

double value(const Operand& of, int i, int j) {
  return static_cast<double>(of.transposed ? of.view.row(j)[i] : of.view.row(i)[j]);
}

TEST(Multiply, MatchesDoublePrecisionInEveryOrder) {
  for (const auto& [rows, inner, cols] : {std::array{1, 1, 1}, {5, 3, 7}, {64, 280, 33}, {17, 9, 256}})
    for (const int gap : {0, 5})
      for (const int order : {0, 1, 2, 3})
        for (const bool accumulate : {false, true}) {
          const bool at = order & 1, bt = order & 2;
          const Matrix a = at ? Matrix::normal(inner, rows, 1, 1, gap) : Matrix::normal(rows, inner, 1, 1, gap);
          const Matrix b = bt ? Matrix::normal(cols, inner, 2, 1, gap) : Matrix::normal(inner, cols, 2, 1, gap);
          Matrix c = Matrix::normal(rows, cols, 3, 1, gap);
          const Matrix before = c;
          const Operand left{a.view(), at}, right{b.view(), bt};
          multiply(left, right, c.view(), accumulate);
          for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; ++j) {
              double sum = accumulate ? static_cast<double>(before.at(i, j)) : 0;
              for (int k = 0; k < inner; ++k) sum += value(left, i, k) * value(right, k, j);
              ASSERT_NEAR(static_cast<double>(c.at(i, j)), sum, 5e-6 * std::sqrt(inner) + 1e-6) << order;
            }
        }
}

}  // namespace
}  // namespace mpm
