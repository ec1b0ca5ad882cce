// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mpm/estimator.hpp"

namespace mpm::evaluation {

/// What a variant costs on an image, and what it gives.
struct VariantRun {
  Estimate result;
  double ms = 0;
  double full_ms = 0;  ///< of the full model, right before or after on the same image
};

/// Runs variants of one model on images. They take turns on each image, so other work of the machine slows all alike;
/// the full model takes part in every round. Nets that do not fit into `max_bytes` together run one group after
/// another, each group with the full model.
class InterleavedVariants {
 public:
  InterleavedVariants(std::string model, EstimatorOptions options, double max_bytes = 2e9);

  using Images = std::vector<cv::Mat>;
  /// Calls `take` with the number of the image, that of the variant (-1: the full model, once per image), and the run.
  /// Stops early, with false, when `take` returns false. Without `beside_full` the full model does not run.
  using Take = std::function<bool(int image, int variant, const VariantRun& run)>;
  bool run(const std::vector<Reduction>& variants, const Images& images, const Take& take, bool beside_full = true);

 private:
  Estimator make(const Reduction& variant) const;

  std::string model_;
  EstimatorOptions options_;
  Estimator full_;
  std::size_t group_;
};

}  // namespace mpm::evaluation
