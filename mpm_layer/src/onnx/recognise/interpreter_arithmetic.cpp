// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "onnx/recognise/interpreter.h"

namespace mpm::onnx_graph {
namespace {

Cells times(Cells cells, double factor) {
  cells.scale *= factor;
  if (!cells.offset) return cells;
  std::vector<float> offset = *cells.offset;
  for (float& value : offset) value = static_cast<float>(static_cast<double>(value) * factor);
  cells.offset = shared(std::move(offset));
  return cells;
}

}  // namespace

Meaning Interpreter::arithmetic(const Node& node) {
  const Tensor* left = graph_.constant(node.inputs[0]);
  const Tensor* right = graph_.constant(node.inputs[1]);
  if (!left && !right) return ofTwo(node);
  const int value = left ? node.inputs[1] : node.inputs[0];
  if (left && (node.op == "Sub" || node.op == "Div")) return foreign(node, "a constant minus or divided by tokens");
  const Tensor& constant = left ? *left : *right;
  const bool factors = node.op == "Mul" || node.op == "Div";
  for (std::int64_t i = 0; factors && i < constant.size(); ++i) {
    if (!std::isfinite(static_cast<float>(node.op == "Mul" ? constant.at(i) : 1 / constant.at(i))))
      return foreign(node, "a factor that is not finite");
  }
  if (const ImageCells* image = as<ImageCells>(value)) return imageArithmetic(node, *image, constant);
  if (const Scores* scores = as<Scores>(value)) return scoresArithmetic(node, *scores, constant);
  if (as<Cells>(value)) return withConstant(node, value, constant);
  return foreign(node, "something else than tokens");
}

Meaning Interpreter::imageArithmetic(const Node& node, const ImageCells& image, const Tensor& constant) {
  const Shape &whole = *graph_.shape(graph_.image), &shape = image.shape;
  const std::int64_t channels = whole[1], pixels = whole[2] * whole[3];
  const Meaning refusal =
      foreign(node, "a constant that differs from pixel to pixel", "one number per channel of the image");
  if (shapeOf(node) != shape) return refusal;
  std::vector<float> values(channels);
  if (const auto number = constant.uniform()) {
    std::ranges::fill(values, static_cast<float>(*number));
  } else if (!image.ids && shape == whole) {
    try {
      values = constant.broadcastTo({1, channels, 1, 1});
    } catch (const Error&) {
      return refusal;
    }
  } else {
    elements(shape, Algebra::kMaxCells);
    const Integers from = broadcastIndices(constant.shape, shape);
    std::vector<bool> known(channels, false);
    for (std::int64_t i = 0; i < std::ssize(from); ++i) {
      const std::int64_t channel = image.id(i) / pixels;
      const auto value = static_cast<float>(constant.at(from[i]));
      if (known[channel] && values[channel] != value) return refusal;
      known[channel] = true;
      values[channel] = value;
    }
  }
  ImageCells result = image;
  for (std::size_t c = 0; c < values.size(); ++c) {
    if (node.op == "Add") result.offset[c] += values[c];
    if (node.op == "Sub") result.offset[c] -= values[c];
    if (node.op == "Mul" || node.op == "Div") {
      const float factor = node.op == "Mul" ? values[c] : 1 / values[c];
      result.scale[c] *= factor;
      result.offset[c] *= factor;
    }
  }
  return result;
}

Meaning Interpreter::withConstant(const Node& node, int value, const Tensor& constant) {
  const Cells cells = *as<Cells>(value);
  const Shape& out = shapeOf(node);
  if (elements(out) != elements(cells.shape)) return foreign(node, "tokens repeated by broadcasting");
  const auto number = constant.uniform();
  Cells result = cells;
  result.shape = out;
  if (node.op == "Mul" || node.op == "Div") {
    if (!number || *number == 0) return columnScale(node, value, constant);
    return times(std::move(result), node.op == "Mul" ? *number : 1 / *number);
  }
  if (number == 0.0) return result;
  std::vector<float> offset = constant.broadcastTo(out);
  for (std::size_t i = 0; i < offset.size(); ++i) {
    if (node.op == "Sub") offset[i] = -offset[i];
    if (cells.offset) offset[i] += (*cells.offset)[i];
  }
  result.offset = shared(std::move(offset));
  return withBias(result, node).value_or(std::move(result));
}

/// Columns of a linear layer plus one number each as those of a layer with this bias; nullopt for any other sum.
std::optional<Cells> Interpreter::withBias(const Cells& sum, const Node& node) {
  const Term& layer = algebra_.at(sum.term);
  if (layer.kind != TermKind::kLinear || sum.blend || sum.scale == 0) return std::nullopt;
  std::vector<float> added(layer.cols);
  std::vector<bool> known(layer.cols, false);
  for (std::size_t i = 0; i < sum.offset->size(); ++i) {
    const float offset = (*sum.offset)[i];
    if (sum.id(i) < 0) return std::nullopt;
    const auto column = static_cast<std::size_t>(sum.id(i) % layer.cols);
    if (known[column] && added[column] != offset) return std::nullopt;
    known[column] = true;
    added[column] = offset;
  }
  Term with = layer;
  with.node = &node;
  std::vector<float> bias = *layer.bias.floats;
  for (std::size_t i = 0; i < bias.size(); ++i)
    bias[i] += static_cast<float>(static_cast<double>(added[i]) / sum.scale);
  with.bias = Tensor::of({layer.cols}, std::move(bias));
  Cells result = sum;
  result.offset = nullptr;
  result.term = algebra_.add(std::move(with));
  return result;
}

Meaning Interpreter::columnScale(const Node& node, int value, const Tensor& constant) {
  Cells& cells = *as<Cells>(value);
  const bool per_column = !constant.shape.empty() && constant.size() == constant.shape.back() && !cells.shape.empty() &&
                          constant.shape.back() == cells.shape.back() && constant.shape.size() <= cells.shape.size();
  const auto view = per_column ? algebra_.rows(cells, node) : std::nullopt;
  if (!view) {
    std::vector<float> factors = constant.broadcastTo(shapeOf(node));
    for (float& factor : factors) factor = node.op == "Div" ? 1 / factor : factor;
    Cells result = timesEach(cells, factors);
    result.shape = shapeOf(node);
    return result;
  }
  Term term = termOf(TermKind::kScale, {view->term}, algebra_.at(view->term).rows, cells.shape.back(), node);
  std::vector<float> weight(term.cols);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double factor = constant.at(static_cast<std::int64_t>(i));
    weight[i] = static_cast<float>(node.op == "Mul" ? factor : 1 / factor);
  }
  term.weight = Tensor::of({term.cols}, std::move(weight));
  return algebra_.cells(*view, algebra_.add(std::move(term)));
}

Meaning Interpreter::negative(const Node& node) { return times(*as<Cells>(node.inputs[0]), -1); }

Meaning Interpreter::ofTwo(const Node& node) {
  const PositionLogits* positions[2] = {as<PositionLogits>(node.inputs[0]), as<PositionLogits>(node.inputs[1])};
  if (node.op == "Add" && (positions[0] || positions[1])) {
    const int other = positions[0] ? 1 : 0;
    if (const Scores* scores = as<Scores>(node.inputs[other])) return positioned(node, *scores, *positions[1 - other]);
    if (positions[other]) return sumOfPositions(node, *positions[0], *positions[1]);
  }
  Cells* left = cellsOf(node.inputs[0], node);
  Cells* right = left ? cellsOf(node.inputs[1], node) : nullptr;
  left = right ? as<Cells>(node.inputs[0]) : nullptr;
  const Shape& out = shapeOf(node);
  const bool sum = node.op == "Add" || node.op == "Sub";
  if (sum && left && (left->blend || right->blend)) {
    const bool fit = left->term == right->term && left->shape == right->shape && out == left->shape;
    if (auto result = fit ? blendedSum(*left, *right, node.op == "Add" ? 1 : -1) : std::nullopt) return *result;
    return foreign(node, "tokens times a constant that differs from token to token (mask), in a sum",
                   "rotary positions on q and k");
  }
  if ((node.op != "Add" && node.op != "Mul") || !left) {
    return foreign(node, node.op == "Add" ? "a sum with something else than tokens (mask, relative position bias)"
                                          : "a " + node.op + " of two tensors");
  }
  if (elements(left->shape) != elements(out) || elements(right->shape) != elements(out)) {
    return foreign(node, "tokens of shapes " + toString(left->shape) + " and " + toString(right->shape),
                   "equal shapes");
  }
  auto a = algebra_.rows(*left, node);
  auto b = algebra_.rows(*right, node);
  if (!a || !b) return foreign(node, "features of several tokens in one row", "one token per row");
  if (a->row_of != b->row_of || algebra_.at(a->term).rows != algebra_.at(b->term).rows) {
    a = algebra_.arranged(*a, node);
    b = algebra_.arranged(*b, node);
  }
  const Term& like = algebra_.at(a->term);
  const TermKind kind = node.op == "Add" ? TermKind::kAdd : TermKind::kMultiply;
  Cells result = algebra_.cells(*a, algebra_.add(termOf(kind, {a->term, b->term}, like.rows, like.cols, node)));
  result.shape = out;
  return result;
}

/// A node that reads something foreign: foreign too, but for tokens plus as many rows.
Meaning Interpreter::withForeign(const Node& node, const Foreign& cause) {
  if (node.op != "Add" || !node.domain.empty()) return cause;
  const bool left = as<Cells>(node.inputs[0]) != nullptr;
  const int value = node.inputs[left ? 1 : 0];
  Cells* cells = as<Cells>(node.inputs[left ? 0 : 1]);
  const Shape *added = graph_.shape(value), *out = graph_.shape(node.outputs[0]);
  if (!cells || !added || !out || *added != cells->shape || *out != cells->shape) return cause;
  const auto view = algebra_.rows(*cells, node);
  if (!view) return cause;
  const std::int64_t rows = algebra_.at(view->term).rows, cols = algebra_.at(view->term).cols;
  const std::int64_t first = view->whole() ? 0 : rows - std::ssize(view->row_of);
  if (!isCounting(view->row_of, first)) return cause;
  Term outside = termOf(TermKind::kOutside, {}, rows, cols, *cause.node);
  outside.value = value;
  outside.zeros = first;
  const int right = algebra_.add(std::move(outside));
  return algebra_.cells(*view, algebra_.add(termOf(TermKind::kAdd, {view->term, right}, rows, cols, node)));
}

Meaning Interpreter::sumOfPositions(const Node& node, const PositionLogits& left, const PositionLogits& right) const {
  auto a = broadcastParts(left, shapeOf(node));
  const auto b = broadcastParts(right, shapeOf(node));
  if (!a || !b) return foreign(node, "a sum of rearranged products", "relative positions of rows and of columns");
  a->insert(a->end(), b->begin(), b->end());
  return PositionLogits{std::move(*a), shapeOf(node)};
}

}  // namespace mpm::onnx_graph
