// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "onnx/recognise/terms.h"

namespace mpm::onnx_graph {

/// Makes biases with a table and an index where they are smaller than all pairs. Equal indices are kept once.
class PairBiases {
 public:
  /// `values` {heads, tokens, tokens}, times `factor`, plus `to` where that is not null.
  std::shared_ptr<const PairBias> make(std::span<const float> values, std::int64_t heads, std::int64_t tokens,
                                       double factor, const PairBias* to);
  /// The bias of tokens in another order: token t becomes row row_of[t]. Empty: as they are.
  std::shared_ptr<const PairBias> reordered(std::shared_ptr<const PairBias> bias, const Integers& row_of);

 private:
  using Index = std::shared_ptr<const std::vector<std::uint16_t>>;

  std::vector<Index> indices_;
};

/// The bias times a factor.
std::shared_ptr<const PairBias> scaled(const PairBias& bias, double factor);

}  // namespace mpm::onnx_graph
