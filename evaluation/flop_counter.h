// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpm::evaluation {

/// Counts the floating-point operations that the ai.mpm ops of a converted net execute for one image: 2 per
/// multiply-add of the matrix products (linear layers, attention, patch embedding, similarities), as papers count them.
/// Only live rows count, so fewer tokens mean fewer operations. Ops of other domains after the ViT and policy
/// networks are not counted.
class FlopCounter {
 public:
  /// `converted_model`: what convertModel() returns. Throws mpm::Error when it is not that.
  explicit FlopCounter(const std::string& converted_model);

  /// `tokens`: N, then N' after each insertion (one row of "token_counts"). Throws mpm::Error when their number is not
  /// that of the model's insertions + 1.
  double count(const std::vector<double>& tokens) const;

 private:
  /// One op as a polynomial of its rows r and of its tokens n = r - special rows: what it costs per row, per pair of
  /// rows, per token, per pair of tokens, and in any case.
  struct Cost {
    int insertions_before = 0;  ///< which entry of the token counts are its tokens
    bool pooled = false;        ///< one row per image, whatever the tokens
    double special = 0;
    double per_row = 0, per_row_pair = 0, per_token = 0, per_token_pair = 0, fixed = 0;
  };
  class Reader;

  std::vector<Cost> costs_;
  int insertions_ = 0;
};

}  // namespace mpm::evaluation
