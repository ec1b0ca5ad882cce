// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/element_functions.h"
#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"

namespace mpm::onnx_graph {
namespace {

/// MatMul, and Gemm, which may transpose its operands.
std::optional<Shape> matMulShape(const Node& node, Shape a, Shape b) {
  if (a.size() < 2 || b.size() < 2 || (node.op == "Gemm" && a.size() + b.size() > 4)) return std::nullopt;
  const std::string found = "operands " + toString(a) + " and " + toString(b);
  if (node.op == "Gemm" && node.integer("transA", 0) != 0) std::swap(a[0], a[1]);
  if (node.op == "Gemm" && node.integer("transB", 0) != 0) std::swap(b[0], b[1]);
  if (a.back() != b[b.size() - 2]) refuse(node, found, "inner sides that are equal");
  Shape shape = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  shape.push_back(a[a.size() - 2]);
  shape.push_back(b.back());
  return shape;
}

/// Convolution and pooling over the axes of `kernel`, one or two; `channels` of the output.
std::optional<Shape> slidingShape(const Node& node, const Shape& input, std::int64_t channels, const Integers& kernel) {
  const std::size_t axes = kernel.size();
  if (input.size() != axes + 2 || axes < 1 || axes > 2) return std::nullopt;
  const auto strides = node.integers("strides", Shape(axes, 1));
  const auto dilations = node.integers("dilations", Shape(axes, 1));
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const auto pads = automatic == "NOTSET" ? node.integers("pads", Shape(2 * axes, 0)) : Shape(2 * axes, 0);
  if (strides.size() != axes || dilations.size() != axes || pads.size() != 2 * axes) return std::nullopt;
  Shape shape{input[0], channels};
  shape.resize(axes + 2);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (kernel[axis] < 1) refuse(node, "an empty kernel", "at least one pixel");
    const std::int64_t reach = dilations[axis] * (kernel[axis] - 1) + 1;
    if (automatic.starts_with("SAME")) {
      shape[axis + 2] = (input[axis + 2] + strides[axis] - 1) / strides[axis];
      continue;
    }
    const std::int64_t extent = input[axis + 2] + pads[axis] + pads[axis + axes] - reach;
    if (extent < 0) refuse(node, "an image of " + toString(input), "at least one kernel");
    const bool ceil = node.integer("ceil_mode", 0) != 0;
    shape[axis + 2] = (extent + (ceil ? strides[axis] - 1 : 0)) / strides[axis] + 1;
  }
  return shape;
}

/// Throws mpm::Error unless the weights of a convolution are those of its groups: {out, in / groups} or, transposed,
/// {in, out / groups}.
void requireGroups(const Node& node, const Shape& input, const Shape& weight) {
  const std::int64_t groups = node.integer("group", 1);
  const bool transposed = node.op == "ConvTranspose";
  if (input[1] != weight[transposed ? 0 : 1] * (transposed ? 1 : groups) || weight[0] % groups != 0) {
    refuse(node,
           "weights " + toString(weight) + " for " + std::to_string(input[1]) + " channels in " +
               std::to_string(groups) + " groups",
           "weights of these groups");
  }
}

/// A side of the result of a ConvTranspose without padding, the extra pixels of output_padding included.
std::int64_t fullSide(const Node& node, const Shape& input, const Shape& weight, std::size_t axis) {
  const std::int64_t stride = node.integers("strides", {1, 1})[axis];
  const std::int64_t dilation = node.integers("dilations", {1, 1})[axis];
  const std::int64_t extra = node.integers("output_padding", {0, 0})[axis];
  return stride * (input[axis + 2] - 1) + extra + (weight[axis + 2] - 1) * dilation + 1;
}

std::optional<Shape> transposedConvShape(const Node& node, const Shape& input, const Shape& weight) {
  const auto pads = transposedPads(node, input, weight);
  if (!pads) return std::nullopt;
  requireGroups(node, input, weight);
  return Shape{input[0], weight[1] * node.integer("group", 1),
               fullSide(node, input, weight, 0) - (*pads)[0] - (*pads)[2],
               fullSide(node, input, weight, 1) - (*pads)[1] - (*pads)[3]};
}

std::optional<Shape> reducedShape(const Graph& graph, const Node& node, const Shape& input) {
  const auto axes = reducedAxes(graph, node, input.size());
  if (!axes) return std::nullopt;
  const bool keep = node.integer("keepdims", 1) != 0;
  Shape shape;
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    const bool gone = std::ranges::find(*axes, axis) != axes->end();
    if (!gone) shape.push_back(input[axis]);
    if (gone && keep) shape.push_back(1);
  }
  return shape;
}

std::optional<Shape> einsumShape(const Node& node, const Shape& a, const Shape& b) {
  const auto equation = plainEquation(node, a.size(), b.size());
  if (!equation) return std::nullopt;
  Shape shape;
  for (const char letter : equation->made) {
    const std::size_t in_left = equation->of[0].find(letter), in_right = equation->of[1].find(letter);
    if (in_left == std::string::npos && in_right == std::string::npos) return std::nullopt;
    const std::int64_t side = in_left != std::string::npos ? a[in_left] : 1;
    shape.push_back(in_right != std::string::npos && side == 1 ? b[in_right] : side);
  }
  return shape;
}

std::optional<Shape> paddedShape(const Graph& graph, const Node& node, Shape shape) {
  const auto pads = padsOf(graph, node, shape.size());
  if (!pads) return std::nullopt;
  for (std::size_t i = 0; i < pads->size(); ++i) {
    if (std::abs((*pads)[i]) > (1 << 20)) refuse(node, "a huge padding", "a sensible one");
    shape[i % shape.size()] += (*pads)[i];
  }
  return shape;
}

std::optional<Shape> topKShape(const Graph& graph, const Node& node, Shape shape) {
  const auto k = integersOf(graph, node.input(1));
  if (!k || k->size() != 1) return std::nullopt;
  shape[frontAxis(node, node.integer("axis", -1), shape.size())] = k->front();
  return shape;
}

/// DepthToSpace and SpaceToDepth.
std::optional<Shape> shuffledShape(const Node& node, const Shape& x) {
  const std::int64_t side = node.integer("blocksize", 0), area = side * side;
  if (x.size() != 4 || side < 1 || side > (1 << 10)) return std::nullopt;
  if (node.op == "DepthToSpace")
    return x[1] % area == 0 ? std::optional(Shape{x[0], x[1] / area, x[2] * side, x[3] * side}) : std::nullopt;
  return x[2] % side == 0 && x[3] % side == 0 ? std::optional(Shape{x[0], x[1] * area, x[2] / side, x[3] / side})
                                              : std::nullopt;
}

std::optional<Shape> firstShape(const Graph& graph, const Node& node) {
  const Shape* a = graph.shape(node.input(0));
  const Shape* b = graph.shape(node.input(1));
  if (!a) return std::nullopt;
  const std::string& op = node.op;
  const auto* const function = elementFunction<double>(op);
  const bool numbers = function && function->kind == FunctionKind::kNamed;  // the other operands are numbers
  if ((function && !numbers) || isOneOf(op, {"Sum", "Mean"})) {
    Shape shape = *a;
    for (const int value : node.inputs) {
      const Shape* other = graph.shape(value);
      if (!other) return std::nullopt;
      shape = broadcast(shape, *other);
    }
    return shape;
  }
  if (op == "BatchNormalization" && a->size() > 1) {
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const Shape* each = graph.shape(node.inputs[i]);
      if (each && *each != Shape{(*a)[1]}) return std::nullopt;  // another number of channels
    }
  }
  if (numbers || isOneOf(op, {"Relu", "Elu", "Gelu", "LeakyRelu", "Swish", "Cast"}) ||
      isOneOf(op, {"Softmax", "LogSoftmax", "LayerNormalization", "LpNormalization", "BatchNormalization",
                   "InstanceNormalization", "GroupNormalization", "RMSNormalization", "Trilu", "CumSum", "Attention"}))
    return *a;
  if (op == "MatMul" || op == "Gemm") return b ? matMulShape(node, *a, *b) : std::nullopt;
  if (op == "Einsum") return b && node.inputs.size() == 2 ? einsumShape(node, *a, *b) : std::nullopt;
  if (op == "Conv") {
    if (!b || b->size() < 3) return std::nullopt;
    if (a->size() == b->size()) requireGroups(node, *a, *b);
    return slidingShape(node, *a, (*b)[0], Shape(b->begin() + 2, b->end()));
  }
  if (op == "ConvTranspose") return b ? transposedConvShape(node, *a, *b) : std::nullopt;
  if (isOneOf(op, {"MaxPool", "AveragePool"}) && a->size() == 4)
    return slidingShape(node, *a, (*a)[1], node.integers("kernel_shape", {}));
  if (isOneOf(op, {"GlobalAveragePool", "GlobalMaxPool"}) && a->size() >= 2) {
    Shape shape = *a;
    std::fill(shape.begin() + 2, shape.end(), 1);
    return shape;
  }
  if (op.starts_with("Reduce") || isOneOf(op, {"ArgMax", "ArgMin"})) return reducedShape(graph, node, *a);
  if (op == "Resize") {
    auto resized = resizing(graph, node);
    return resized ? std::optional(std::move(resized->shape)) : std::nullopt;
  }
  if (op == "Pad") return paddedShape(graph, node, *a);
  if (op == "TopK") return topKShape(graph, node, *a);
  if (op == "DepthToSpace" || op == "SpaceToDepth") return shuffledShape(node, *a);
  if (op == "GridSample" && b && a->size() == 4 && b->size() == 4 && (*a)[0] == (*b)[0])
    return Shape{(*a)[0], (*a)[1], (*b)[1], (*b)[2]};
  if (op.starts_with("Gather")) return b ? gatheredShape(node, *a, *b) : std::nullopt;
  return std::nullopt;
}

}  // namespace

std::optional<Integers> padsOf(const Graph& graph, const Node& node, std::size_t rank) {
  const auto given = integersOf(graph, node.input(1)), axes = integersOf(graph, node.input(3));
  const std::size_t count = axes ? axes->size() : rank;
  if (!given || (!axes && node.input(3) >= 0) || given->size() != 2 * count) return std::nullopt;
  if (!axes) return given;
  Integers pads(2 * rank, 0);
  const std::vector<std::size_t> padded = frontAxes(node, *axes, rank);
  for (std::size_t i = 0; i < 2 * count; ++i) pads[padded[i % count] + i / count * rank] = (*given)[i];
  return pads;
}

std::optional<Integers> transposedPads(const Node& node, const Shape& input, const Shape& weight) {
  if (input.size() != 4 || weight.size() != 4) return std::nullopt;
  auto pads = node.integers("pads", {0, 0, 0, 0});
  if (pads.size() != 4) return std::nullopt;
  for (const char* name : {"strides", "dilations", "output_padding"}) {
    if (node.integers(name, {1, 1}).size() != 2) return std::nullopt;
  }
  for (const std::int64_t side : {weight[2], weight[3], input[2], input[3]})
    if (side < 1 || side > (1 << 20)) refuse(node, "a side of " + std::to_string(side), "1 to 1048576");
  const std::string automatic = node.text("auto_pad", "NOTSET");
  auto sides = node.integers("output_shape");
  if (automatic == "VALID") pads.assign(4, 0);
  if (!sides && !automatic.starts_with("SAME")) return pads;
  const auto strides = node.integers("strides", {1, 1});
  if (!sides) sides = {input[2] * strides[0], input[3] * strides[1]};
  if (sides->size() < 2) return std::nullopt;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t total =
        fullSide(node, input, weight, axis) - (sides->end() - 2)[static_cast<std::ptrdiff_t>(axis)];
    if (total < 0) refuse(node, "a side that ends behind the last window", "output_padding for what is behind it");
    pads[axis] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    pads[axis + 2] = total - pads[axis];
  }
  return pads;
}

std::optional<Equation> plainEquation(const Node& node, std::size_t left, std::size_t right) {
  std::string equation = node.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t comma = equation.find(','), arrow = std::min(equation.find("->"), equation.size());
  if (comma >= arrow || equation.find(',', comma + 1) != std::string::npos) return std::nullopt;
  std::string parts[] = {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1),
                         equation.substr(std::min(arrow + 2, equation.size()))};
  const bool dots = equation.find("...") != std::string::npos;
  // "..." stands for the axes in front that have no letter: the last of these.
  std::string front = "01234567";
  std::size_t longest = 0;
  for (std::size_t k = 0; k < 2; ++k) {
    const std::size_t at = parts[k].find("..."), rank = k == 0 ? left : right;
    const std::size_t letters = parts[k].size() - (at == std::string::npos ? 0 : 3);
    if (at == std::string::npos ? letters != rank : letters > rank || rank - letters > front.size())
      return std::nullopt;
    if (at == std::string::npos) continue;
    longest = std::max(longest, rank - letters);
    parts[k].replace(at, 3, front.substr(front.size() - (rank - letters)));
  }
  front.erase(0, front.size() - longest);
  if (arrow == equation.size()) {  // in alphabetical order, those that occur once
    std::string letters = parts[0] + parts[1];
    std::ranges::sort(letters);
    if (dots) parts[2] = front;
    for (const char letter : letters)
      if (std::ranges::count(letters, letter) == 1 && front.find(letter) == std::string::npos) parts[2] += letter;
  } else if (const std::size_t at = parts[2].find("..."); at != std::string::npos) {
    parts[2].replace(at, 3, front);
  }
  for (const std::string& part : parts) {
    for (std::size_t i = 0; i < part.size(); ++i)
      if (part[i] == '.' || part.find(part[i], i + 1) != std::string::npos) return std::nullopt;
  }
  return Equation{{parts[0], parts[1]}, parts[2]};
}

std::optional<std::vector<Shape>> inferShapes(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  if (movesData(node)) {
    if (const auto movements = moveData(graph, node, false)) {
      std::vector<Shape> shapes;
      for (const Movement& movement : *movements) shapes.push_back(movement.shape);
      return shapes;
    }
  }
  const auto shape = firstShape(graph, node);
  if (!shape) return std::nullopt;
  return std::vector<Shape>(node.op == "TopK" ? 2 : 1, *shape);
}

}  // namespace mpm::onnx_graph
