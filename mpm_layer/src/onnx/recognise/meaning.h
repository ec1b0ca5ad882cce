// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "onnx/model/graph.h"
#include "onnx/recognise/terms.h"

namespace mpm::onnx_graph {

/// The image, each channel times `scale` plus `offset` (a normalisation that the graph does itself).
struct ImageCells {
  std::vector<float> scale, offset;
};

/// Rotary positions change an element to factor * term[id] + other_factor * term[other].
struct BlendedElement {
  float factor = 0, other_factor = 0;
  std::int32_t other = -1;  ///< -1 for none

  bool operator==(const BlendedElement&) const = default;
};
using Blend = std::vector<BlendedElement>;

/// A tensor whose elements are elements of one term, or constants: scale * term[id] + offset. With a blend, scale
/// multiplies both of its products.
struct Cells {
  int term = -1;
  Shape shape;
  std::shared_ptr<const std::vector<std::int32_t>> ids;  ///< row * cols + column, -1 for none; null: 0, 1, 2, ...
  std::shared_ptr<const std::vector<float>> offset;      ///< null: zeros
  double scale = 1;
  std::shared_ptr<const Blend> blend = {};  ///< null: each element is one of the term

  std::int32_t id(std::size_t i) const { return ids ? (*ids)[i] : static_cast<std::int32_t>(i); }
  /// True when the elements are those of the term, each times `scale` at most.
  bool unchanged() const { return !offset && !blend; }
};

/// Products of rows with constant vectors: element x is row x . row_step of the cells times vector x . vector_step.
struct RowProducts {
  Cells rows;                          ///< {.., columns}
  Tensor vectors;                      ///< {.., columns}
  Shape shape, row_step, vector_step;  ///< per axis of the elements
};

/// Such products, or a sum of them: positions that depend on the query, before they join the logits of attention.
struct PositionLogits {
  std::vector<RowProducts> parts;
  Shape shape;  ///< of the tensor; the elements of each part are in its order
};

/// scale * q k^T + bias + positions, with or without a softmax of its rows.
struct Scores {
  Cells q, k;                   ///< {.., rows, columns} both
  std::optional<Tensor> query;  ///< instead of q, when that does not depend on the image
  Shape shape;                  ///< {.., rows of q, rows of k}, or the same elements in another shape
  double scale = 1;
  std::vector<float> head_scale = {};  ///< of each head besides `scale`; empty: ones
  bool softmax = false;
  std::shared_ptr<const PairBias> bias = {};  ///< added after the scale, of the tokens in the graph's order; null: none
  std::vector<RowProducts> positions = {};    ///< added after the scale
};

/// A map {1, C, h, w} of cells after a bilinear resize (half-pixel centres) and, perhaps, the argmax over its channels.
struct ClassMap {
  Cells cells;
  Shape shape;
  bool argmax = false;
};

/// A value that this algebra cannot express: the node that produced it, and why.
struct Foreign {
  const Node* node = nullptr;
  std::string found, expected;
};

using Meaning = std::variant<std::monostate, ImageCells, Cells, PositionLogits, Scores, ClassMap, Foreign>;

/// The meaning of the values of a graph, as token matrices.
struct Interpretation {
  std::vector<Term> terms;
  std::vector<Meaning> meaning;  ///< per value of the graph; monostate for constants

  template <typename T>
  const T* as(int value) const {
    return value < 0 ? nullptr : std::get_if<T>(&meaning[value]);
  }
};

/// Runs a canonical graph on symbols instead of numbers. Never throws for a node it does not know: its result is
/// Foreign.
Interpretation interpret(const Graph& graph);

}  // namespace mpm::onnx_graph
