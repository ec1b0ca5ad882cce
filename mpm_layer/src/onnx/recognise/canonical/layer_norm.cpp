// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/canonical/canonical.h"

namespace mpm::onnx_graph {
namespace {

/// Returns x when `value` is x - mean(x) over the last axis, else -1.
int centred(const Matcher& match, int value) {
  const Node* sub = match.made(value, "Sub");
  if (!sub || sub->inputs.size() != 2) return -1;
  const Node* mean = match.made(sub->inputs[1], "ReduceMean");
  if (!mean || mean->inputs[0] != sub->inputs[0] || !match.reducesLastAxis(*mean)) return -1;
  return sub->inputs[0];
}

struct Deviation {
  int value = -1;  ///< sqrt(var + eps), or its reciprocal
  bool inverse = false;
};

/// The nodes that compute sqrt(var + eps), or its reciprocal.
std::vector<Deviation> deviations(const Matcher& match, int variance) {
  std::vector<Deviation> result;
  for (const Node* node : match.readers(variance)) {
    if (!node->domain.empty()) continue;
    if (node->op == "Sqrt") {
      result.push_back({node->outputs[0], false});
      for (const Node* next : match.readers(node->outputs[0])) {
        if (next->domain.empty() && next->op == "Reciprocal") result.push_back({next->outputs[0], true});
        const bool one_over = next->domain.empty() && next->op == "Div" && next->input(1) == node->outputs[0];
        if (one_over && match.scalar(next->inputs[0]) == 1.0) result.push_back({next->outputs[0], true});
      }
    }
    if (node->op == "Pow" && node->input(0) == variance) {
      const auto power = match.scalar(node->input(1));
      if (power == 0.5) result.push_back({node->outputs[0], false});
      if (power == -0.5) result.push_back({node->outputs[0], true});
    }
  }
  return result;
}

/// The node that divides x, centred unless `rms`, by its deviation, or null.
Node* quotient(const Matcher& match, const Deviation& deviation, int x, bool rms) {
  for (Node* node : match.readers(deviation.value)) {
    if (!node->domain.empty() || node->inputs.size() != 2) continue;
    const bool divides = !deviation.inverse && node->op == "Div" && node->inputs[1] == deviation.value;
    const bool multiplies = deviation.inverse && node->op == "Mul";
    if (!divides && !multiplies) continue;
    const int divided = Matcher::other(*node, deviation.value);
    if ((rms ? divided : centred(match, divided)) == x) return node;
  }
  return nullptr;
}

/// Turns `node`, which gives normalised x, into the canonical `made` that includes the following Mul and Add.
void rewriteWithAffine(const Matcher& match, Node& node, const char* made, int x, float eps) {
  Graph& graph = match.graph();
  const std::int64_t columns = match.columns(x);
  std::vector<float> weight(columns, 1.0f), bias(static_cast<std::size_t>(columns), 0.0f);
  Node* last = &node;
  std::string name = node.name;
  const Shape shape = *graph.shape(x);
  const auto behind = [&](const char* op) -> std::optional<std::vector<float>> {
    Node* next = match.onlyReader(last->outputs[0]);
    if (!next || !next->domain.empty() || next->op != op) return std::nullopt;
    const int factor = Matcher::other(*next, last->outputs[0]);
    const Shape* result = graph.shape(next->outputs[0]);
    if (factor < 0 || !result || *result != shape) return std::nullopt;
    auto values = match.perColumn(factor, columns);
    if (values) {
      name = graph.values[factor].name;
      last = next;
    }
    return values;
  };
  if (auto factors = behind("Mul")) weight = std::move(*factors);
  if (auto offsets = behind("Add")) bias = std::move(*offsets);
  const int weight_value = match.addConstant(name + ".weight", {columns}, std::move(weight));
  const int bias_value = match.addConstant(name + ".bias", {columns}, std::move(bias));
  Matcher::rewrite(*last, made, {x, weight_value, bias_value});
  last->eps = eps;
}

void fromReductions(const Matcher& match, const Node& mean_square) {
  if (!match.reducesLastAxis(mean_square)) return;
  const int root = match.squared(mean_square.inputs[0]), uncentred = centred(match, root);
  const bool rms = uncentred < 0;
  const int x = rms ? root : uncentred;
  if (x < 0 || match.columns(x) < 1) return;
  for (const Node* add : match.readers(mean_square.outputs[0])) {
    if (!add->domain.empty() || add->op != "Add") continue;
    const auto eps = match.scalar(Matcher::other(*add, mean_square.outputs[0]));
    if (!eps) continue;
    for (const Deviation& deviation : deviations(match, add->outputs[0])) {
      if (Node* node = quotient(match, deviation, x, rms)) {
        rewriteWithAffine(match, *node, rms ? "RMSNorm" : "LayerNorm", x, static_cast<float>(*eps));
        return;
      }
    }
  }
}

void fromOp(const Matcher& match, Node& node) {
  const Shape* shape = match.graph().shape(node.input(0));
  if (!shape || shape->empty()) return;
  const std::int64_t axis = node.integer("axis", -1);
  if (axis != -1 && axis != std::ssize(*shape) - 1) return;
  const std::int64_t columns = shape->back();
  auto weight = match.perColumn(node.input(1), columns);
  auto bias = node.input(2) >= 0 ? match.perColumn(node.inputs[2], columns) : std::vector<float>(columns, 0.0f);
  if (!weight || !bias) return;
  const float eps = node.number("epsilon", 1e-5f);
  const std::string name = match.graph().values[node.inputs[1]].name;
  const int weight_value = match.addConstant(name, {columns}, std::move(*weight));
  const int bias_value = match.addConstant(name + ".bias", {columns}, std::move(*bias));
  Matcher::rewrite(node, node.op == "LayerNormalization" ? "LayerNorm" : "RMSNorm",
                   {node.inputs[0], weight_value, bias_value});
  node.eps = eps;
}

}  // namespace

void canonicaliseLayerNorms(Graph& graph) {
  const Matcher match(graph);
  for (Node& node : graph.nodes) {
    if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() || node.outputs[0] < 0) continue;
    if (node.op == "ReduceMean") fromReductions(match, node);
    if (node.op == "LayerNormalization" || node.op == "RMSNormalization") fromOp(match, node);
  }
}

}  // namespace mpm::onnx_graph
