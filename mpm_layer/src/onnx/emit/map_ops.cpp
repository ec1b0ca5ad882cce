// SPDX-License-Identifier: Apache-2.0
// Operators on maps {B, C, H, W} that some OpenCV lacks or computes wrong, in terms of a few operators of our own
// (docs/ops.md, "Heads") or of stock ones that every OpenCV computes right.
#include <algorithm>
#include <numeric>

#include "onnx/emit/node_emitter.h"

namespace mpm::onnx_graph {
namespace {

/// The element that stands at `place` of an axis that is padded; -1: the fill value.
std::int64_t paddedFrom(std::int64_t place, std::int64_t side, const std::string& mode) {
  if (place >= 0 && place < side) return place;
  if (mode == "edge") return place < 0 ? 0 : side - 1;
  if (mode == "constant") return -1;
  const std::int64_t period = mode == "wrap" ? side : std::max<std::int64_t>(2 * (side - 1), 1);
  place = (place % period + period) % period;
  return place < side ? place : period - place;
}

}  // namespace

Integers slidingPads(const Graph& graph, const Node& node, const Shape& kernel) {
  const std::string automatic = node.text("auto_pad", "NOTSET");
  Integers pads(4, 0);
  if (automatic == "NOTSET") return node.integers("pads", pads);
  if (automatic == "VALID") return pads;
  const Shape &in = *graph.shape(node.inputs[0]), &out = *graph.shape(node.outputs[0]);
  const auto strides = node.integers("strides", {1, 1}), dilations = node.integers("dilations", {1, 1});
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t reach = (out[axis + 2] - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] + 1;
    const std::int64_t padding = std::max<std::int64_t>(reach - in[axis + 2], 0), less = padding / 2;
    pads[axis] = automatic == "SAME_LOWER" ? padding - less : less;
    pads[axis + 2] = padding - pads[axis];
  }
  return pads;
}

std::string NodeEmitter::windows(const std::string& x, const std::vector<std::vector<Tap>>& taps, std::size_t axis,
                                 bool largest, const std::string& name) {
  one_image_ = one_image_ || axis == 0;
  std::size_t width = 0;
  for (const auto& each : taps) width = std::max(width, each.size());
  std::vector<float> indices, weights;
  for (const auto& each : taps) {
    for (std::size_t t = 0; t < width; ++t) {  // those that are missing repeat the first, with a weight of 0
      const bool there = t < each.size();
      indices.push_back(static_cast<float>(each[there ? t : 0].index));
      weights.push_back(there ? static_cast<float>(each[t].weight) : 0.0f);
    }
  }
  if (width == 1 && std::ranges::all_of(weights, [](float weight) { return weight == 1; }))
    return take(x, std::move(indices), axis, name);
  const Shape shape{std::ssize(taps), static_cast<std::int64_t>(width)};
  Names operands{x, net_.constant(name + ".indices", Tensor::of(shape, std::move(indices)))};
  Integers places{1};
  if (!largest) {
    operands.push_back(net_.constant(name + ".weights", Tensor::of(shape, std::move(weights))));
    places.push_back(2);
  }
  return net_.op("HeadWindow", operands, {name},
                 {{"function", std::string(largest ? "Max" : "Sum")},
                  {"axis", static_cast<std::int64_t>(axis)},
                  {"constants", places}});
}

bool NodeEmitter::resize(const Node& node, const std::string& x, const std::string& name, bool last) {
  const auto resized = resizing(graph_, node);
  if (!resized || mayBeWhole(node)) return false;
  const Shape& in = *graph_.shape(node.inputs[0]);
  std::vector<std::pair<std::size_t, std::vector<std::vector<Tap>>>> axes;
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    auto taps = resizeTaps(node, *resized, in[axis], axis);
    if (!taps || taps->empty()) return false;
    if (in[axis] == resized->shape[axis] && resized->scale[axis] == 1) continue;
    axes.emplace_back(axis, std::move(*taps));
  }
  if (axes.empty()) net_.stock("Identity", {x}, {name});
  std::string now = x;
  for (const auto& [axis, taps] : axes) {
    now = windows(now, taps, last && axis > 0 ? (axis + 1) % 3 + 1 : axis, false,
                  axis == axes.back().first ? name : net_.unique(name + ".resized"));
  }
  return true;
}

bool NodeEmitter::pad(const Node& node, const std::string& x, const std::string& name) {
  const Shape &in = *graph_.shape(node.inputs[0]), &out = *graph_.shape(node.outputs[0]);
  const std::string mode = node.text("mode", "constant");
  const auto pads = padsOf(graph_, node, in.size());
  const Tensor* value = graph_.constant(node.input(2));
  if (!pads || !isOneOf(mode, {"constant", "reflect", "edge", "wrap"}) ||
      (value ? value->size() != 1 : node.input(2) >= 0))
    return false;
  const auto changes = [&](std::size_t axis) { return out[axis] != in[axis] || (*pads)[axis] != 0; };
  std::size_t end = in.size();  // behind the last axis that changes
  while (end > 0 && !changes(end - 1)) --end;
  std::string made = x;
  for (std::size_t axis = 0; axis < end; ++axis) {
    if (!changes(axis)) continue;
    // Negative padding cuts off, and what is left is padded.
    const std::int64_t front = (*pads)[axis], cut = std::max<std::int64_t>(-front, 0);
    const std::int64_t left = in[axis] - cut - std::max<std::int64_t>(in[axis] + front - out[axis], 0);
    if (left <= 0) return false;
    std::vector<float> indices;
    for (std::int64_t k = 0; k < out[axis]; ++k) {
      const std::int64_t from = paddedFrom(k - std::max<std::int64_t>(front, 0), left, mode);
      indices.push_back(static_cast<float>(from < 0 ? from : cut + from));
    }
    made = take(made, std::move(indices), axis, axis + 1 == end ? name : net_.unique(name + ".padded"),
                value ? static_cast<float>(value->at(0)) : 0.0f);
  }
  if (end == 0) net_.stock("Identity", {x}, {name});
  return true;
}

/// Sums and largest elements of a window are taken along one axis after the other.
bool NodeEmitter::pool(const Node& node, const std::string& x, const std::string& name) {
  const Shape &in = *graph_.shape(node.inputs[0]), &out = *graph_.shape(node.outputs[0]);
  const auto kernel = node.integers("kernel_shape");
  if (!kernel || kernel->size() != 2 || in.size() != 4 || node.outputs.size() != 1) return false;
  const Integers pads = slidingPads(graph_, node, *kernel);
  const auto strides = node.integers("strides", {1, 1}), dilations = node.integers("dilations", {1, 1});
  const bool largest = node.op == "MaxPool", counts_padding = node.integer("count_include_pad", 0) != 0;
  std::vector<std::vector<Tap>> taps[2];
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t side = in[axis + 2];
    for (std::int64_t i = 0; i < out[axis + 2]; ++i) {
      std::vector<Tap> window;
      std::int64_t count = 0;
      for (std::int64_t k = 0; k < (*kernel)[axis]; ++k) {
        const std::int64_t place = i * strides[axis] - pads[axis] + k * dilations[axis];
        const bool inside = place >= 0 && place < side;
        if (inside) window.push_back({place, 1});
        if (inside || (counts_padding && place < side + pads[axis + 2])) ++count;
      }
      if (window.empty()) return false;
      for (Tap& tap : window) tap.weight = 1 / static_cast<double>(count);
      taps[axis].push_back(std::move(window));
    }
  }
  windows(windows(x, taps[0], 1, largest, net_.unique(name + ".columns")), taps[1], 2, largest, name);
  return true;
}

bool NodeEmitter::normalize(const Node& node, const std::string& x, const std::string& name) {
  const Shape& in = *graph_.shape(node.inputs[0]);
  const Tensor *scale = graph_.constant(node.input(1)), *offset = graph_.constant(node.input(2));
  if (!scale || !offset || in.size() < 3) return false;
  const std::int64_t channels = in[1];
  const std::int64_t groups = node.op == "GroupNormalization" ? node.integer("num_groups", 0) : channels;
  // Before opset 21, the scale and the offset of a GroupNormalization are those of its groups.
  const std::int64_t given = graph_.opset < 21 ? groups : channels;
  if (groups < 1 || channels % groups != 0 || scale->size() != given || offset->size() != given) return false;
  const auto perChannel = [&](const Tensor& tensor) {
    std::vector<float> values;
    for (std::int64_t c = 0; c < channels; ++c) values.push_back(static_cast<float>(tensor.at(c / (channels / given))));
    return values;
  };
  const std::vector<float> factors = perChannel(*scale), offsets = perChannel(*offset);
  net_.op("HeadNormalize",
          {x, net_.weights(name + ".scale", {1, channels}, factors),
           net_.weights(name + ".offset", {1, channels}, offsets)},
          {name}, {{"groups", groups}, {"eps", node.number("epsilon", 1e-5f)}, {"constants", Integers{1, 2}}});
  return true;
}

std::string NodeEmitter::shuffle(const Node& node, const std::string& x, const std::string& name) {
  const Shape &in = *graph_.shape(node.inputs[0]), &out = *graph_.shape(node.outputs[0]);
  const std::int64_t side = node.integer("blocksize", 1);
  Shape apart{in[0], side, side, out[1], in[2], in[3]};  // channels of a pixel by row and column of its block
  Integers order{0, 3, 4, 1, 5, 2};
  if (node.op == "SpaceToDepth") {
    apart = {in[0], in[1], out[2], side, out[3], side};
    order = {0, 3, 5, 1, 2, 4};
  } else if (node.text("mode", "DCR") == "CRD") {
    apart = {in[0], out[1], side, side, in[2], in[3]};
    order = {0, 1, 4, 2, 5, 3};
  }
  Shape moved;
  for (const std::int64_t axis : order) moved.push_back(apart[axis]);
  const std::string blocks = reshape(x, in, apart, net_.unique(name + ".blocks"));
  const std::string made = net_.stock("Transpose", {blocks}, {net_.unique(name + ".moved")}, {{"perm", order}});
  return reshape(made, moved, out, name);
}

bool NodeEmitter::mapNode(const Node& node, const Names& inputs, const Names& names) {
  if (node.op == "Resize") return resize(node, inputs[0], names[0]);
  if (node.op == "Pad") return pad(node, inputs[0], names[0]);
  if (node.op == "InstanceNormalization" || node.op == "GroupNormalization")
    return normalize(node, inputs[0], names[0]);
  if (node.op == "DepthToSpace" || node.op == "SpaceToDepth") {
    shuffle(node, inputs[0], names[0]);
    return true;
  }
  if (!isOneOf(node.op, {"GlobalAveragePool", "GlobalMaxPool"})) return false;
  Integers axes(graph_.shape(node.inputs[0])->size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  const std::string function = node.op == "GlobalMaxPool" ? "ReduceMax" : "ReduceMean";
  net_.op("HeadReduce", {inputs[0]}, {names[0]}, {{"function", function}, {"axes", axes}});
  return !axes.empty();
}

}  // namespace mpm::onnx_graph
