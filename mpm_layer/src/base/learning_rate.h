// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace mpm {

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
