// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "onnx/model/graph.h"

namespace mpm::onnx_graph {

/// Domain of the nodes that the passes below create:
///   Linear {x, weight {out, in}, bias {out}}, LayerNorm {x, weight {d}, bias {d}} with Node::eps, both over the last
///   axis; RMSNorm, a LayerNorm that does not subtract the mean; L2Normalize {x} over the last axis with Node::eps;
///   Activation {x} with Node::activation.
inline constexpr const char* kCanonical = "canonical";

/// Turns the forms that exporters write into canonical nodes. Shapes and constants must be folded.
void canonicalise(Graph& graph);

/// MatMul by a constant and Gemm, each with the Add of a bias behind it -> Linear.
void canonicaliseLinears(Graph& graph);
/// The op, or ReduceMean .. Sqrt .. Div, with or without affine -> LayerNorm, RMSNorm.
void canonicaliseLayerNorms(Graph& graph);
/// LpNormalization, or a division by ReduceL2 or by the root of a sum of squares, clamped or not -> L2Normalize.
void canonicaliseL2Norms(Graph& graph);
/// GELU (erf, tanh, quick), SiLU and ReLU, as one op or as several -> Activation.
void canonicaliseActivations(Graph& graph);

/// Queries of a graph that the passes use.
class Matcher {
 public:
  explicit Matcher(Graph& graph) : graph_(graph), readers_(graph.readers()) {}

  Graph& graph() const { return graph_; }
  /// The node that makes `value` when it is an `op` of the default domain, else null.
  Node* made(int value, const char* op) const;
  /// Returns x when `value` is the square of x, else -1.
  int squared(int value) const;
  /// The value of a constant whose elements are all equal.
  std::optional<double> scalar(int value) const {
    const Tensor* tensor = graph_.constant(value);
    return tensor ? tensor->uniform() : std::nullopt;
  }
  /// The only node that reads `value`; null when there are several or the value is an output of the graph.
  Node* onlyReader(int value) const;
  /// Live nodes that read `value`.
  std::vector<Node*> readers(int value) const;
  /// The index of the input of a node with two inputs that is not `value`; -1 when it does not read `value`, or twice.
  static int other(const Node& node, int value);
  /// A constant that differs along the last axis only, as one number per column.
  std::optional<std::vector<float>> perColumn(int value, std::int64_t columns) const;
  /// Length of the last axis; 0 when the shape is not known.
  std::int64_t columns(int value) const {
    const Shape* shape = graph_.shape(value);
    return shape && !shape->empty() ? shape->back() : 0;
  }
  /// True when `node` reduces exactly the last axis and keeps it.
  bool reducesLastAxis(const Node& node) const;
  /// Replaces the operation of `node`.
  static void rewrite(Node& node, const char* op, std::vector<int> inputs);
  int addConstant(const std::string& name, Shape shape, std::vector<float> values) const {
    return graph_.addConstant(name, Tensor::of(std::move(shape), std::move(values)));
  }

 private:
  Graph& graph_;
  std::vector<std::vector<int>> readers_;
};

}  // namespace mpm::onnx_graph
