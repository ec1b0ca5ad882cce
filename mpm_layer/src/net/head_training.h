// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/head_gradient.h"
#include "kernels/parallel.h"
#include "mpm/head_trainer.hpp"

namespace mpm {

/// AdamW over one array of weights (Loshchilov and Hutter, 2019).
class AdamW {
 public:
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.98, kEpsilon = 1e-8;

  /// `decays`: of each weight, whether it decays.
  AdamW(std::vector<bool> decays, double weight_decay);

  /// Moves `weights` against `gradient`.
  void step(float* weights, const float* gradient, double learning_rate);

 private:
  std::vector<bool> decays_;
  double weight_decay_;
  std::vector<float> mean_, square_;
  int steps_ = 0;
};

/// The weights of a head in one array, as the kernels take them, and back.
std::vector<float> flatWeights(const TokenHead& head);
TokenHead headOf(const HeadShape& shape, const std::vector<float>& weights);

/// Tokens {N, dim} as a LayerNorm without weights leaves them.
cv::Mat normalisedTokens(const cv::Mat& tokens);

/// HeadTrainer::train() for pictures of one grid. `class_weights`: of the loss, one per class.
TokenHead trainHead(const std::vector<const LabelledTokens*>& pictures, Size2 grid,
                    const std::vector<float>& class_weights, const HeadTrainingOptions& options,
                    const Parallel& parallel);

}  // namespace mpm
