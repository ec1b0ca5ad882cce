// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onnx/recognise/meaning.h"

namespace mpm::onnx_graph {

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
