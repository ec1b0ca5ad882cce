// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
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

/// AdamW over one array of weights (Loshchilov and Hutter, 2019).
class AdamW {
 public:
  /// `decays`: of each weight, whether it decays.
  AdamW(std::vector<bool> decays, double weight_decay)
      : decays_(std::move(decays)), weight_decay_(weight_decay), mean_(decays_.size()), square_(decays_.size()) {}

  /// Moves `weights` against `gradient`.
  void step(float* weights, const float* gradient, double learning_rate) {
    ++steps_;
    constexpr auto kKeep1 = static_cast<float>(kBeta1), kKeep2 = static_cast<float>(kBeta2);
    constexpr auto kTiny = static_cast<float>(kEpsilon);
    const auto unbias1 = static_cast<float>(1 / (1 - std::pow(kBeta1, steps_))),
               unbias2 = static_cast<float>(1 / (1 - std::pow(kBeta2, steps_))),
               rate = static_cast<float>(learning_rate), decay = static_cast<float>(1 - learning_rate * weight_decay_);
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      mean_[i] = kKeep1 * mean_[i] + (1 - kKeep1) * gradient[i];
      square_[i] = kKeep2 * square_[i] + (1 - kKeep2) * gradient[i] * gradient[i];
      const float direction = mean_[i] * unbias1 / (std::sqrt(square_[i] * unbias2) + kTiny);
      weights[i] = weights[i] * (decays_[i] ? decay : 1) - rate * direction;
    }
  }

 private:
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.98, kEpsilon = 1e-8;

  std::vector<bool> decays_;
  double weight_decay_;
  std::vector<float> mean_, square_;
  int steps_ = 0;
};

}  // namespace mpm
