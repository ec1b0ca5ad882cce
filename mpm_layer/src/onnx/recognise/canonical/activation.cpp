// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "onnx/recognise/canonical/canonical.h"

namespace mpm::onnx_graph {
namespace {

using Cubic = std::array<double, 4>;

bool near(double a, double b) { return std::abs(a - b) <= 2e-4 * std::max(1e-3, std::abs(b)); }

std::optional<Cubic> product(const Cubic& a, const Cubic& b) {
  Cubic result{};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j > 3) return std::nullopt;
      result[i + j] += a[i] * b[j];
    }
  }
  return result;
}

/// `value` as a polynomial in `x`, when Add, Sub, Mul, Div and Pow by constants make it one of degree 3 at most.
std::optional<Cubic> polynomial(const Matcher& match, int value, int x, int depth = 0) {
  if (value == x) return Cubic{0, 1, 0, 0};
  if (const auto number = match.scalar(value)) return Cubic{*number, 0, 0, 0};
  const Node* node = match.graph().producer(value);
  if (!node || !node->domain.empty() || node->inputs.size() != 2 || depth > 8) return std::nullopt;
  const auto a = polynomial(match, node->inputs[0], x, depth + 1);
  if (!a) return std::nullopt;
  if (node->op == "Pow") {
    const auto power = match.scalar(node->inputs[1]);
    const auto square = product(*a, *a);
    if (power == 2.0) return square;
    if (power == 3.0 && square) return product(*square, *a);
    return std::nullopt;
  }
  const auto b = polynomial(match, node->inputs[1], x, depth + 1);
  if (!b) return std::nullopt;
  if (node->op == "Mul") return product(*a, *b);
  if (node->op == "Div") {
    if ((*b)[0] == 0 || (*b)[1] != 0 || (*b)[2] != 0 || (*b)[3] != 0) return std::nullopt;
    return product(*a, Cubic{1 / (*b)[0], 0, 0, 0});
  }
  if (node->op != "Add" && node->op != "Sub") return std::nullopt;
  Cubic result{};
  for (std::size_t i = 0; i < 4; ++i) result[i] = (*a)[i] + (node->op == "Add" ? (*b)[i] : -(*b)[i]);
  return result;
}

/// Values that an argument may be a polynomial in, the deepest first.
void candidates(const Matcher& match, int value, int depth, std::vector<int>& found) {
  if (match.graph().constant(value) || value < 0) return;
  const Node* node = match.graph().producer(value);
  const bool arithmetic = node && node->domain.empty() && isOneOf(node->op, {"Mul", "Add", "Sub", "Div", "Pow"});
  if (arithmetic && depth < 6) {
    for (const int input : node->inputs) candidates(match, input, depth + 1, found);
  }
  found.push_back(value);
}

/// Which activation applies `op` to that polynomial of x.
const char* activationOf(const std::string& op, const Cubic& p) {
  if (p[0] != 0 || p[2] != 0) return nullptr;
  constexpr double kRootHalf = 0.70710678118654752, kRootTwoOverPi = 0.79788456080286536;
  if (op == "Tanh") {
    return near(p[1], kRootTwoOverPi) && near(p[3], 0.044715 * kRootTwoOverPi) ? "gelu_tanh" : nullptr;
  }
  if (p[3] != 0) return nullptr;
  if (op == "Erf") return near(p[1], kRootHalf) ? "gelu_erf" : nullptr;
  if (near(p[1], 1.702)) return "gelu_quick";
  return p[1] == 1 ? "silu" : nullptr;
}

/// Follows (a g + b) x from g = op(..) until x is multiplied in and only a constant factor is missing.
Node* productWith(const Matcher& match, int made, int x, double target_a, double target_b) {
  double a = 1, b = 0;
  bool with_x = false;
  for (int step = 0; step < 6; ++step) {
    Node* node = match.onlyReader(made);
    if (!node || !node->domain.empty()) return nullptr;
    const int other = Matcher::other(*node, made);
    if (other < 0) return nullptr;
    const auto number = match.scalar(other);
    double factor = 1;
    if (node->op == "Add" && number && !with_x) {
      b += *number;
    } else if (node->op == "Mul" && number) {
      factor = *number;
    } else if (node->op == "Div" && number && node->inputs[0] == made && *number != 0) {
      factor = 1 / *number;
    } else if (node->op == "Mul" && !with_x) {
      const auto p = polynomial(match, other, x);
      if (!p || (*p)[0] != 0 || (*p)[2] != 0 || (*p)[3] != 0) return nullptr;
      factor = (*p)[1];
      with_x = true;
    } else {
      return nullptr;
    }
    a *= factor;
    b *= factor;
    if (with_x && near(a, target_a) && std::abs(b - target_b) < 1e-4) return node;
    made = node->outputs[0];
  }
  return nullptr;
}

void fromParts(const Matcher& match, const Node& node) {
  std::vector<int> found;
  candidates(match, node.inputs[0], 0, found);
  for (const int x : found) {
    const auto p = polynomial(match, node.inputs[0], x);
    const char* activation = p ? activationOf(node.op, *p) : nullptr;
    if (!activation) continue;
    const bool sigmoid = node.op == "Sigmoid";
    if (Node* last = productWith(match, node.outputs[0], x, sigmoid ? 1 : 0.5, sigmoid ? 0 : 0.5)) {
      Matcher::rewrite(*last, "Activation", {x});
      last->activation = activation;
      return;
    }
  }
}

void fromOp(Node& node, const char* activation) {
  Matcher::rewrite(node, "Activation", {node.inputs[0]});
  node.activation = activation;
}

}  // namespace

void canonicaliseActivations(Graph& graph) {
  const Matcher match(graph);
  for (Node& node : graph.nodes) {
    if (node.inputs.empty() || node.inputs[0] < 0 || node.outputs.empty()) continue;
    const bool microsoft = node.domain == "com.microsoft";
    if (!node.domain.empty() && !microsoft) continue;
    if (node.op == "Erf" || node.op == "Tanh" || node.op == "Sigmoid") {
      fromParts(match, node);
    } else if (node.op == "Gelu") {
      fromOp(node, node.text("approximate", "none") == "tanh" ? "gelu_tanh" : "gelu_erf");
    } else if (node.op == "Relu") {
      fromOp(node, "relu");
    } else if (node.op == "Swish" && node.number("alpha", 1) == 1) {
      fromOp(node, "silu");
    }
  }
}

}  // namespace mpm::onnx_graph
