// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx/recognise/meaning.h"

namespace mpm::onnx_graph {

// Positions that join the logits of attention: of pairs of tokens, and of a query to rows and columns.

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

/// The products of an Einsum "a,b->c" of cells and a constant; nullopt unless the last axis of both is summed and c has
/// every other axis of them.
std::optional<RowProducts> rowProducts(const Cells& cells, const Tensor& constant, const std::string& a,
                                       const std::string& b, const std::string& c);

/// The parts, in the order of a tensor of shape `to`, to which the logits broadcast; nullopt when axes that are
/// repeated were joined with others.
std::optional<std::vector<RowProducts>> broadcastParts(const PositionLogits& logits, const Shape& to);

/// The sum of the parts, logits of queries and keys {.., tokens, tokens}, as relative positions of a grid; nullopt when
/// it is something else. `q`: {.., tokens, columns}, whose rows the parts must read.
std::optional<RelativePositions> relativePositions(const std::vector<RowProducts>& parts, const Cells& q);

}  // namespace mpm::onnx_graph
