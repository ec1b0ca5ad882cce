// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "kernels/view.h"

namespace mpm::test {

inline std::vector<float> normal(std::size_t count, unsigned seed, float sigma = 1.0f, float mean = 0.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> distribution(mean, sigma);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(engine);
  return values;
}

/// A matrix that owns its values; rows may stand further apart than they are long, with NaN between them.
struct Matrix {
  int rows, cols;
  std::ptrdiff_t stride;
  std::vector<float> values;

  Matrix(int row_count, int col_count, int gap = 0)
      : rows(row_count),
        cols(col_count),
        stride(col_count + gap),
        values(static_cast<std::size_t>(row_count * stride), std::numeric_limits<float>::quiet_NaN()) {}
  static Matrix normal(int rows, int cols, unsigned seed, float sigma = 1.0f, int gap = 0) {
    Matrix matrix(rows, cols, gap);
    const std::vector<float> source = test::normal(rows * cols, seed, sigma);
    for (int i = 0; i < rows; ++i)
      std::copy_n(source.begin() + i * cols, cols, matrix.values.begin() + i * matrix.stride);
    return matrix;
  }

  float& at(int i, int j) { return values[i * stride + j]; }
  float at(int i, int j) const { return values[i * stride + j]; }
  MatrixView<float> view() { return {values.data(), rows, cols, stride}; }
  MatrixView<const float> view() const { return {values.data(), rows, cols, stride}; }
};

}  // namespace mpm::test

namespace mpm {
using test::Matrix;
}
