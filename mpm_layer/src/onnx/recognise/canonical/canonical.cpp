// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/canonical/canonical.h"

#include <algorithm>

#include "onnx/fold/fold.h"

namespace mpm::onnx_graph {

void canonicalise(Graph& graph) {
  for (const auto pass : {canonicaliseLinears, canonicaliseLayerNorms, canonicaliseL2Norms, canonicaliseActivations}) {
    pass(graph);
    graph.dropUnused();
  }
}

Node* Matcher::made(int value, const char* op) const {
  Node* node = graph_.producer(value);
  return node && node->domain.empty() && node->op == op && !node->inputs.empty() ? node : nullptr;
}

int Matcher::squared(int value) const {
  if (const Node* mul = made(value, "Mul"))
    return mul->inputs.size() == 2 && mul->inputs[0] == mul->inputs[1] ? mul->inputs[0] : -1;
  const Node* pow = made(value, "Pow");
  return pow && scalar(pow->input(1)) == 2.0 ? pow->inputs[0] : -1;
}

std::vector<Node*> Matcher::readers(int value) const {
  std::vector<Node*> result;
  if (value < 0 || static_cast<std::size_t>(value) >= readers_.size()) return result;
  for (const int reader : readers_[value]) {
    if (reader < 0) continue;
    Node& node = graph_.nodes[reader];
    if (!node.dead && std::ranges::find(node.inputs, value) != node.inputs.end()) {
      result.push_back(&node);
    }
  }
  return result;
}

Node* Matcher::onlyReader(int value) const {
  const std::vector<Node*> live = readers(value);
  if (live.size() != 1) return nullptr;
  const auto& all = readers_[value];
  if (std::ranges::find(all, -1) != all.end()) return nullptr;
  return live[0];
}

int Matcher::other(const Node& node, int value) {
  if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return -1;
  if (node.inputs[0] == value) return node.inputs[1];
  if (node.inputs[1] == value) return node.inputs[0];
  return -1;
}

std::optional<std::vector<float>> Matcher::perColumn(int value, std::int64_t columns) const {
  const Tensor* tensor = graph_.constant(value);
  if (!tensor || columns < 1) return std::nullopt;
  const std::int64_t size = tensor->size();
  if (size != 1 && (size != columns || tensor->shape.empty() || tensor->shape.back() != columns)) return std::nullopt;
  std::vector<float> result(columns);
  for (std::int64_t i = 0; i < columns; ++i) {
    result[i] = static_cast<float>(tensor->at(size == 1 ? 0 : i));
  }
  return result;
}

bool Matcher::reducesLastAxis(const Node& node) const {
  const Shape* shape = graph_.shape(node.input(0));
  if (!shape || shape->empty() || node.integer("keepdims", 1) == 0) return false;
  const auto axes = reducedAxes(graph_, node, shape->size());
  return axes && axes->size() == 1 && (*axes)[0] == shape->size() - 1;
}

void Matcher::rewrite(Node& node, const char* op, std::vector<int> inputs) {
  node.written_as = node.op;
  node.op = op;
  node.domain = kCanonical;
  node.inputs = std::move(inputs);
  node.outputs.resize(1);
  node.proto = nullptr;
}

}  // namespace mpm::onnx_graph
