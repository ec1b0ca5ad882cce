// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"

namespace mpm::onnx_graph {
namespace {

std::optional<Shape> matMulShape(const Node& node, const Shape& a, const Shape& b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  if (a.back() != b[b.size() - 2]) {
    refuse(node, "operands " + toString(a) + " and " + toString(b), "inner sides that are equal");
  }
  Shape shape = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  shape.push_back(a[a.size() - 2]);
  shape.push_back(b.back());
  return shape;
}

std::optional<Shape> gemmShape(const Node& node, const Shape& a, const Shape& b) {
  if (a.size() != 2 || b.size() != 2) return std::nullopt;
  const bool ta = node.integer("transA", 0) != 0, tb = node.integer("transB", 0) != 0;
  if (a[ta ? 0 : 1] != b[tb ? 1 : 0]) {
    refuse(node, "operands " + toString(a) + " and " + toString(b), "inner sides that are equal");
  }
  return Shape{a[ta ? 1 : 0], b[tb ? 0 : 1]};
}

/// Convolution and pooling over two axes; `channels` of the output.
std::optional<Shape> slidingShape(const Node& node, const Shape& input, std::int64_t channels,
                                  const std::vector<std::int64_t>& kernel) {
  if (input.size() != 4 || kernel.size() != 2) return std::nullopt;
  const auto strides = node.integers("strides").value_or(std::vector<std::int64_t>{1, 1});
  const auto dilations = node.integers("dilations").value_or(std::vector<std::int64_t>{1, 1});
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const std::vector<std::int64_t> none{0, 0, 0, 0};
  const auto pads = automatic == "NOTSET" ? node.integers("pads").value_or(none) : none;
  if (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4) return std::nullopt;
  Shape shape{input[0], channels, 0, 0};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    constexpr std::int64_t kMax = 1 << 20;
    if (strides[axis] < 1 || strides[axis] > kMax || kernel[axis] < 1 || kernel[axis] > kMax || dilations[axis] < 1 ||
        dilations[axis] > kMax || pads[axis] < 0 || pads[axis] > kMax || pads[axis + 2] < 0 || pads[axis + 2] > kMax) {
      refuse(node, "a stride, kernel or padding out of range", "sensible ones");
    }
    const std::int64_t reach = dilations[axis] * (kernel[axis] - 1) + 1;
    if (automatic.starts_with("SAME")) {
      shape[axis + 2] = (input[axis + 2] + strides[axis] - 1) / strides[axis];
      continue;
    }
    const std::int64_t extent = input[axis + 2] + pads[axis] + pads[axis + 2] - reach;
    if (extent < 0) refuse(node, "an image of " + toString(input), "at least one kernel");
    const bool ceil = node.integer("ceil_mode", 0) != 0;
    shape[axis + 2] = (extent + (ceil ? strides[axis] - 1 : 0)) / strides[axis] + 1;
  }
  return shape;
}

std::optional<Shape> transposedConvShape(const Node& node, const Shape& input, const Shape& weight) {
  if (input.size() != 4 || weight.size() != 4) return std::nullopt;
  const auto strides = node.integers("strides").value_or(std::vector<std::int64_t>{1, 1});
  const auto pads = node.integers("pads").value_or(std::vector<std::int64_t>{0, 0, 0, 0});
  const auto extra = node.integers("output_padding").value_or(std::vector<std::int64_t>{0, 0});
  const auto dilations = node.integers("dilations").value_or(std::vector<std::int64_t>{1, 1});
  if (strides.size() != 2 || pads.size() != 4 || extra.size() != 2 || dilations.size() != 2 ||
      node.attribute("output_shape") || node.text("auto_pad", "NOTSET") != "NOTSET") {
    return std::nullopt;
  }
  Shape shape{input[0], weight[1] * node.integer("group", 1), 0, 0};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    constexpr std::int64_t kMax = 1 << 20;
    if (std::abs(strides[axis]) > kMax || std::abs(extra[axis]) > kMax || std::abs(dilations[axis]) > kMax ||
        std::abs(pads[axis]) > kMax || std::abs(pads[axis + 2]) > kMax || weight[axis + 2] > kMax ||
        input[axis + 2] > kMax) {
      refuse(node, "a stride, kernel or padding out of range", "sensible ones");
    }
    shape[axis + 2] = strides[axis] * (input[axis + 2] - 1) + extra[axis] + (weight[axis + 2] - 1) * dilations[axis] +
                      1 - pads[axis] - pads[axis + 2];
  }
  return shape;
}

std::optional<Shape> reducedShape(const Graph& graph, const Node& node, const Shape& input) {
  std::optional<std::vector<std::size_t>> axes;
  if (isOneOf(node.op, {"ArgMax", "ArgMin"})) {
    axes = {frontAxis(node, node.integer("axis", 0), input.size())};
  } else {
    axes = reducedAxes(graph, node, input.size());
  }
  if (!axes) return std::nullopt;
  const bool keep = node.integer("keepdims", 1) != 0;
  Shape shape;
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    const bool gone = std::find(axes->begin(), axes->end(), axis) != axes->end();
    if (!gone) shape.push_back(input[axis]);
    if (gone && keep) shape.push_back(1);
  }
  return shape;
}

std::optional<Shape> einsumShape(const Node& node, const Shape& a, const Shape& b) {
  std::string equation = node.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow) return std::nullopt;
  const std::string left = equation.substr(0, comma), right = equation.substr(comma + 1, arrow - comma - 1);
  if (left.size() != a.size() || right.size() != b.size()) return std::nullopt;
  Shape shape;
  for (const char letter : equation.substr(arrow + 2)) {
    const std::size_t in_left = left.find(letter), in_right = right.find(letter);
    if (in_left == std::string::npos && in_right == std::string::npos) return std::nullopt;
    shape.push_back(in_left != std::string::npos ? a[in_left] : b[in_right]);
  }
  return shape;
}

std::optional<Shape> firstShape(const Graph& graph, const Node& node) {
  const Shape* a = graph.shape(node.input(0));
  const Shape* b = graph.shape(node.input(1));
  if (!a) return std::nullopt;
  const std::string& op = node.op;
  if (isOneOf(op, {"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Equal", "Greater", "Less", "GreaterOrEqual",
                   "LessOrEqual", "And", "Or", "Mod", "PRelu"})) {
    return b && node.inputs.size() == 2 ? std::optional<Shape>(broadcast(*a, *b)) : std::nullopt;
  }
  if (op == "Where") {
    const Shape* c = graph.shape(node.input(2));
    return b && c ? std::optional<Shape>(broadcast(*a, broadcast(*b, *c))) : std::nullopt;
  }
  if (isOneOf(op, {"Sqrt",
                   "Erf",
                   "Tanh",
                   "Sigmoid",
                   "Relu",
                   "Neg",
                   "Exp",
                   "Log",
                   "Abs",
                   "Reciprocal",
                   "Softmax",
                   "LogSoftmax",
                   "LayerNormalization",
                   "Gelu",
                   "LpNormalization",
                   "Clip",
                   "Cast",
                   "HardSigmoid",
                   "HardSwish",
                   "LeakyRelu",
                   "Elu",
                   "Softplus",
                   "BatchNormalization",
                   "InstanceNormalization",
                   "IsNaN",
                   "Not",
                   "Floor",
                   "Ceil",
                   "Round",
                   "Sin",
                   "Cos",
                   "Mish",
                   "Swish",
                   "GroupNormalization",
                   "RMSNormalization",
                   "Trilu",
                   "CumSum",
                   "Attention"})) {
    return *a;
  }
  if (op == "MatMul") return b ? matMulShape(node, *a, *b) : std::nullopt;
  if (op == "Einsum") return b && node.inputs.size() == 2 ? einsumShape(node, *a, *b) : std::nullopt;
  if (op == "Gemm") return b ? gemmShape(node, *a, *b) : std::nullopt;
  if (op == "Conv") {
    if (!b || b->size() != 4) return std::nullopt;
    return slidingShape(node, *a, (*b)[0], {(*b)[2], (*b)[3]});
  }
  if (op == "ConvTranspose") return b ? transposedConvShape(node, *a, *b) : std::nullopt;
  if (isOneOf(op, {"MaxPool", "AveragePool"}) && a->size() == 4) {
    return slidingShape(node, *a, (*a)[1], node.integers("kernel_shape").value_or(std::vector<std::int64_t>{}));
  }
  if (isOneOf(op, {"GlobalAveragePool", "GlobalMaxPool"}) && a->size() >= 2) {
    Shape shape(a->size(), 1);
    shape[0] = (*a)[0];
    shape[1] = (*a)[1];
    return shape;
  }
  if (op.starts_with("Reduce") || isOneOf(op, {"ArgMax", "ArgMin"})) return reducedShape(graph, node, *a);
  if (op == "Resize") {
    auto resized = resizing(graph, node);
    return resized ? std::optional(std::move(resized->shape)) : std::nullopt;
  }
  if (op == "Pad") {
    const auto pads = integersOf(graph, node.input(1));
    if (!pads || pads->size() != 2 * a->size() || node.input(3) >= 0) return std::nullopt;
    Shape shape = *a;
    for (std::size_t axis = 0; axis < a->size(); ++axis) {
      const std::int64_t before = (*pads)[axis], after = (*pads)[axis + a->size()];
      if (std::max(std::abs(before), std::abs(after)) > (1 << 20)) refuse(node, "a huge padding", "a sensible one");
      shape[axis] += before + after;
    }
    return shape;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<Shape>> inferShapes(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  if (movesData(node)) {
    const auto movements = moveData(graph, node, false);
    if (!movements) return std::nullopt;
    std::vector<Shape> shapes;
    for (const Movement& movement : *movements) shapes.push_back(movement.shape);
    return shapes;
  }
  const auto shape = firstShape(graph, node);
  if (!shape) return std::nullopt;
  return std::vector<Shape>{*shape};
}

}  // namespace mpm::onnx_graph
