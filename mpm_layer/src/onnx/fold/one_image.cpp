// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"

namespace mpm::onnx_graph {
namespace {

/// Where the batch is in a tensor: in `axis`, `side` neighbours of which are of one image. {B, ..}, {3, B, ..}: 1;
/// {B * heads, ..}: heads.
struct BatchAxis {
  int axis = -1;  ///< -1: the tensor does not depend on the images
  std::int64_t side = 0;

  bool operator==(const BatchAxis&) const = default;
};

class BatchRemover {
 public:
  BatchRemover(Graph& graph, std::int64_t batch) : graph_(graph), batch_(batch), places_(graph.values.size()) {
    places_[graph.image] = {0, 1};
  }

  void run() {
    const auto known = [&](int value) { return value < 0 || graph_.shape(value); };
    for (Node& node : graph_.nodes) {
      if (node.dead || std::ranges::none_of(node.inputs, [&](int v) { return ofImages(v); })) continue;
      if (!std::ranges::all_of(node.inputs, known) || !std::ranges::all_of(node.outputs, known)) refuseImages(node);
      if (node.domain.empty() && movesData(node)) {
        move(node);
      } else {
        const BatchAxis place = placeOf(node);
        for (const int value : node.outputs)
          if (value >= 0) places_[value] = place;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) shorten(node, i, place);
      }
    }
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (places_[i].axis >= 0) graph_.values[i].shape.reset();
  }

 private:
  const BatchAxis& place(int value) const { return places_[value]; }
  bool ofImages(int value) const { return value >= 0 && place(value).axis >= 0; }

  [[noreturn]] void refuseImages(const Node& node) const {
    refuse(node, "a batch of " + std::to_string(batch_) + " images that is fixed in the graph and not kept apart here",
           "a model exported with one image, or with a dynamic batch axis");
  }

  /// The image of element i.
  std::int64_t imageOf(std::int64_t i, const Shape& shape, const BatchAxis& place) const {
    return i / (place.side * elementsFrom(shape, static_cast<std::size_t>(place.axis) + 1)) % batch_;
  }

  /// A node that moves elements.
  void move(Node& node) {
    const auto movements = moveData(graph_, node, true);
    if (!movements) refuseImages(node);
    std::vector<std::int32_t> image;  // of each element of the moved inputs, -1 in constants
    for (const int value : movedInputs(node)) {
      const Shape& shape = *graph_.shape(value);
      for (std::int64_t i = 0; i < elements(shape); ++i)
        image.push_back(ofImages(value) ? static_cast<std::int32_t>(imageOf(i, shape, place(value))) : -1);
    }
    for (std::size_t k = 0; k < movements->size() && k < node.outputs.size(); ++k) {
      const Movement& movement = (*movements)[k];
      const Shape& shape = movement.shape;
      std::vector<std::int32_t> moved_image = image;
      if (!movement.in_order) {
        moved_image.clear();
        for (const std::int64_t from : movement.from) moved_image.push_back(image[from]);
      }
      const BatchAxis to = placeIn(shape, moved_image);
      if (to.axis < 0 || placesAmongImages(node, shape)) refuseImages(node);
      places_[node.outputs[k]] = to;
      if (node.op == "Concat") {
        for (std::size_t i = 0; i < node.inputs.size(); ++i) shorten(node, i, to);
      } else if (node.op == "Reshape" || node.op == "Expand") {
        Shape target = shape;
        target[to.axis] /= batch_;
        const auto rank = std::ssize(target);
        replace(node, 1, Tensor::of({rank}, std::move(target)));
      }
    }
  }

  /// True when constant places are of the axis of the images, where they mean something else once it is shorter.
  bool placesAmongImages(const Node& node, const Shape& out) const {
    const Shape& in = *graph_.shape(node.inputs[0]);
    const int axis = place(node.inputs[0]).axis;
    if (node.op == "Slice") return in[axis] != out[axis];
    if (node.op == "Gather") return static_cast<int>(frontAxis(node, node.integer("axis", 0), in.size())) == axis;
    if (node.op == "GatherND") return axis < node.integer("batch_dims", 0) + graph_.shape(node.inputs[1])->back();
    return isOneOf(node.op, {"GatherElements", "ScatterElements", "ScatterND"});  // their indices have the axis too
  }

  /// Where the elements of each image lie together; axis -1: nowhere.
  BatchAxis placeIn(const Shape& shape, const std::vector<std::int32_t>& image) const {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      for (std::int64_t side = shape[axis] / batch_; side > 0; --side) {
        if (shape[axis] % (side * batch_) != 0) continue;
        const BatchAxis place{static_cast<int>(axis), side};
        std::int64_t i = 0;
        while (i < std::ssize(image) && (image[i] < 0 || image[i] == imageOf(i, shape, place))) ++i;
        if (i == std::ssize(image)) return place;
      }
    }
    return {};
  }

  /// The place of the batch in the result of a node that computes.
  BatchAxis placeOf(const Node& node) const {
    const Shape& out = *graph_.shape(node.outputs[0]);
    BatchAxis result;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!ofImages(node.inputs[i])) continue;
      const BatchAxis found{axisFrom(node, i, out), place(node.inputs[i]).side};
      if (found.axis < 0 || (result.axis >= 0 && result != found)) refuseImages(node);
      result = found;
    }
    if (result.axis >= static_cast<int>(out.size()) || out[result.axis] % (batch_ * result.side) != 0)
      refuseImages(node);
    return result;
  }

  /// The axis of the result that input `i` gives it; -1 when the node mixes images.
  int axisFrom(const Node& node, std::size_t i, const Shape& out) const {
    const Shape& in = *graph_.shape(node.inputs[i]);
    const int axis = place(node.inputs[i]).axis;
    const int rank = static_cast<int>(in.size()), aligned = axis + static_cast<int>(out.size()) - rank;
    if (!node.domain.empty()) return -1;
    if (isOneOf(node.op, {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool",
                          "Resize", "BatchNormalization", "InstanceNormalization", "GroupNormalization", "GridSample",
                          "DepthToSpace", "SpaceToDepth", "Attention"}))
      return axis == 0 ? 0 : -1;
    if (node.op == "MatMul" || node.op == "Gemm") {
      const bool rows = i == 0 && axis == rank - 2 && !ofImages(node.inputs[1]) && node.integer("transA", 0) == 0;
      return rows || axis < rank - 2 ? aligned : -1;
    }
    if (node.op == "Einsum") {
      if (node.inputs.size() != 2) return -1;
      const auto equation =
          plainEquation(node, graph_.shape(node.inputs[0])->size(), graph_.shape(node.inputs[1])->size());
      const std::size_t found =
          equation ? equation->made.find(equation->of[i][static_cast<std::size_t>(axis)]) : std::string::npos;
      return found == std::string::npos ? -1 : static_cast<int>(found);
    }
    if (node.op.starts_with("Reduce") || node.op == "ArgMax" || node.op == "ArgMin") {
      const auto axes = reducedAxes(graph_, node, in.size());
      const auto is = [&](std::size_t one) { return static_cast<int>(one) == axis; };
      if (!axes || std::ranges::any_of(*axes, is)) return -1;
      const auto before = std::ranges::count_if(*axes, [&](std::size_t one) { return static_cast<int>(one) < axis; });
      return node.integer("keepdims", 1) != 0 ? axis : axis - static_cast<int>(before);
    }
    if (isOneOf(node.op, {"Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization", "LpNormalization"})) {
      const std::int64_t otherwise = node.op.ends_with("Softmax") && graph_.opset < 13 ? 1 : -1;
      return axis < static_cast<int>(frontAxis(node, node.integer("axis", otherwise), in.size())) ? axis : -1;
    }
    if (node.op == "Pad") return out[axis] == in[axis] ? axis : -1;
    if (node.op == "TopK")
      return axis != static_cast<int>(frontAxis(node, node.integer("axis", -1), in.size())) ? axis : -1;
    // Elementwise, with broadcasting.
    return out == in || node.inputs.size() > 1 ? aligned : -1;
  }

  /// The axis of input `i` that is `axis` of the result; nullopt where it has none.
  std::optional<std::size_t> ownAxis(const Node& node, std::size_t i, std::size_t axis) const {
    const Shape &own = *graph_.shape(node.inputs[i]), &out = *graph_.shape(node.outputs[0]);
    if (node.op == "Einsum") {
      const auto equation =
          plainEquation(node, graph_.shape(node.inputs[0])->size(), graph_.shape(node.inputs[1])->size());
      const std::size_t at = equation ? equation->of[i].find(equation->made[axis]) : std::string::npos;
      return at == std::string::npos ? std::nullopt : std::optional(at);
    }
    if (own.size() > out.size() || own.size() + axis < out.size()) return std::nullopt;
    return axis + own.size() - out.size();
  }

  /// A constant operand, broadcast to the result or joined to it, that repeats its values for every image.
  void shorten(Node& node, std::size_t i, const BatchAxis& place) {
    const auto axis = static_cast<std::size_t>(place.axis);
    const Tensor* constant = graph_.constant(node.inputs[i]);
    const Shape& out = *graph_.shape(node.outputs[0]);
    if (node.op == "Resize" && i == 3 && constant) {
      Integers sizes = *constant->ints;
      const auto axes = node.integers("axes");
      for (std::size_t k = 0; k < sizes.size(); ++k)
        if ((axes ? frontAxis(node, (*axes)[k], out.size()) : k) == axis) sizes[k] /= batch_;
      return replace(node, i, Tensor::of(constant->shape, std::move(sizes)));
    }
    if (i == 1 && isOneOf(node.op, {"Conv", "ConvTranspose", "Gemm"})) return;  // weights
    if (!constant) return;
    const auto found = ownAxis(node, i, axis);
    if (!found || constant->shape[*found] != out[axis]) return;  // a weight, or broadcast
    const std::size_t own = *found;
    const BatchAxis own_place{static_cast<int>(own), place.side};
    const std::int64_t length = place.side * elementsFrom(constant->shape, own + 1);
    Shape shape = constant->shape;
    shape[own] /= batch_;
    Integers kept;
    for (std::int64_t k = 0; k < constant->size(); ++k) {
      const std::int64_t image = imageOf(k, constant->shape, own_place);
      if (image == 0)
        kept.push_back(k);
      else if (constant->at(k) != constant->at(k - image * length))
        refuseImages(node);
    }
    replace(node, i, constant->picked(std::move(shape), kept));
  }

  void replace(Node& node, std::size_t i, Tensor tensor) {
    const std::string name = graph_.values[node.inputs[i]].name;
    node.inputs[i] = graph_.addConstant(name + ".one_image", std::move(tensor));
    places_.resize(graph_.values.size());
  }

  Graph& graph_;
  std::int64_t batch_;
  std::vector<BatchAxis> places_;  ///< per value
};

}  // namespace

void keepOneImage(Graph& graph, std::int64_t batch) { BatchRemover(graph, batch).run(); }

}  // namespace mpm::onnx_graph
