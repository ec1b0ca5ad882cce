// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/canonical.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "onnx/fold/fold.h"

namespace mpm::onnx_graph {
namespace {

/// What the passes below ask a graph, and how they change it.
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

  /// The same for an operation of x, a weight and a bias.
  void rewrite(Node& node, const char* op, int x, Tensor weight, std::vector<float> bias, float eps = 0) const {
    const std::int64_t columns = std::ssize(bias);
    const int weights = graph_.addConstant("", std::move(weight));
    rewrite(node, op, {x, weights, graph_.addConstant("", Tensor::of({columns}, std::move(bias)))}, eps);
  }

 private:
  Graph& graph_;
  std::vector<std::vector<int>> readers_;
};

/// {in, out} -> {out, in}.
std::vector<float> transposed(const std::vector<float>& weight, std::int64_t in, std::int64_t out) {
  std::vector<float> result(weight.size());
  for (std::int64_t i = 0; i < in; ++i) {
    for (std::int64_t o = 0; o < out; ++o) result[o * in + i] = weight[i * out + o];
  }
  return result;
}

/// Linear -> Add of one number per column: the Add becomes the Linear.
void absorbBias(const Matcher& match, const Node& linear) {
  const Graph& graph = match.graph();
  const int made = linear.outputs[0];
  Node* add = match.onlyReader(made);
  if (!add || !add->domain.empty() || add->op != "Add") return;
  const int offset = Matcher::other(*add, made);
  if (offset < 0 || !graph.shape(made) || !graph.shape(add->outputs[0])) return;
  if (*graph.shape(made) != *graph.shape(add->outputs[0])) return;
  auto offsets = match.perColumn(offset, match.columns(made));
  if (!offsets) return;
  const Tensor& bias = *graph.constant(linear.inputs[2]);
  for (std::size_t i = 0; i < offsets->size(); ++i) (*offsets)[i] += (*bias.floats)[i];
  match.rewrite(*add, "Linear", linear.inputs[0], *graph.constant(linear.inputs[1]), std::move(*offsets));
}

/// MatMul by a constant and Gemm, each with the Add of a bias behind it -> Linear.
void linear(const Matcher& match, Node& node) {
  const bool gemm = node.op == "Gemm";  // the attributes below and the third input are its own
  if ((node.op != "MatMul" && !gemm) || (gemm && node.integer("transA", 0) != 0)) return;
  const Tensor* weight = match.graph().constant(node.input(1));
  const Shape* shape = match.graph().shape(node.inputs[0]);
  if (!weight || !weight->isFloat() || !shape || weight->shape.size() < 2 || weight->shape.size() > shape->size())
    return;
  const bool turned = gemm && node.integer("transB", 0) != 0;
  const float alpha = gemm ? node.number("alpha", 1) : 1, beta = node.number("beta", 1);
  std::int64_t in = weight->shape[weight->shape.size() - 2], out = weight->shape.back();
  // Sides of 1 in front of a matrix broadcast away.
  if (weight->size() == 0 || weight->size() != in * out) return;
  if (turned) std::swap(in, out);
  std::vector<float> bias(out, 0.0f);
  if (gemm && node.input(2) >= 0) {
    const auto given = match.perColumn(node.inputs[2], out);
    if (!given) return;
    bias = *given;
    for (float& offset : bias) offset *= beta;
  }
  std::vector<float> values = turned ? *weight->floats : transposed(*weight->floats, in, out);
  for (float& value : values) value *= alpha;
  match.rewrite(node, "Linear", node.inputs[0], Tensor::of({out, in}, std::move(values)), std::move(bias));
  absorbBias(match, node);
}

/// Returns x when `value` is x - mean(x) over the last axis, else -1.
int centred(const Matcher& match, int value) {
  const Node* sub = match.made(value, "Sub");
  if (!sub || sub->inputs.size() != 2) return -1;
  const Node* mean = match.made(sub->inputs[1], "ReduceMean");
  if (!mean || mean->inputs[0] != sub->inputs[0] || !match.reducesLastAxis(*mean)) return -1;
  return sub->inputs[0];
}

/// The value whose square root `value` is, else -1.
int underRoot(const Matcher& match, int value) {
  if (const Node* root = match.made(value, "Sqrt")) return root->inputs[0];
  const Node* power = match.made(value, "Pow");
  return power && match.scalar(power->input(1)) == 0.5 ? power->inputs[0] : -1;
}

/// The value of whose square root `value` is the reciprocal, else -1.
int underInverseRoot(const Matcher& match, int value) {
  if (const Node* power = match.made(value, "Pow"))
    return match.scalar(power->input(1)) == -0.5 ? power->inputs[0] : -1;
  if (const Node* inverse = match.made(value, "Reciprocal")) return underRoot(match, inverse->inputs[0]);
  const Node* division = match.made(value, "Div");
  return division && match.scalar(division->inputs[0]) == 1.0 ? underRoot(match, division->input(1)) : -1;
}

/// Turns `node`, which gives normalised x, into the canonical `made` that includes the following Mul and Add.
void rewriteWithAffine(const Matcher& match, Node& node, const char* made, int x, float eps) {
  const Graph& graph = match.graph();
  const std::int64_t columns = match.columns(x);
  Node* last = &node;
  const Shape shape = *graph.shape(x);
  const auto behind = [&](const char* op, float otherwise) {
    const std::vector<float> none(columns, otherwise);
    Node* next = match.onlyReader(last->outputs[0]);
    if (!next || !next->domain.empty() || next->op != op) return none;
    const int factor = Matcher::other(*next, last->outputs[0]);
    const Shape* result = graph.shape(next->outputs[0]);
    if (factor < 0 || !result || *result != shape) return none;
    const auto values = match.perColumn(factor, columns);
    if (values) last = next;
    return values.value_or(none);
  };
  const std::vector<float> weight = behind("Mul", 1), bias = behind("Add", 0);
  match.rewrite(*last, made, x, Tensor::of({columns}, weight), bias, eps);
}

/// `node`, a Div or a Mul, divides x, centred or not, by the root of its mean square plus eps.
void normOfReductions(const Matcher& match, Node& node) {
  if (node.inputs.size() != 2) return;
  for (const std::size_t by : {1, 0}) {
    const bool divides = node.op == "Div";
    if (divides && by == 0) return;
    const int divided = node.inputs[1 - by], divisor = node.inputs[by];
    const Node* add = match.made(divides ? underRoot(match, divisor) : underInverseRoot(match, divisor), "Add");
    for (const int value : add ? add->inputs : std::vector<int>()) {
      const Node* mean_square = match.made(value, "ReduceMean");
      const auto eps = match.scalar(Matcher::other(*add, value));
      if (!mean_square || !eps || !match.reducesLastAxis(*mean_square)) continue;
      const int root = match.squared(mean_square->inputs[0]), uncentred = centred(match, root);
      const bool rms = uncentred < 0;
      const int x = rms ? root : uncentred;
      if (x < 0 || match.columns(x) < 1 || (rms ? divided : centred(match, divided)) != x) continue;
      return rewriteWithAffine(match, node, rms ? "RMSNorm" : "LayerNorm", x, static_cast<float>(*eps));
    }
  }
}

/// The op, or the Div or Mul behind ReduceMean .. Sqrt, with or without affine -> LayerNorm, RMSNorm.
void layerNorm(const Matcher& match, Node& node) {
  if (node.op == "Div" || node.op == "Mul") return normOfReductions(match, node);
  const bool rms = node.op == "RMSNormalization";
  if ((!rms && node.op != "LayerNormalization") || !match.isOverLastAxis(node)) return;
  const std::int64_t columns = match.columns(node.inputs[0]);
  const auto weight = match.perColumn(node.input(1), columns);
  const auto bias = node.input(2) >= 0 ? match.perColumn(node.inputs[2], columns) : std::vector<float>(columns, 0.0f);
  if (!weight || !bias) return;
  match.rewrite(node, rms ? "RMSNorm" : "LayerNorm", node.inputs[0], Tensor::of({columns}, *weight), *bias,
                node.number("epsilon", 1e-5f));
}

/// Returns x when `value` is the length of x along the last axis, else -1.
int lengthOf(const Matcher& match, int value) {
  if (const Node* node = match.made(value, "ReduceL2")) return match.reducesLastAxis(*node) ? node->inputs[0] : -1;
  const int squares = underRoot(match, value);
  if (const Node* sum = match.made(squares, "ReduceSumSquare"))
    return match.reducesLastAxis(*sum) ? sum->inputs[0] : -1;
  const Node* sum = match.made(squares, "ReduceSum");
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

/// LpNormalization, or a division by ReduceL2 or by the root of a sum of squares, clamped or not -> L2Normalize.
void l2Norm(const Matcher& match, Node& node) {
  float eps = 0;
  const bool norm = node.op == "LpNormalization"
                        ? node.integer("p", 2) == 2 && match.isOverLastAxis(node)
                        : node.op == "Div" && node.inputs.size() == 2 && match.columns(node.inputs[0]) > 0 &&
                              dividedBy(match, node.inputs[1], eps) == node.inputs[0];
  if (norm) Matcher::rewrite(node, "L2Normalize", {node.inputs[0]}, eps);
}

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

void activationOfParts(const Matcher& match, const Node& node) {
  std::vector<int> found;
  candidates(match, node.inputs[0], 0, found);
  for (const int x : found) {
    const auto p = polynomial(match, node.inputs[0], x, -2, 8);
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

/// GELU (erf, tanh, quick), SiLU and ReLU, as one op or as several -> Activation.
void activation(const Matcher& match, Node& node) {
  const auto become = [&](const char* name) {
    Matcher::rewrite(node, "Activation", {node.inputs[0]});
    node.activation = name;
  };
  if (node.op == "Erf" || node.op == "Tanh" || node.op == "Sigmoid") {
    activationOfParts(match, node);
  } else if (node.op == "Gelu") {
    become(node.text("approximate", "none") == "tanh" ? "gelu_tanh" : "gelu_erf");
  } else if (node.op == "Relu") {
    become("relu");
  } else if (node.op == "Swish" && node.number("alpha", 1) == 1) {
    become("silu");
  }
}

}  // namespace

void canonicalise(Graph& graph) {
  for (const auto pass : {linear, layerNorm, l2Norm, activation}) {
    const Matcher match(graph);
    for (Node& node : graph.nodes) {
      const bool known = node.domain.empty() || (node.domain == "com.microsoft" && node.op == "Gelu");
      if (known && node.input(0) >= 0 && !node.outputs.empty() && node.outputs[0] >= 0) pass(match, node);
    }
    graph.dropUnused();
  }
}

}  // namespace mpm::onnx_graph
