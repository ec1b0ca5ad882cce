// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace mpm::cli {

/// A number of each image.
struct Sample {
  std::vector<double> values;

  void add(double value) { values.push_back(value); }
  double mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  /// Standard deviation between images; nullopt of a single one.
  std::optional<double> deviation() const {
    if (values.size() < 2) return std::nullopt;
    const double middle = mean();
    double squares = 0;
    for (const double value : values) squares += (value - middle) * (value - middle);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
};

}  // namespace mpm::cli
