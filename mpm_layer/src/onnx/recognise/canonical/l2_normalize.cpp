// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/canonical/canonical.h"

namespace mpm::onnx_graph {
namespace {

/// Returns x when `value` is the length of x along the last axis, else -1.
int lengthOf(const Matcher& match, int value) {
  if (const Node* node = match.made(value, "ReduceL2")) return match.reducesLastAxis(*node) ? node->inputs[0] : -1;
  const Node* root = match.made(value, "Sqrt");
  if (!root) {
    root = match.made(value, "Pow");
    if (!root || match.scalar(root->input(1)) != 0.5) return -1;
  }
  if (const Node* sum = match.made(root->inputs[0], "ReduceSumSquare")) {
    return match.reducesLastAxis(*sum) ? sum->inputs[0] : -1;
  }
  const Node* sum = match.made(root->inputs[0], "ReduceSum");
  return sum && match.reducesLastAxis(*sum) ? match.squared(sum->inputs[0]) : -1;
}

/// True for a lower limit of the length that only prevents a division by zero.
bool isSmall(std::optional<double> limit) { return limit && *limit >= 0 && *limit <= 1e-6; }

/// Returns x when `divisor` is the length of x, also behind Clip, Max, Add of a tiny number or Expand; else -1.
int dividedBy(const Matcher& match, int divisor, float& eps) {
  for (int step = 0; step < 4; ++step) {
    if (const int x = lengthOf(match, divisor); x >= 0) return x;
    const Graph& graph = match.graph();
    const Node* node = graph.producer(divisor);
    if (!node || !node->domain.empty()) return -1;
    std::optional<double> limit;
    int next = node->input(0);
    if (node->op == "Clip") {
      if (node->input(2) >= 0) {
        const auto ceiling = match.scalar(node->inputs[2]);
        if (!ceiling || *ceiling < 1e30) return -1;
      }
      limit = match.scalar(node->input(1));
    } else if ((node->op == "Max" || node->op == "Add") && node->inputs.size() == 2) {
      if (graph.constant(next)) next = node->inputs[1];
      limit = match.scalar(Matcher::other(*node, next));
    } else if (node->op != "Expand") {
      return -1;
    }
    if (node->op != "Expand") {
      if (!isSmall(limit)) return -1;
      eps = static_cast<float>(*limit);
    }
    divisor = next;
  }
  return -1;
}

}  // namespace

void canonicaliseL2Norms(Graph& graph) {
  const Matcher match(graph);
  for (Node& node : graph.nodes) {
    if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty()) continue;
    const Shape* shape = graph.shape(node.inputs[0]);
    if (!shape || shape->empty()) continue;
    float eps = 0;
    if (node.op == "LpNormalization") {
      const std::int64_t axis = node.integer("axis", -1);
      if (node.integer("p", 2) != 2) continue;
      if (axis != -1 && axis != std::ssize(*shape) - 1) continue;
      Matcher::rewrite(node, "L2Normalize", {node.inputs[0]});
    } else if (node.op == "Div" && node.inputs.size() == 2 && dividedBy(match, node.inputs[1], eps) == node.inputs[0]) {
      Matcher::rewrite(node, "L2Normalize", {node.inputs[0]});
      node.eps = eps;
    }
  }
}

}  // namespace mpm::onnx_graph
