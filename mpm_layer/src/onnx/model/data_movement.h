// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/model/graph.h"

namespace mpm::onnx_graph {

/// One output of a node that only moves data: where each of its elements comes from.
struct Movement {
  Shape shape;
  /// The elements of the only input in the same order; `from` is empty then.
  bool in_order = false;
  /// For every element of the output: an index into the moved inputs, laid end to end.
  Integers from = {};
};

/// True for the ops that move data and compute nothing (Reshape, Transpose, Split, Concat, Gather, ...).
bool movesData(const Node& node);

/// True for a type of ONNX that is a float of any width: all of them are fp32 here.
bool isFloatType(std::int64_t type);

/// True for a Cast to a float type.
bool castsToFloat(const Node& node);

/// Values of `node` that are moved, in order: all of a Concat's, data and updates of a Scatter, else the first.
std::vector<int> movedInputs(const Node& node);

/// The outputs of a node that movesData, one entry each. Shapes of the moved inputs must be known and everything else
/// (axes, target shapes, indices) constant, else nullopt. `with_elements` false leaves `from` empty: shapes only.
/// Throws mpm::Error, naming the node, when shapes and attributes contradict each other.
std::optional<std::vector<Movement>> moveData(const Graph& graph, const Node& node, bool with_elements);

/// The integers of a constant input, or nullopt where it is absent or not constant.
std::optional<Integers> integersOf(const Graph& graph, int value);

/// `axis` counted from the front. Throws mpm::Error when it is outside the rank.
std::size_t frontAxis(const Node& node, std::int64_t axis, std::size_t rank);

/// Each of `axes` counted from the front. Throws mpm::Error when one is outside the rank, or is there twice.
std::vector<std::size_t> frontAxes(const Node& node, const Integers& axes, std::size_t rank);

/// `index` along an axis of this length, counted from the front. Throws mpm::Error when it is outside.
std::int64_t frontIndex(const Node& node, std::int64_t index, std::int64_t side);

/// The result of Gather, GatherElements and GatherND by indices of this shape; nullopt when that is none.
std::optional<Shape> gatheredShape(const Node& node, const Shape& x, const Shape& indices);

/// An attribute that became an input in a later opset.
std::optional<Integers> attributeOrInput(const Graph& graph, const Node& node, const char* attribute,
                                         std::size_t input);

}  // namespace mpm::onnx_graph
