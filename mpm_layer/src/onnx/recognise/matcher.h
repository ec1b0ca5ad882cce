// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/fold/fold.h"
#include "onnx/recognise/canonical.h"

namespace mpm::onnx_graph {

/// What the passes of canonicalise() ask a graph, and how they change it.
class Matcher {
 public:
  explicit Matcher(Graph& graph) : graph_(graph), readers_(graph.readers()) {}

  const Graph& graph() const { return graph_; }

  /// The node that makes `value` when it is an `op` of the default domain, else null.
  const Node* made(int value, const char* op) const {
    const Node* node = graph_.producer(value);
    return node && node->domain.empty() && node->op == op && !node->inputs.empty() ? node : nullptr;
  }

  /// Returns x when `value` is the square of x, else -1.
  int squared(int value) const {
    if (const Node* mul = made(value, "Mul"))
      return mul->inputs.size() == 2 && mul->inputs[0] == mul->inputs[1] ? mul->inputs[0] : -1;
    const Node* pow = made(value, "Pow");
    return pow && scalar(pow->input(1)) == 2.0 ? pow->inputs[0] : -1;
  }

  /// The value whose square root `value` is, else -1.
  int underRoot(int value) const {
    if (const Node* root = made(value, "Sqrt")) return root->inputs[0];
    const Node* power = made(value, "Pow");
    return power && scalar(power->input(1)) == 0.5 ? power->inputs[0] : -1;
  }

  /// The value of a constant whose elements are all equal.
  std::optional<double> scalar(int value) const {
    const Tensor* tensor = graph_.constant(value);
    return tensor ? tensor->uniform() : std::nullopt;
  }

  /// The only live node that reads `value`; null when there are several or the value is an output of the graph.
  Node* onlyReader(int value) const {
    Node* only = nullptr;
    if (value < 0 || static_cast<std::size_t>(value) >= readers_.size()) return nullptr;
    for (const int reader : readers_[value]) {
      if (reader < 0) return nullptr;
      Node& node = graph_.nodes[reader];
      if (node.dead || std::ranges::find(node.inputs, value) == node.inputs.end()) continue;
      if (only) return nullptr;
      only = &node;
    }
    return only;
  }

  /// The index of the input of a node with two inputs that is not `value`; -1 when it does not read `value`, or twice.
  static int other(const Node& node, int value) {
    if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return -1;
    if (node.inputs[0] == value) return node.inputs[1];
    return node.inputs[1] == value ? node.inputs[0] : -1;
  }

  /// A constant that differs along the last axis only, as one number per column.
  std::optional<std::vector<float>> perColumn(int value, std::int64_t columns) const {
    const Tensor* tensor = graph_.constant(value);
    if (!tensor || columns < 1) return std::nullopt;
    const std::int64_t size = tensor->size();
    if (size != 1 && (size != columns || tensor->shape.empty() || tensor->shape.back() != columns)) return std::nullopt;
    std::vector<float> result(columns);
    for (std::int64_t i = 0; i < columns; ++i) result[i] = static_cast<float>(tensor->at(size == 1 ? 0 : i));
    return result;
  }

  /// Length of the last axis; 0 when the shape is not known.
  std::int64_t columns(int value) const {
    const Shape* shape = graph_.shape(value);
    return shape && !shape->empty() ? shape->back() : 0;
  }

  /// True when `node` reduces exactly the last axis and keeps it.
  bool reducesLastAxis(const Node& node) const {
    const Shape* shape = graph_.shape(node.input(0));
    if (!shape || shape->empty() || node.integer("keepdims", 1) == 0) return false;
    const auto axes = reducedAxes(graph_, node, shape->size());
    return axes && axes->size() == 1 && (*axes)[0] == shape->size() - 1;
  }

  /// True when the axis of `node` is the last one of its first input.
  bool isOverLastAxis(const Node& node) const {
    const Shape* shape = graph_.shape(node.input(0));
    const std::int64_t axis = node.integer("axis", -1);
    return shape && !shape->empty() && (axis == -1 || axis == std::ssize(*shape) - 1);
  }

  /// Replaces the operation of `node`.
  static void rewrite(Node& node, const char* op, std::vector<int> inputs, float eps = 0) {
    node.written_as = node.op;
    node.op = op;
    node.domain = kCanonical;
    node.inputs = std::move(inputs);
    node.outputs.resize(1);
    node.proto = nullptr;
    node.eps = eps;
  }

  /// Replaces the operation of `node` by one of ONNX, of x along its last axis.
  void rewriteAlongLastAxis(Node& node, const char* op, int x) const {
    if (!graph_.inlined) graph_.inlined = std::make_shared<std::deque<onnx::NodeProto>>();
    onnx::NodeProto& proto = graph_.inlined->emplace_back();
    proto.set_op_type(op);
    onnx::AttributeProto& axis = *proto.add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(-1);
    rewrite(node, op, {x});
    node.domain.clear();
    node.proto = &proto;
  }

  /// Replaces the operation of `node` by one of x, a weight and a bias.
  void rewrite(Node& node, const char* op, int x, Tensor weight, std::vector<float> bias, float eps = 0) const {
    const std::int64_t columns = std::ssize(bias);
    const int weights = graph_.addConstant("", std::move(weight));
    rewrite(node, op, {x, weights, graph_.addConstant("", Tensor::of({columns}, std::move(bias)))}, eps);
  }

 private:
  Graph& graph_;
  std::vector<std::vector<int>> readers_;
};

// The passes, one for each kind of node that they make.

/// The op, or the nodes behind a mean of squares, with or without affine -> LayerNorm, RMSNorm.
void canonicalNorm(const Matcher& match, Node& node);

/// An activation as one op or as several -> Activation.
void canonicalActivation(const Matcher& match, Node& node);

}  // namespace mpm::onnx_graph
