// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/quantiles.h"

namespace mpm {

/// Weight of each class in the loss: (median frequency / frequency)^power, 0.2 to 5, so that a bicycle weighs more than
/// the sky. 1 for a class that does not occur.
inline std::vector<float> balancedWeights(const std::vector<double>& counts, double power) {
  std::vector<double> seen;
  std::copy_if(counts.begin(), counts.end(), std::back_inserter(seen), [](double count) { return count > 0; });
  std::vector<float> weights(counts.size(), 1);
  if (seen.empty()) return weights;
  const double median = quantile(seen, 0.5);
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) weights[i] = static_cast<float>(std::clamp(std::pow(median / counts[i], power), 0.2, 5.));
  return weights;
}

/// Linear warm-up to the peak, then half a cosine down to a share of it.
struct LearningRate {
  double peak = 1e-3;
  int warmup = 500;   ///< steps
  int steps = 20000;  ///< of the whole run
  double final_share = 0.01;

  /// `step` is 0-based.
  double at(int step) const {
    if (step < warmup) return peak * (step + 1) / warmup;
    const double progress = std::min(1., static_cast<double>(step - warmup) / std::max(1, steps - warmup));
    return peak * (final_share + (1 - final_share) * 0.5 * (1 + std::cos(3.141592653589793 * progress)));
  }
};

}  // namespace mpm
