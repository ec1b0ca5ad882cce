// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/data_movement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace mpm::onnx_graph {
namespace {

using Movements = std::vector<Movement>;

class Mover {
 public:
  Mover(const Graph& graph, const Node& node, bool with_elements)
      : graph_(graph), node_(node), with_elements_(with_elements), shape_(*graph.shape(node.inputs[0])) {}

  using Move = std::optional<Movements> (Mover::*)() const;
  /// How each op that moves data does it.
  static const std::map<std::string, Move>& moves() {
    static const std::map<std::string, Move> kMoves = {
        {"Identity", &Mover::keep},       {"Dropout", &Mover::keep},
        {"Cast", &Mover::keep},           {"Reshape", &Mover::reshape},
        {"Flatten", &Mover::flatten},     {"Squeeze", &Mover::squeeze},
        {"Unsqueeze", &Mover::unsqueeze}, {"Transpose", &Mover::transpose},
        {"Slice", &Mover::slice},         {"Gather", &Mover::gather},
        {"GatherND", &Mover::gatherNd},   {"GatherElements", &Mover::gatherElements},
        {"Split", &Mover::split},         {"Concat", &Mover::concat},
        {"Expand", &Mover::expand},       {"Tile", &Mover::tile},
        {"ScatterND", &Mover::scatterNd}, {"ScatterElements", &Mover::scatterElements}};
    return kMoves;
  }

  std::optional<Movements> run() const { return (this->*moves().at(node_.op))(); }

 private:
  Movements inOrder(Shape shape) const {
    if (elements(shape) != elements(shape_))
      refuse(node_, "shape " + toString(shape_) + " turned into " + toString(shape), "as many elements in both");
    return {{.shape = std::move(shape), .in_order = true}};
  }

  Movement view(const Shape& shape, const Integers& stride, std::int64_t offset) const {
    Movement result{.shape = shape};
    elements(shape);
    if (with_elements_) result.from = strided(shape, stride, offset);
    return result;
  }

  void append(std::int64_t first, std::int64_t count, Movement& to) const {
    for (std::int64_t i = 0; i < count && with_elements_; ++i) to.from.push_back(first + i);
  }

  std::optional<Movements> keep() const { return inOrder(shape_); }

  std::optional<Movements> reshape() const {
    const auto target = integersOf(graph_, node_.input(1));
    if (!target) return std::nullopt;
    Shape shape = *target;
    const bool zero_is_zero = node_.integer("allowzero", 0) != 0;
    std::int64_t known = 1;
    int open = -1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 0 && !zero_is_zero) {
        if (axis >= shape_.size()) refuse(node_, "a copied side beyond the rank", "shape " + toString(shape_));
        shape[axis] = shape_[axis];
      }
      if (shape[axis] < -1 || (shape[axis] == -1 && open >= 0)) refuse(node_, "the shape " + toString(shape), "one -1");
      if (shape[axis] == -1) {
        open = static_cast<int>(axis);
      } else {
        known = elements({known, shape[axis]});
      }
    }
    const std::int64_t total = elements(shape_);
    if (open >= 0) {
      if (known == 0 || total % known != 0)
        refuse(node_, "shape " + toString(shape_), "a multiple of " + std::to_string(known) + " elements");
      shape[open] = total / known;
    }
    return inOrder(std::move(shape));
  }

  std::optional<Movements> flatten() const {
    std::int64_t axis = node_.integer("axis", 1);
    if (axis < 0) axis += std::ssize(shape_);
    if (axis < 0 || axis > std::ssize(shape_)) refuse(node_, "an axis beyond the rank", "one within");
    const auto middle = static_cast<std::size_t>(axis);
    return inOrder({elementsBefore(shape_, middle), elementsFrom(shape_, middle)});
  }

  std::optional<Movements> squeeze() const {
    const auto axes = attributeOrInput(graph_, node_, "axes", 1);
    if (!axes && node_.input(1) >= 0) return std::nullopt;
    std::vector<bool> drop(shape_.size(), false);
    for (std::size_t axis = 0; axis < shape_.size() && !axes; ++axis) drop[axis] = shape_[axis] == 1;
    for (const std::size_t axis : frontAxes(node_, axes.value_or(Integers()), shape_.size())) drop[axis] = true;
    Shape shape;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis)
      if (!drop[axis]) shape.push_back(shape_[axis]);
    return inOrder(std::move(shape));
  }

  std::optional<Movements> unsqueeze() const {
    const auto axes = attributeOrInput(graph_, node_, "axes", 1);
    if (!axes) return std::nullopt;
    std::vector<bool> added(shape_.size() + axes->size(), false);
    for (const std::size_t axis : frontAxes(node_, *axes, added.size())) added[axis] = true;
    Shape shape;
    auto side = shape_.begin();
    for (const bool is_new : added) shape.push_back(is_new ? 1 : *side++);
    return inOrder(std::move(shape));
  }

  std::optional<Movements> transpose() const {
    const std::size_t rank = shape_.size();
    Integers order(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) order[axis] = static_cast<std::int64_t>(rank - 1 - axis);
    if (const auto given = node_.integers("perm")) order = *given;
    std::vector<bool> seen(rank, false);
    const Integers stride = strides(shape_);
    Shape shape;
    Integers step;
    for (const std::int64_t axis : order) {
      const std::size_t source = frontAxis(node_, axis, rank);
      if (seen[source]) refuse(node_, "one axis twice", "a permutation");
      seen[source] = true;
      shape.push_back(shape_[source]);
      step.push_back(stride[source]);
    }
    if (shape.size() != rank)
      refuse(node_, "a permutation of " + std::to_string(shape.size()) + " axes", std::to_string(rank));
    return Movements{view(shape, step, 0)};
  }

  std::optional<Movements> slice() const {
    const auto starts = attributeOrInput(graph_, node_, "starts", 1);
    const auto ends = attributeOrInput(graph_, node_, "ends", 2);
    auto axes = attributeOrInput(graph_, node_, "axes", 3);
    auto steps = integersOf(graph_, node_.input(4));
    if (!starts || !ends || (!axes && node_.input(3) >= 0) || (!steps && node_.input(4) >= 0)) return std::nullopt;
    if (!axes) {
      axes.emplace(starts->size());
      std::iota(axes->begin(), axes->end(), 0);
    }
    if (!steps) steps.emplace(starts->size(), 1);
    if (ends->size() != starts->size() || axes->size() != starts->size() || steps->size() != starts->size())
      refuse(node_, "starts, ends, axes and steps of different lengths", "equal lengths");
    Shape shape = shape_;
    Integers stride = strides(shape_);
    std::int64_t offset = 0;
    const std::vector<std::size_t> along = frontAxes(node_, *axes, shape_.size());
    for (std::size_t i = 0; i < along.size(); ++i) {
      const std::size_t axis = along[i];
      const std::int64_t side = shape_[axis];
      const std::int64_t step = (*steps)[i];
      if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) refuse(node_, "a step of 0", "a slice");
      if (side == 0) continue;  // nothing, in either direction
      const auto wrap = [side](std::int64_t index) { return index < 0 && index >= -side ? index + side : index; };
      const bool forward = step > 0;
      const std::int64_t begin = std::clamp<std::int64_t>(wrap((*starts)[i]), 0, forward ? side : side - 1);
      const std::int64_t end = std::clamp<std::int64_t>(wrap((*ends)[i]), forward ? 0 : -1, side);
      const std::int64_t distance = forward ? end - begin : begin - end;
      const std::int64_t stride_size = forward ? step : -step;
      shape[axis] = distance <= 0 ? 0 : (distance - 1) / stride_size + 1;
      offset += begin * stride[axis];
      if (shape[axis] > 1) stride[axis] *= step;  // a step beyond the side would overflow, and is never used
    }
    return Movements{view(shape, stride, offset)};
  }

  std::optional<Movements> gatherNd() const {
    const Tensor* indices = graph_.constant(node_.input(1));
    const std::int64_t batch_dims = node_.integer("batch_dims", 0);
    if (!indices || indices->isFloat() || indices->shape.empty()) return std::nullopt;
    const auto rank = std::ssize(shape_), depth = indices->shape.back();
    const auto index_rank = std::ssize(indices->shape);
    if (batch_dims < 0 || batch_dims >= index_rank || depth < 1 || batch_dims + depth > rank ||
        !std::equal(shape_.begin(), shape_.begin() + batch_dims, indices->shape.begin()))
      refuse(node_, "indices " + toString(indices->shape) + " into " + toString(shape_), "indices within the rank");
    Movement result{.shape = *gatheredShape(node_, shape_, indices->shape)};
    elements(result.shape);
    const Integers stride = strides(shape_);
    const std::int64_t slice = elementsFrom(shape_, static_cast<std::size_t>(batch_dims + depth));
    const std::int64_t batches = elementsBefore(shape_, static_cast<std::size_t>(batch_dims));
    const std::int64_t rows = indices->size() / depth;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t first = batches > 1 ? row / (rows / batches) * (elements(shape_) / batches) : 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        const auto axis = static_cast<std::size_t>(batch_dims + k);
        first += frontIndex(node_, (*indices->ints)[row * depth + k], shape_[axis]) * stride[axis];
      }
      append(first, slice, result);
    }
    return Movements{std::move(result)};
  }

  std::optional<Movements> gather() const {
    const Tensor* indices = graph_.constant(node_.input(1));
    if (!indices || indices->isFloat()) return std::nullopt;
    const std::size_t axis = frontAxis(node_, node_.integer("axis", 0), shape_.size());
    Movement result{.shape = *gatheredShape(node_, shape_, indices->shape)};
    const std::int64_t side = shape_[axis];
    const std::int64_t inner = elementsFrom(shape_, axis + 1), outer = elementsBefore(shape_, axis);
    elements(result.shape);
    Integers front;
    for (const std::int64_t index : *indices->ints) front.push_back(frontIndex(node_, index, side));
    for (std::int64_t o = 0; o < outer; ++o)
      for (const std::int64_t index : front) append((o * side + index) * inner, inner, result);
    return Movements{std::move(result)};
  }

  std::optional<Movements> gatherElements() const {
    const Tensor* indices = graph_.constant(node_.input(1));
    if (!indices || indices->isFloat()) return std::nullopt;
    const std::size_t axis = frontAxis(node_, node_.integer("axis", 0), shape_.size());
    bool fits = indices->shape.size() == shape_.size();
    for (std::size_t k = 0; fits && k < shape_.size(); ++k) fits = k == axis || indices->shape[k] <= shape_[k];
    if (!fits) refuse(node_, "indices " + toString(indices->shape) + " into " + toString(shape_), "no larger sides");
    Integers stride = strides(shape_);
    const std::int64_t side = shape_[axis], step = stride[axis];
    stride[axis] = 0;
    Movement result = view(indices->shape, stride, 0);
    for (std::size_t i = 0; i < indices->ints->size(); ++i) {
      const std::int64_t index = frontIndex(node_, (*indices->ints)[i], side);
      if (with_elements_) result.from[i] += index * step;
    }
    return Movements{std::move(result)};
  }

  std::optional<Movements> split() const {
    auto sizes = attributeOrInput(graph_, node_, "split", 1);
    if (!sizes && node_.input(1) >= 0) return std::nullopt;
    const std::size_t axis = frontAxis(node_, node_.integer("axis", 0), shape_.size());
    const auto parts = std::ssize(node_.outputs);
    if (!sizes) {
      // Equal parts, the last one smaller where the side does not divide (opset 18).
      const std::int64_t part = (shape_[axis] + parts - 1) / parts;
      sizes.emplace(static_cast<std::size_t>(parts), part);
      sizes->back() = shape_[axis] - part * (parts - 1);
    }
    if (std::ssize(*sizes) != parts)
      refuse(node_, std::to_string(sizes->size()) + " sizes", std::to_string(parts) + ", one per output");
    const Integers stride = strides(shape_);
    Movements result;
    std::int64_t begin = 0;
    for (const std::int64_t size : *sizes) {
      if (size < 0 || size > shape_[axis] - begin) refuse(node_, "parts beyond the side", "parts that add up to it");
      Shape shape = shape_;
      shape[axis] = size;
      result.push_back(view(shape, stride, begin * stride[axis]));
      begin += size;
    }
    if (begin != shape_[axis]) refuse(node_, "parts that leave a rest", "parts that add up to the side");
    return result;
  }

  std::optional<Movements> concat() const {
    if (node_.inputs.size() == 1) return inOrder(shape_);
    const std::size_t axis = frontAxis(node_, node_.integer("axis", 0), shape_.size());
    Movement result{.shape = shape_};
    result.shape[axis] = 0;
    Integers rows;  // elements of each input from one index of the outer axes to the next
    for (const int input : node_.inputs) {
      const Shape* shape = graph_.shape(input);
      if (!shape) return std::nullopt;
      Shape rest = *shape;
      if (rest.size() == shape_.size()) rest[axis] = shape_[axis];
      if (rest != shape_)
        refuse(node_, "shapes " + toString(shape_) + " and " + toString(*shape), "equal sides beside the axis");
      result.shape[axis] += (*shape)[axis];
      rows.push_back(elementsFrom(*shape, axis));
    }
    elements(result.shape);
    const std::int64_t outer = elementsBefore(shape_, axis);
    for (std::int64_t o = 0; o < outer; ++o) {
      std::int64_t base = 0;
      for (const std::int64_t row : rows) {
        append(base + o * row, row, result);
        base += outer * row;
      }
    }
    return Movements{std::move(result)};
  }

  std::optional<Movements> expand() const {
    const auto target = integersOf(graph_, node_.input(1));
    if (!target) return std::nullopt;
    Movement result{.shape = broadcast(shape_, *target)};
    if (elements(result.shape) == elements(shape_)) return inOrder(result.shape);
    if (with_elements_) result.from = broadcastIndices(shape_, result.shape);
    return Movements{std::move(result)};
  }

  std::optional<Movements> tile() const {
    const auto repeats = integersOf(graph_, node_.input(1));
    if (!repeats) return std::nullopt;
    if (repeats->size() != shape_.size()) refuse(node_, "repeats of another rank", "one per axis");
    Movement result{.shape = shape_};
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      if ((*repeats)[axis] < 0) refuse(node_, "a negative repeat", "a positive one");
      result.shape[axis] = elements({shape_[axis], (*repeats)[axis]});
    }
    if (elements(result.shape) == elements(shape_)) return inOrder(result.shape);
    Shape apart;  // each axis as {repeats, side}
    Integers step;
    const Integers stride = strides(shape_);
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      apart.insert(apart.end(), {(*repeats)[axis], shape_[axis]});
      step.insert(step.end(), {0, stride[axis]});
    }
    if (with_elements_) result.from = strided(apart, step);
    return Movements{std::move(result)};
  }

  /// The data with each of these places taken by the next update; nullopt where two updates have one place.
  std::optional<Movements> replaced(const Integers& places) const {
    Movement result = view(shape_, strides(shape_), 0);
    std::int64_t update = elements(shape_);
    for (const std::int64_t place : places) {
      if (!with_elements_) break;
      if (result.from[place] >= elements(shape_)) return std::nullopt;
      result.from[place] = update++;
    }
    return Movements{std::move(result)};
  }

  /// The constant indices of a Scatter that replaces elements; null for any other.
  const Tensor* scatterIndices() const {
    const Tensor* indices = graph_.constant(node_.input(1));
    const bool replaces = node_.text("reduction", "none") == "none";
    return replaces && indices && indices->ints && !indices->shape.empty() && indices->size() > 0 ? indices : nullptr;
  }

  /// One index row per replaced slice, which is how exporters write `x[i] = y`.
  std::optional<Movements> scatterNd() const {
    const Tensor* indices = scatterIndices();
    const Shape* updates = graph_.shape(node_.input(2));
    const std::int64_t depth = indices ? indices->shape.back() : 0;
    if (!updates || depth < 1 || depth > std::ssize(shape_)) return std::nullopt;
    const Integers stride = strides(shape_);
    const std::int64_t slice = elementsFrom(shape_, static_cast<std::size_t>(depth)), rows = indices->size() / depth;
    if (elements(*updates) != elements({rows, slice})) refuse(node_, "updates of another size", "one slice per index");
    Integers places;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t first = 0;
      for (std::int64_t axis = 0; axis < depth; ++axis)
        first += frontIndex(node_, (*indices->ints)[row * depth + axis], shape_[axis]) * stride[axis];
      for (std::int64_t i = 0; i < slice; ++i) places.push_back(first + i);
    }
    return replaced(places);
  }

  std::optional<Movements> scatterElements() const {
    const Tensor* indices = scatterIndices();
    const Shape* updates = graph_.shape(node_.input(2));
    const std::size_t rank = shape_.size();
    if (!indices || !updates || indices->shape.size() != rank || *updates != indices->shape) return std::nullopt;
    const std::size_t along = frontAxis(node_, node_.integer("axis", 0), rank);
    const Integers stride = strides(shape_);
    Integers places;
    for (std::int64_t i = 0; i < indices->size(); ++i) {
      std::int64_t rest = i, place = 0;
      for (std::size_t axis = rank; axis-- > 0; rest /= indices->shape[axis]) {
        const std::int64_t index = axis == along ? (*indices->ints)[i] : rest % indices->shape[axis];
        place += frontIndex(node_, index, shape_[axis]) * stride[axis];
      }
      places.push_back(place);
    }
    return replaced(places);
  }

  const Graph& graph_;
  const Node& node_;
  bool with_elements_;
  const Shape& shape_;
};

}  // namespace

bool isFloatType(std::int64_t type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::DOUBLE ||
         type == onnx::TensorProto::BFLOAT16;
}

bool castsToFloat(const Node& node) { return isFloatType(node.integer("to", 0)); }

bool movesData(const Node& node) {
  return node.domain.empty() && Mover::moves().contains(node.op) && (node.op != "Cast" || castsToFloat(node));
}

std::vector<int> movedInputs(const Node& node) {
  if (node.op == "Concat") return node.inputs;
  if (node.op == "ScatterND" || node.op == "ScatterElements") return {node.input(0), node.input(2)};
  return {node.input(0)};
}

std::optional<std::vector<Movement>> moveData(const Graph& graph, const Node& node, bool with_elements) {
  if (node.outputs.empty() || node.inputs.empty()) return std::nullopt;
  for (const int value : movedInputs(node))
    if (!graph.shape(value)) return std::nullopt;
  try {
    return Mover(graph, node, with_elements).run();
  } catch (const Error& error) {
    rethrow(node, error);
  }
}

std::optional<Integers> integersOf(const Graph& graph, int value) {
  const Tensor* tensor = graph.constant(value);
  if (!tensor || tensor->isFloat()) return std::nullopt;
  return *tensor->ints;
}

std::size_t frontAxis(const Node& node, std::int64_t axis, std::size_t rank) {
  const auto sides = static_cast<std::int64_t>(rank);
  if (axis < -sides || axis >= sides)
    refuse(node, "axis " + std::to_string(axis), "one within rank " + std::to_string(rank));
  return static_cast<std::size_t>(axis < 0 ? axis + sides : axis);
}

std::vector<std::size_t> frontAxes(const Node& node, const Integers& axes, std::size_t rank) {
  std::vector<std::size_t> front;
  for (const std::int64_t axis : axes) {
    front.push_back(frontAxis(node, axis, rank));
    if (std::ranges::count(front, front.back()) > 1) refuse(node, "one axis twice", "axes that differ");
  }
  return front;
}

std::int64_t frontIndex(const Node& node, std::int64_t index, std::int64_t side) {
  if (index < -side || index >= side)
    refuse(node, "index " + std::to_string(index), "one below " + std::to_string(side));
  return index < 0 ? index + side : index;
}

std::optional<Shape> gatheredShape(const Node& node, const Shape& x, const Shape& indices) {
  if (node.op == "GatherElements") return indices.size() == x.size() ? std::optional(indices) : std::nullopt;
  Shape shape;
  std::size_t behind = 0;  // the axes of x from here on are those of a slice
  if (node.op == "Gather") {
    behind = frontAxis(node, node.integer("axis", 0), x.size()) + 1;
    shape.assign(x.begin(), x.begin() + behind - 1);
    shape.insert(shape.end(), indices.begin(), indices.end());
  } else {
    const std::int64_t batch_dims = node.integer("batch_dims", 0), rank = std::ssize(x);
    if (indices.empty() || batch_dims < 0 || batch_dims > rank || indices.back() < 1 ||
        indices.back() > rank - batch_dims)
      return std::nullopt;
    behind = static_cast<std::size_t>(batch_dims + indices.back());
    shape.assign(indices.begin(), indices.end() - 1);
  }
  shape.insert(shape.end(), x.begin() + behind, x.end());
  return shape;
}

std::optional<Integers> attributeOrInput(const Graph& graph, const Node& node, const char* attribute,
                                         std::size_t input) {
  if (auto given = node.integers(attribute)) return given;
  return integersOf(graph, node.input(input));
}

}  // namespace mpm::onnx_graph
