// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/graph.h"

#include <algorithm>

namespace mpm::onnx_graph {

int Graph::addValue(std::string name) {
  values.push_back({std::move(name), std::nullopt, std::nullopt, -1});
  return static_cast<int>(values.size()) - 1;
}

int Graph::addConstant(std::string name, Tensor tensor) {
  const int value = addValue(std::move(name));
  values.back().shape = tensor.shape;
  values.back().constant = std::move(tensor);
  return value;
}

const Node* Graph::producer(int value) const {
  if (value < 0) return nullptr;
  const int node = values[value].producer;
  if (node < 0 || nodes[node].dead) return nullptr;
  return &nodes[node];
}

Node* Graph::producer(int value) { return const_cast<Node*>(std::as_const(*this).producer(value)); }

std::vector<std::vector<int>> Graph::readers() const {
  std::vector<std::vector<int>> result(values.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].dead) continue;
    for (const int value : nodes[i].inputs) {
      if (value >= 0) result[value].push_back(static_cast<int>(i));
    }
  }
  for (const int value : outputs) result[value].push_back(-1);
  return result;
}

void Graph::dropUnused() {
  std::vector<bool> needed(values.size(), false);
  needed[image] = true;
  for (const int value : outputs) needed[value] = true;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (node->dead) continue;
    node->dead = std::ranges::none_of(node->outputs, [&](int value) { return value >= 0 && needed[value]; });
    if (node->dead) continue;
    for (const int value : node->inputs) {
      if (value >= 0) needed[value] = true;
    }
  }
  std::erase_if(nodes, [](const Node& node) { return node.dead; });
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].producer = -1;
    if (!needed[i]) values[i].constant.reset();  // weights that a pass replaced
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const int value : nodes[i].outputs) {
      if (value >= 0) values[value].producer = static_cast<int>(i);
    }
  }
}

bool isOneOf(const std::string& op, std::initializer_list<std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

std::string describe(const Node& node) {
  constexpr std::size_t kLongest = 80;
  const std::string& name = node.name;
  const std::string shown = name.size() > kLongest ? "..." + name.substr(name.size() - kLongest) : name;
  return "node '" + shown + "' (" + (node.written_as.empty() ? node.op : node.written_as) + ")";
}

void refuse(const Node& node, const std::string& found, const std::string& expected) {
  throw Error(describe(node) + ": found " + found + ", expected " + expected);
}

void rethrow(const Node& node, const Error& error) {
  const std::string text = error.what();
  throw Error(text.starts_with("node '") ? text : "node '" + node.name + "' (" + node.op + "): " + text);
}

}  // namespace mpm::onnx_graph
