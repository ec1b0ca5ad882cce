// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "mpm/run_report.hpp"

namespace mpm::evaluation {

/// Counts the floating-point operations that the ai.mpm ops of a converted net execute for one image or window: 2 per
/// multiply-add of the matrix products (linear layers, attention, patch embedding, similarities, convolutions of the
/// head, products of two tensors in a head), as papers count them. Only live rows count, so fewer tokens mean fewer
/// operations. Ops of other domains after the ViT and policy networks are not counted.
class FlopCounter {
 public:
  using Terms = std::array<double, 3>;

  /// `converted_model`: what convertModel() returns. Throws mpm::Error when it is not that.
  explicit FlopCounter(const std::string& converted_model);

  /// `tokens`: N, then N' after each insertion (one row of "token_counts"). Throws mpm::Error when their number is not
  /// that of the model's insertions + 1. `head_restored`: as if the head ran on the restored grid, as papers count it.
  double count(const std::vector<double>& tokens, bool head_restored = false) const;
  /// Those of the pass over an image; with sliding windows the mean over the passes.
  double countOf(const RunReport& report, bool head_restored = false) const;

  /// The terms that count() adds up: the operations of the ops between two insertions are a polynomial of the tokens n
  /// there, terms[0] + terms[1] n + terms[2] n^2, in GFLOP.
  std::vector<Terms> gflopTerms() const;

 private:
  class Reader;

  std::vector<Terms> terms_, head_;  // head_: the part of terms_ that is the head's
};

}  // namespace mpm::evaluation
