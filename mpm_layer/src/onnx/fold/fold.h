// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "onnx/model/graph.h"

namespace mpm::onnx_graph {

/// Number of elements that folding may hold at once, so that a small malicious file cannot exhaust memory.
struct FoldBudget {
  std::int64_t left = 0;

  /// Uses up the elements of `shape`. Throws mpm::Error when they exceed what is left.
  std::int64_t take(const Shape& shape);
};

/// Sets the static shape of the image. Every tensor that does not depend on pixels becomes a constant, every other one
/// gets its shape if the operator is known. Nodes that do nothing at inference (Identity, Dropout, a Cast between
/// floats, a sum with zeros) are removed. Throws mpm::Error naming a node whose shapes contradict each other.
void foldConstants(Graph& graph, const Shape& image);

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

/// The letters of the axes of two operands and of the result of an Einsum.
struct Equation {
  std::array<std::string, 2> of;
  std::string made;
};

/// The equation of an Einsum of two operands of these ranks with every letter written out; nullopt when a letter occurs
/// twice in one operand, or for other operands.
std::optional<Equation> plainEquation(const Node& node, std::size_t left, std::size_t right);

/// Axes of a Reduce*, ArgMax or ArgMin, counted from the front, wherever the opset keeps them; nullopt when they are
/// not constant.
std::optional<std::vector<std::size_t>> reducedAxes(const Graph& graph, const Node& node, std::size_t rank);

/// Makes a graph that was folded for `batch` > 1 images one for a single image: constants that hold the batch (target
/// shapes, repeated rows) lose it. Shapes of tensors are unknown afterwards, until the graph is folded again. Throws
/// mpm::Error naming the first node that does not keep the images apart.
void keepOneImage(Graph& graph, std::int64_t batch);

}  // namespace mpm::onnx_graph
