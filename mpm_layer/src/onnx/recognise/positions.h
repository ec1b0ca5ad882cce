// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx/recognise/meaning.h"

namespace mpm::onnx_graph {

// positions.cpp: those that join the logits of attention, of pairs of tokens, and of a query to rows and columns.

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

// rotary.cpp: those that rotate q and k.

/// The cells with their scale in a blend; those without one get the factor 1.
Cells blended(const Cells& cells);

/// Cells times a factor each.
Cells timesEach(const Cells& cells, const std::vector<float>& factors);

/// The cells without the factors of their blend, when no element is a sum; else nullopt.
std::optional<Cells> withoutFactors(const Cells& cells);

/// left + sign * right, cells of one term; nullopt when an element would be a sum of three.
std::optional<Cells> blendedSum(const Cells& left, const Cells& right, double sign);

/// Cells {.., tokens, head_dim} with a blend as heads whose columns are rotated in pairs; nullopt when the blend is
/// something else.
std::optional<HeadView> rotatedHeads(const Cells& cells, const Term& term);

/// True for tables that differ by rounding at most: q and k may be scaled in different ways.
bool areNear(const Rotation& a, const Rotation& b);

/// The angles {tables, height * width, pairs} of the patches of a grid, when they are a sum of one angle per row and
/// one per column, in equal steps of less than half a turn; else nullopt.
std::optional<std::vector<float>> anglesOf(const Rotation& rotation, const Shape& grid);

/// The rotary positions of another grid, rows {to_h * to_w} without special tokens, when those of the patches are
/// angles proportional to the distance from the centre of the image (DINOv3); else nullopt.
std::optional<Rotation> resizedRotation(const Rotation& rotation, const Shape& from, const Shape& to);

}  // namespace mpm::onnx_graph
