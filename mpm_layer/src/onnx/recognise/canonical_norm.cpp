// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "onnx/recognise/matcher.h"

namespace mpm::onnx_graph {
namespace {

/// Returns x when `value` is the mean of x over the last axis, else -1.
int meanOf(const Matcher& match, int value) {
  if (const Node* mean = match.made(value, "ReduceMean")) return match.reducesLastAxis(*mean) ? mean->inputs[0] : -1;
  const Node* division = match.made(value, "Div");
  const Node* sum = division ? match.made(division->inputs[0], "ReduceSum") : nullptr;
  const bool of_all = sum && match.reducesLastAxis(*sum) &&
                      match.scalar(division->input(1)) == static_cast<double>(match.columns(sum->inputs[0]));
  return of_all ? sum->inputs[0] : -1;
}

/// Returns x when `value` is x - mean(x) over the last axis, else -1.
int centred(const Matcher& match, int value) {
  const Node* difference = match.made(value, "Sub");
  if (!difference || difference->inputs.size() != 2) return -1;
  return meanOf(match, difference->inputs[1]) == difference->inputs[0] ? difference->inputs[0] : -1;
}

/// Returns x when `value` is the variance of x over the last axis, else -1: the mean square of x - mean(x), or that of
/// x minus the square of its mean, also where that is kept from falling below 0.
int varianceOf(const Matcher& match, int value) {
  if (const int x = centred(match, match.squared(meanOf(match, value))); x >= 0) return x;
  if (const Node* limit = match.made(value, "Max"); limit && limit->inputs.size() == 2) {
    for (const std::size_t i : {0, 1})
      if (match.scalar(limit->inputs[i]) == 0.0) value = limit->inputs[1 - i];
  } else if (const Node* relu = match.made(value, "Relu")) {
    value = relu->inputs[0];
  }
  const Node* difference = match.made(value, "Sub");
  if (!difference || difference->inputs.size() != 2) return -1;
  const int x = match.squared(meanOf(match, difference->inputs[0]));
  return x >= 0 && meanOf(match, match.squared(difference->inputs[1])) == x ? x : -1;
}

/// What a norm divides by: the root of the mean square of x, or of x - mean(x), plus eps; all times `length`.
struct Spread {
  int x = -1;
  bool rms = false;
  float eps = 0;
  float length = 1;

  std::vector<float> weight(const Matcher& match) const { return std::vector<float>(match.columns(x), 1 / length); }
  /// True for what such a norm divides.
  bool divides(const Matcher& match, int value) const { return rms ? value == x : centred(match, value) == x; }
};

std::optional<Spread> spreadOf(const Matcher& match, int under_root) {
  const Node* add = match.made(under_root, "Add");
  for (const int value : add ? add->inputs : std::vector<int>()) {
    const auto eps = match.scalar(Matcher::other(*add, value));
    if (!eps) continue;
    const int centre = varianceOf(match, value), x = centre >= 0 ? centre : match.squared(meanOf(match, value));
    if (x >= 0 && match.columns(x) > 0) return Spread{x, centre < 0, static_cast<float>(*eps)};
    // The length of x: the root of the sum of its squares, not of their mean.
    const Node *sum = match.made(value, "ReduceSum"), *squares = match.made(value, "ReduceSumSquare");
    if ((!sum && !squares) || !match.reducesLastAxis(sum ? *sum : *squares)) continue;
    const int of = sum ? match.squared(sum->inputs[0]) : squares->inputs[0];
    const auto width = static_cast<double>(match.columns(of));
    if (width > 0) return Spread{of, true, static_cast<float>(*eps / width), static_cast<float>(std::sqrt(width))};
  }
  return std::nullopt;
}

/// One divided by such a root, times a weight per column.
struct Factor : Spread {
  std::vector<float> weight;
};

/// `left`: how many weights it may have.
std::optional<Factor> factorOf(const Matcher& match, int value, int left = 2) {
  int under_root = -1;
  if (const Node* power = match.made(value, "Pow"))
    under_root = match.scalar(power->input(1)) == -0.5 ? power->inputs[0] : -1;
  else if (const Node* inverse = match.made(value, "Reciprocal"))
    under_root = match.underRoot(inverse->inputs[0]);
  else if (const Node* division = match.made(value, "Div"))
    under_root = match.scalar(division->inputs[0]) == 1.0 ? match.underRoot(division->input(1)) : -1;
  if (const auto spread = spreadOf(match, under_root)) return Factor{*spread, spread->weight(match)};
  const Node* product = left > 0 ? match.made(value, "Mul") : nullptr;
  for (const int part : product ? product->inputs : std::vector<int>()) {
    const int other = Matcher::other(*product, part);
    auto factor = match.graph().constant(other) ? factorOf(match, part, left - 1) : std::nullopt;
    const auto weight = factor ? match.perColumn(other, match.columns(factor->x)) : std::nullopt;
    if (!weight) continue;
    for (std::size_t i = 0; i < weight->size(); ++i) factor->weight[i] *= (*weight)[i];
    return factor;
  }
  return std::nullopt;
}

/// Turns `node`, which gives normalised x, into the canonical norm that includes the following Mul and Add.
void rewriteWithAffine(const Matcher& match, Node& node, Factor norm) {
  const Graph& graph = match.graph();
  const std::int64_t columns = match.columns(norm.x);
  Node* last = &node;
  const Shape shape = *graph.shape(norm.x);
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
  for (std::size_t i = 0; i < weight.size(); ++i) norm.weight[i] *= weight[i];
  match.rewrite(*last, norm.rms ? "RMSNorm" : "LayerNorm", norm.x, Tensor::of({columns}, norm.weight), bias, norm.eps);
}

/// x / root or x * factor, x centred or not.
void quotient(const Matcher& match, Node& node) {
  for (const std::size_t by : {1, 0}) {
    const int divided = node.inputs[1 - by], divisor = node.inputs[by];
    if (node.op == "Mul") {
      if (const auto factor = factorOf(match, divisor); factor && factor->divides(match, divided))
        return rewriteWithAffine(match, node, *factor);
    } else if (const auto spread = by == 1 ? spreadOf(match, match.underRoot(divisor)) : std::nullopt;
               spread && spread->divides(match, divided)) {
      return rewriteWithAffine(match, node, {*spread, spread->weight(match)});
    }
  }
}

/// x * factor + (bias - mean(x) * factor), as Keras writes a LayerNorm.
void foldedNorm(const Matcher& match, Node& node) {
  for (const std::size_t by : {1, 0}) {
    const Node *product = match.made(node.inputs[1 - by], "Mul"), *negative = match.made(node.inputs[by], "Neg"),
               *difference = match.made(node.inputs[by], "Sub");
    const Node* shift = match.made(negative ? negative->inputs[0] : difference ? difference->input(1) : -1, "Mul");
    if (!product || !shift) continue;
    for (const int x : product->inputs) {
      const int by_column = Matcher::other(*product, x), mean = Matcher::other(*shift, by_column);
      const auto factor = by_column >= 0 ? factorOf(match, by_column) : std::nullopt;
      if (!factor || factor->rms || factor->x != x || meanOf(match, mean) != x) continue;
      const std::int64_t columns = match.columns(x);
      const auto bias = difference ? match.perColumn(difference->inputs[0], columns)
                                   : std::optional(std::vector<float>(columns, 0.0f));
      if (!bias) continue;
      return match.rewrite(node, "LayerNorm", x, Tensor::of({columns}, factor->weight), *bias, factor->eps);
    }
  }
}

}  // namespace

void canonicalNorm(const Matcher& match, Node& node) {
  if (isOneOf(node.op, {"Div", "Mul", "Add"})) {
    if (node.inputs.size() == 2) node.op == "Add" ? foldedNorm(match, node) : quotient(match, node);
    return;
  }
  const bool rms = node.op == "RMSNormalization";
  if ((!rms && node.op != "LayerNormalization") || !match.isOverLastAxis(node)) return;
  const std::int64_t columns = match.columns(node.inputs[0]);
  const auto weight = match.perColumn(node.input(1), columns);
  const auto bias = node.input(2) >= 0 ? match.perColumn(node.inputs[2], columns) : std::vector<float>(columns, 0.0f);
  if (!weight || !bias) return;
  match.rewrite(node, rms ? "RMSNorm" : "LayerNorm", node.inputs[0], Tensor::of({columns}, *weight), *bias,
                node.number("epsilon", 1e-5f));
}

}  // namespace mpm::onnx_graph
