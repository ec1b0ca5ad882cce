// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/canonical/canonical.h"

namespace mpm::onnx_graph {
namespace {

/// {in, out} -> {out, in}, times `factor`.
std::vector<float> transposed(const std::vector<float>& weight, std::int64_t in, std::int64_t out, float factor) {
  std::vector<float> result(weight.size());
  for (std::int64_t i = 0; i < in; ++i) {
    for (std::int64_t o = 0; o < out; ++o) {
      result[o * in + i] = factor * weight[i * out + o];
    }
  }
  return result;
}

/// Rank 2 behind sides of 1, which broadcast away.
bool isMatrix(const Tensor& tensor) {
  if (!tensor.isFloat() || tensor.shape.size() < 2) return false;
  return tensor.size() == tensor.shape.back() * tensor.shape[tensor.shape.size() - 2];
}

bool fromMatMul(const Matcher& match, Node& node) {
  const Tensor* weight = match.graph().constant(node.input(1));
  const Shape* shape = match.graph().shape(node.inputs[0]);
  if (!weight || !isMatrix(*weight) || !shape || weight->shape.size() > shape->size()) return false;
  const std::int64_t in = weight->shape[weight->shape.size() - 2], out = weight->shape.back();
  if (in < 1 || out < 1) return false;
  const std::string name = match.graph().values[node.inputs[1]].name;
  const int matrix = match.addConstant(name, {out, in}, transposed(*weight->floats, in, out, 1));
  const int bias = match.addConstant(name + ".zero_bias", {out}, std::vector<float>(out, 0.0f));
  Matcher::rewrite(node, "Linear", {node.inputs[0], matrix, bias});
  return true;
}

bool fromGemm(const Matcher& match, Node& node) {
  const Tensor* weight = match.graph().constant(node.input(1));
  if (!weight || !weight->isFloat() || weight->shape.size() != 2 || weight->size() == 0) return false;
  if (node.integer("transA", 0) != 0) return false;
  const bool transpose = node.integer("transB", 0) == 0;
  const std::int64_t out = weight->shape[transpose ? 1 : 0], in = weight->shape[transpose ? 0 : 1];
  std::vector<float> offsets(out, 0.0f);
  if (node.input(2) >= 0) {
    const auto given = match.perColumn(node.inputs[2], out);
    if (!given) return false;
    offsets = *given;
    for (float& offset : offsets) offset *= node.number("beta", 1);
  }
  const float alpha = node.number("alpha", 1);
  std::vector<float> values = transpose ? transposed(*weight->floats, in, out, alpha) : *weight->floats;
  if (!transpose && alpha != 1) {
    for (float& value : values) value *= alpha;
  }
  const std::string name = match.graph().values[node.inputs[1]].name;
  const int matrix = match.addConstant(name, {out, in}, std::move(values));
  const int bias = match.addConstant(name + ".bias", {out}, std::move(offsets));
  Matcher::rewrite(node, "Linear", {node.inputs[0], matrix, bias});
  return true;
}

/// Linear -> Add of one number per column: the Add becomes the Linear.
void absorbBias(const Matcher& match, const Node& linear) {
  Graph& graph = match.graph();
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
  const std::string name = graph.values[offset].name;
  const auto out = std::ssize(*offsets);
  const std::vector<int> inputs{linear.inputs[0], linear.inputs[1],
                                match.addConstant(name, {out}, std::move(*offsets))};
  Matcher::rewrite(*add, "Linear", inputs);
}

}  // namespace

void canonicaliseLinears(Graph& graph) {
  const Matcher match(graph);
  for (Node& node : graph.nodes) {
    if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] < 0 || node.outputs.empty()) continue;
    if ((node.op == "MatMul" && fromMatMul(match, node)) || (node.op == "Gemm" && fromGemm(match, node))) {
      absorbBias(match, node);
    }
  }
}

}  // namespace mpm::onnx_graph
