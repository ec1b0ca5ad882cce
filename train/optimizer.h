// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "network_config.h"

namespace mpm::train {

/// AdamW over one flat tensor, or Muon (K. Jordan and others, 2024) for the matrices of the blocks and AdamW for the
/// rest: the momentum of a matrix, its singular values brought near 1, is the step. Steps are scaled so that both take
/// the same learning rate and weight decay (J. Liu and others, "Muon is scalable for LLM training", 2025).
/// Not thread-safe.
class Optimizer {
 public:
  static constexpr double kWeightDecay = 0.05, kMaxNorm = 1;  // of the gradient
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.98;        // of AdamW
  static constexpr double kMomentum = 0.95;                   // of Muon

  /// `muon`: Muon for the matrices of the blocks, in products of the type `matmul`.
  Optimizer(bool muon, const std::vector<Parameter>& table, at::ScalarType matmul);

  /// Moves `weights` {all parameters} against `gradient`, which is clipped in place. Both in the order of the table.
  /// Returns the norm of the gradient before clipping; where it is not finite, nothing moves.
  double step(at::Tensor& weights, at::Tensor& gradient, double learning_rate);

  int updates() const { return updates_; }

 private:
  // Matrices of one shape, as slices of the flat tensor, so that all are orthogonalised at once.
  struct Group {
    std::int64_t rows, cols;
    std::vector<std::int64_t> offsets;
  };

  void writeMuonDirection(const at::Tensor& gradient, at::Tensor& direction) const;

  at::ScalarType matmul_;
  at::Tensor mean_, square_, decays_;
  at::Tensor keep_;  // share of the mean that a step keeps, where Muon and Adam differ
  std::vector<Group> groups_;
  int updates_ = 0;
};

}  // namespace mpm::train
