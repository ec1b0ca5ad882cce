// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "onnx/model/graph.h"

namespace mpm::onnx_graph {

/// Number of elements that folding may hold at once, so that a small malicious file cannot exhaust memory.
class FoldBudget {
 public:
  explicit FoldBudget(std::int64_t left) : left_(left) {}
  /// Uses up the elements of `shape`. Throws mpm::Error when they exceed what is left.
  std::int64_t take(const Shape& shape);
  void give(std::int64_t elements) { left_ += elements; }
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

/// Sets the static shape of the image. Every tensor that does not depend on pixels becomes a constant, every other one
/// gets its shape if the operator is known. Nodes that do nothing at inference (Identity, Dropout, a Cast between
/// floats) are removed. Throws mpm::Error naming a node whose shapes contradict each other.
void foldConstants(Graph& graph, const Shape& image);

/// The outputs of a node whose inputs are all constant; nullopt where the op is not known.
std::optional<std::vector<Tensor>> evaluate(const Graph& graph, const Node& node, FoldBudget& budget);

/// The constants of the first three inputs; null where one is not constant.
inline std::array<const Tensor*, 3> firstConstants(const Graph& graph, const Node& node) {
  return {graph.constant(node.input(0)), graph.constant(node.input(1)), graph.constant(node.input(2))};
}

/// The largest or the smallest integer for a number beyond it, 0 for NaN.
std::int64_t wholeNumber(double value);

/// The tensor of compute(i) for each element, floats or whole numbers.
template <class Compute>
Tensor filled(bool is_float, const Shape& shape, std::int64_t count, Compute compute) {
  std::vector<float> floats(is_float ? count : 0);
  Integers ints(is_float ? 0 : count);
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(compute(i));
  for (std::size_t i = 0; i < ints.size(); ++i) ints[i] = wholeNumber(compute(i));
  return is_float ? Tensor::of(shape, std::move(floats)) : Tensor::of(shape, std::move(ints));
}

/// Elementwise ops, comparisons, Where, Cast; nullopt for any other op.
std::optional<Tensor> evaluateElementwise(const Graph& graph, const Node& node, FoldBudget& budget);

/// Resize of a constant (a position embedding) over the last two of four axes.
std::optional<Tensor> evaluateResize(const Graph& graph, const Node& node, FoldBudget& budget);

/// Shapes of the outputs of a node that depends on the image; nullopt where the op is not known.
std::optional<std::vector<Shape>> inferShapes(const Graph& graph, const Node& node);

/// The shape and the method of a Resize.
struct Resizing {
  Shape shape;
  std::vector<double> scale;  ///< per axis, as ONNX computes the input position of a pixel
  /// The scales give exactly `shape`, without a fraction of a pixel.
  bool whole_pixels = true;
};

/// From the sizes or the scales; nullopt when they are not constant, or when the result depends on more.
std::optional<Resizing> resizing(const Graph& graph, const Node& node);

/// A pixel of the input along one axis, and its share of a pixel of the output.
struct Tap {
  std::int64_t index;
  double weight;
};

/// For every pixel of the output along `axis`, those of the input that it is made of; nullopt for a mode or coordinates
/// that are not known, or that tools disagree about.
std::optional<std::vector<std::vector<Tap>>> resizeTaps(const Node& node, const Resizing& resized, std::int64_t inputs,
                                                        std::size_t axis);

/// What a Pad adds (below 0: removes) in front of each axis, then behind each; nullopt when that is not constant.
std::optional<Integers> padsOf(const Graph& graph, const Node& node, std::size_t rank);

/// The padding of a ConvTranspose, also where `auto_pad` or `output_shape` give it; nullopt when its attributes do not
/// fit two axes.
std::optional<Integers> transposedPads(const Node& node, const Shape& input, const Shape& weight);

/// The equation of an Einsum of two operands of these ranks with every letter written out and an explicit result;
/// empty when a letter occurs twice in one operand, or for other operands.
std::string plainEquation(const Node& node, std::size_t left, std::size_t right);

/// Axes of a Reduce*, ArgMax or ArgMin, counted from the front, wherever the opset keeps them; nullopt when they are
/// not constant.
std::optional<std::vector<std::size_t>> reducedAxes(const Graph& graph, const Node& node, std::size_t rank);

/// Makes a graph that was folded for `batch` > 1 images one for a single image: constants that hold the batch (target
/// shapes, repeated rows) lose it. Shapes of tensors are unknown afterwards, until the graph is folded again. Throws
/// mpm::Error naming the first node that does not keep the images apart.
void keepOneImage(Graph& graph, std::int64_t batch);

}  // namespace mpm::onnx_graph
