// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "onnx/recognise/matcher.h"

namespace mpm::onnx_graph {
namespace {

/// Coefficients of 1, x, x^2 and x^3, and of the same times g.
using Polynomial = std::array<double, 8>;

bool near(double a, double b) { return std::abs(a - b) <= 2e-4 * std::max(1e-3, std::abs(b)); }

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial result{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i % 4 + j % 4 > 3 || i / 4 + j / 4 > 1) return std::nullopt;
      result[i + j] += a[i] * b[j];
    }
  }
  return result;
}

/// `value` as a polynomial in the values `x` and `g`, when Add, Sub, Mul, Div and Pow by constants make it one of
/// degree 3 at most in x and 1 in g (-2: without one). `left`: how many nodes deep to look.
std::optional<Polynomial> polynomial(const Matcher& match, int value, int x, int g, int left) {
  if (value == x) return Polynomial{0, 1};
  if (value == g) return Polynomial{0, 0, 0, 0, 1};
  if (const auto number = match.scalar(value)) return Polynomial{*number};
  const Node* node = match.graph().producer(value);
  if (!node || !node->domain.empty() || node->inputs.size() != 2 || left < 0) return std::nullopt;
  const auto a = polynomial(match, node->inputs[0], x, g, left - 1);
  if (!a) return std::nullopt;
  if (node->op == "Pow") {
    const auto power = match.scalar(node->inputs[1]);
    const auto square = product(*a, *a);
    if (power == 2.0) return square;
    if (power == 3.0 && square) return product(*square, *a);
    return std::nullopt;
  }
  const auto b = polynomial(match, node->inputs[1], x, g, left - 1);
  if (!b) return std::nullopt;
  if (node->op == "Mul") return product(*a, *b);
  if (node->op == "Div") {
    if ((*b)[0] == 0 || std::any_of(b->begin() + 1, b->end(), [](double c) { return c != 0; })) return std::nullopt;
    return product(*a, Polynomial{1 / (*b)[0]});
  }
  if (node->op != "Add" && node->op != "Sub") return std::nullopt;
  Polynomial result{};
  for (std::size_t i = 0; i < a->size(); ++i) result[i] = (*a)[i] + (node->op == "Add" ? (*b)[i] : -(*b)[i]);
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
const char* activationOf(const std::string& op, const Polynomial& p) {
  if (p[0] != 0 || p[2] != 0) return nullptr;
  constexpr double kRootHalf = 0.70710678118654752, kRootTwoOverPi = 0.79788456080286536;
  if (op == "Tanh") return near(p[1], kRootTwoOverPi) && near(p[3], 0.044715 * kRootTwoOverPi) ? "gelu_tanh" : nullptr;
  if (p[3] != 0) return nullptr;
  if (op == "Erf") return near(p[1], kRootHalf) ? "gelu_erf" : nullptr;
  if (near(p[1], 1.702)) return "gelu_quick";
  return p[1] == 1 ? "silu" : nullptr;
}

/// The node behind g = op(..) that gives times_g g x + alone x.
Node* productWith(const Matcher& match, int g, int x, double times_g, double alone) {
  Node* node = match.onlyReader(g);
  for (int step = 0; node && step < 6; ++step, node = match.onlyReader(node->outputs[0])) {
    auto p = polynomial(match, node->outputs[0], x, g, 12);
    if (!p || !near((*p)[5], times_g) || std::abs((*p)[1] - alone) >= 1e-4) continue;
    (*p)[1] = (*p)[5] = 0;
    if (*p == Polynomial{}) return node;
  }
  return nullptr;
}

/// Turns the node behind `node` that multiplies it by x, and by `times`, into that activation of x.
bool rewriteProduct(const Matcher& match, const Node& node, int x, double times, double alone, const char* activation) {
  Node* last = productWith(match, node.outputs[0], x, times, alone);
  if (!last) return false;
  Matcher::rewrite(*last, "Activation", {x});
  last->activation = activation;
  return true;
}

/// An activation whose inner function is Erf, Tanh or Sigmoid.
void activationOfParts(const Matcher& match, const Node& node) {
  if (const Node* softplus = node.op == "Tanh" ? match.made(node.inputs[0], "Softplus") : nullptr) {
    rewriteProduct(match, node, softplus->inputs[0], 1, 0, "mish");
    return;
  }
  std::vector<int> found;
  candidates(match, node.inputs[0], 0, found);
  for (const int x : found) {
    const auto p = polynomial(match, node.inputs[0], x, -2, 8);
    const char* activation = p ? activationOf(node.op, *p) : nullptr;
    if (!activation) continue;
    const bool sigmoid = node.op == "Sigmoid";
    if (rewriteProduct(match, node, x, sigmoid ? 1 : 0.5, sigmoid ? 0 : 0.5, activation)) return;
  }
}

/// x + 3, limited to 0 to 6: x times that is six times a hard Swish.
void hardSwish(const Matcher& match, const Node& node) {
  const Node* add = match.made(node.inputs[0], "Add");
  if (!add || match.scalar(node.input(1)) != 0.0 || match.scalar(node.input(2)) != 6.0) return;
  for (const int x : add->inputs)
    if (match.scalar(Matcher::other(*add, x)) == 3.0) rewriteProduct(match, node, x, 1.0 / 6, 0, "hard_swish");
}

/// True when `value` is 1 + exp(-x).
bool isInverseSigmoid(const Matcher& match, int value, int x) {
  const Node* sum = match.made(value, "Add");
  for (const int part : sum ? sum->inputs : std::vector<int>()) {
    const Node* power = match.made(part, "Exp");
    const Node* negative = power ? match.made(power->inputs[0], "Neg") : nullptr;
    if (negative && negative->inputs[0] == x && match.scalar(Matcher::other(*sum, part)) == 1.0) return true;
  }
  return false;
}

}  // namespace

void canonicalActivation(const Matcher& match, Node& node) {
  const auto become = [&](const char* name, int x) {
    Matcher::rewrite(node, "Activation", {x});
    node.activation = name;
  };
  const int x = node.inputs[0];
  if (node.op == "Erf" || node.op == "Tanh" || node.op == "Sigmoid") {
    activationOfParts(match, node);
  } else if (node.op == "Gelu") {
    become(node.text("approximate", "none") == "tanh" ? "gelu_tanh" : "gelu_erf", x);
  } else if (node.op == "Relu") {
    become("relu", x);
  } else if (node.op == "Swish" && node.number("alpha", 1) == 1) {
    become("silu", x);
  } else if (node.op == "Div" && isInverseSigmoid(match, node.input(1), x)) {
    become("silu", x);
  } else if (node.op == "Mul" || node.op == "Pow") {
    const Node* relu = match.graph().producer(match.squared(node.outputs[0]));
    if (relu && relu->domain == kCanonical && relu->activation == "relu") become("relu_squared", relu->inputs[0]);
  } else if (node.op == "Elu" && node.number("alpha", 1) == 1) {
    become("elu", x);
  } else if (node.op == "Mish") {
    become("mish", x);
  } else if (node.op == "HardSwish") {
    become("hard_swish", x);
  } else if (node.op == "HardSigmoid" && near(node.number("alpha", 0.2f), 1.0 / 6) &&
             node.number("beta", 0.5f) == 0.5f) {
    rewriteProduct(match, node, x, 1, 0, "hard_swish");
  } else if (node.op == "Clip") {
    hardSwish(match, node);
  }
}

}  // namespace mpm::onnx_graph
