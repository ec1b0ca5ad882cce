// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/canonical.h"

#include <limits>

#include "onnx/recognise/matcher.h"

namespace mpm::onnx_graph {
namespace {

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

/// Returns x when `value` is the length of x along the last axis, else -1.
int lengthOf(const Matcher& match, int value) {
  if (const Node* node = match.made(value, "ReduceL2")) return match.reducesLastAxis(*node) ? node->inputs[0] : -1;
  const int squares = match.underRoot(value);
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
/// Zeros stay zeros in LpNormalization alone.
void l2Norm(const Matcher& match, Node& node) {
  float eps = node.op == "LpNormalization" ? std::numeric_limits<float>::min() : 0;
  const bool norm = node.op == "LpNormalization"
                        ? node.integer("p", 2) == 2 && match.isOverLastAxis(node)
                        : node.op == "Div" && node.inputs.size() == 2 && match.columns(node.inputs[0]) > 0 &&
                              dividedBy(match, node.inputs[1], eps) == node.inputs[0];
  if (norm) Matcher::rewrite(node, "L2Normalize", {node.inputs[0]}, eps);
}

/// exp(x) divided by its sum over the last axis, with or without the maximum subtracted, and exp(LogSoftmax(x)) ->
/// Softmax.
void softmax(const Matcher& match, Node& node) {
  if (node.op == "Exp") {
    const Node* logarithm = match.made(node.inputs[0], "LogSoftmax");
    const bool along_last =
        logarithm && match.isOverLastAxis(*logarithm) && (logarithm->attribute("axis") || match.graph().opset >= 13);
    if (along_last) match.rewriteAlongLastAxis(node, "Softmax", logarithm->inputs[0]);
    return;
  }
  if ((node.op != "Div" && node.op != "Mul") || node.inputs.size() != 2) return;
  for (const std::size_t by : {1, 0}) {
    const Node* inverse = node.op == "Mul" ? match.made(node.inputs[by], "Reciprocal") : nullptr;
    if (node.op == "Div" ? by == 0 : !inverse) continue;
    const int exponential = node.inputs[1 - by];
    const Node *sum = match.made(inverse ? inverse->inputs[0] : node.inputs[by], "ReduceSum"),
               *power = match.made(exponential, "Exp");
    if (!sum || !power || sum->inputs[0] != exponential || !match.reducesLastAxis(*sum)) continue;
    const Node* difference = match.made(power->inputs[0], "Sub");
    const Node* largest = difference ? match.made(difference->input(1), "ReduceMax") : nullptr;
    const bool shifted = largest && match.reducesLastAxis(*largest) && largest->inputs[0] == difference->inputs[0];
    return match.rewriteAlongLastAxis(node, "Softmax", shifted ? difference->inputs[0] : power->inputs[0]);
  }
}

}  // namespace

void canonicalise(Graph& graph) {
  for (const auto pass : {linear, canonicalNorm, l2Norm, canonicalActivation, softmax}) {
    const Matcher match(graph);
    for (Node& node : graph.nodes) {
      if (node.domain.empty() && node.input(0) >= 0 && !node.outputs.empty() && node.outputs[0] >= 0) pass(match, node);
    }
    graph.dropUnused();
  }
}

}  // namespace mpm::onnx_graph
