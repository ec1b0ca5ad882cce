// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "onnx/model/graph.h"

namespace mpm::onnx_graph {

/// Elements that folding may still make, so that a small hostile file cannot exhaust memory.
class FoldBudget {
 public:
  explicit FoldBudget(std::int64_t left) : left_(left) {}
  /// Takes the elements of `shape`; throws mpm::Error when they are more than what is left.
  std::int64_t take(const Shape& shape);

 private:
  std::int64_t left_;
};

/// Gives the image its static shape and everything behind it follows: every tensor that does not depend on the image's
/// pixels becomes a constant, every other one gets its shape where the op is known. Nodes that do nothing at inference
/// (Identity, Dropout, a Cast between floats) vanish. Throws mpm::Error naming a node whose shapes contradict.
void foldConstants(Graph& graph, const Shape& image);

/// The outputs of a node whose inputs are all constant; nullopt where the op is not known.
std::optional<std::vector<Tensor>> evaluate(const Graph& graph, const Node& node, FoldBudget& budget);

/// Elementwise ops, comparisons, Where, Cast; nullopt for any other op.
std::optional<Tensor> evaluateElementwise(const Graph& graph, const Node& node, FoldBudget& budget);

/// Resize of a constant (a position embedding): linear and cubic, over the last two of four axes.
std::optional<Tensor> evaluateResize(const Graph& graph, const Node& node, FoldBudget& budget);

/// Shapes of the outputs of a node that depends on the image; nullopt where the op is not known.
std::optional<std::vector<Shape>> inferShapes(const Graph& graph, const Node& node);

/// What a Resize makes of its input.
struct Resizing {
  Shape shape;
  std::vector<double> scale;  ///< per axis, that by which ONNX finds the place of a pixel in the input
  /// The scales lead from the input to `shape` and not into a pixel: they say no more than the shape does.
  bool whole_pixels = true;
};

/// From its sizes or its scales; nullopt when they are not constant, or mean something that depends on more.
std::optional<Resizing> resizing(const Graph& graph, const Node& node);

/// Axes of a Reduce*, counted from the front, wherever the opset keeps them; nullopt when they are not constant.
std::optional<std::vector<std::size_t>> reducedAxes(const Graph& graph, const Node& node, std::size_t rank);

}  // namespace mpm::onnx_graph
