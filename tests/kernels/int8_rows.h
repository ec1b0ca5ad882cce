// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/view.h"

namespace mpm::test {

/// Rows in int8, by plain loops. A row of subnormal numbers is one of zeros.
struct Int8Rows {
  std::vector<std::vector<int>> values;
  std::vector<float> scales;

  Int8Rows(MatrixView<const float> x, float levels) {
    for (int i = 0; i < x.rows; ++i) {
      float largest = 0;
      for (int j = 0; j < x.cols; ++j) largest = std::max(largest, std::abs(x.row(i)[j]));
      if (largest < std::numeric_limits<float>::min()) largest = 0;
      scales.push_back(largest / levels);
      std::vector<int>& row = values.emplace_back(static_cast<std::size_t>(x.cols), 0);
      for (int j = 0; j < x.cols && largest > 0; ++j)
        row[j] = static_cast<int>(std::nearbyint(x.row(i)[j] * (levels / largest)));
    }
  }
};

}  // namespace mpm::test
