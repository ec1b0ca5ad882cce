// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace mpm::vision {

/// Counts the floating-point operations that the ai.mpm ops of a converted net execute for one image: 2 per
/// multiply-add of the matrix products (linear layers, attention, patch embedding, similarities), as papers count them.
/// Only live rows count, so fewer tokens mean fewer operations. Ops of other domains after the ViT and policy
/// networks are not counted.
class FlopCounter {
 public:
  /// `converted_model`: what convertModel() returns. Throws mpm::Error when it is not that.
  explicit FlopCounter(const std::string& converted_model);
  ~FlopCounter();
  FlopCounter(FlopCounter&&) noexcept;
  FlopCounter& operator=(FlopCounter&&) noexcept;

  /// `tokens`: N, then N' after each insertion (one row of "token_counts"). Throws mpm::Error when their number is not
  /// that of the model's insertions + 1.
  double count(const std::vector<double>& tokens) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::vision
