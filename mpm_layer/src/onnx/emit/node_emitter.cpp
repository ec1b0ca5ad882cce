// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "onnx/emit/node_emitter.h"
#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"
#include "onnx/recognise/canonical/canonical.h"
#include "onnx/recognise/terms.h"

namespace mpm::onnx_graph {
namespace {

constexpr const char* kStock = "an op that every OpenCV from 4.6 on computes right, or one of our own (docs/ops.md)";

/// True when a Resize to the nearest pixel takes the one below, which OpenCV always does, whatever nearest_mode says.
bool takesThePixelBelow(const Graph& graph, const Node& node) {
  const Resizing resized = *resizing(graph, node);
  for (const std::size_t axis : {2u, 3u}) {
    const std::int64_t inputs = (*graph.shape(node.inputs[0]))[axis];
    const auto taps = resizeTaps(node, resized, inputs, axis);
    if (!taps) return false;
    const double step = 1 / (static_cast<double>(resized.shape[axis]) / static_cast<double>(inputs));
    for (std::size_t i = 0; i < taps->size(); ++i) {
      const auto below = static_cast<std::int64_t>(std::floor(static_cast<double>(i) * step));
      if ((*taps)[i].front().index != std::min(below, inputs - 1)) return false;
    }
  }
  return true;
}

/// Automatic padding of a pooling as numbers, because OpenCV treats SAME_LOWER as SAME_UPPER.
NetWriter::Attributes spelledOut(const Graph& graph, const Node& node) {
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET") return {};
  NetWriter::Attributes result{{"pads", slidingPads(graph, node, *node.integers("kernel_shape"))},
                               {"auto_pad", std::string("NOTSET")}};
  if (automatic != "VALID") result.emplace_back("ceil_mode", std::int64_t{0});
  return result;
}

/// True when ceil_mode puts the last window outside the map. ONNX drops that window now; OpenCV does not.
bool poolsBesideTheMap(const Graph& graph, const Node& node) {
  const Shape &in = *graph.shape(node.inputs[0]), &out = *graph.shape(node.outputs[0]);
  const auto strides = node.integers("strides", {1, 1});
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const Integers none{0, 0};
  const auto pads = automatic == "NOTSET" ? node.integers("pads", none) : none;
  if (automatic.starts_with("SAME") || node.integer("ceil_mode", 0) == 0) return false;
  return (out[2] - 1) * strides[0] >= in[2] + pads[0] || (out[3] - 1) * strides[1] >= in[3] + pads[1];
}

/// True when the first side is 1. The graph was folded for one image, so that axis is the batch.
bool leads(const Shape* shape) { return shape && !shape->empty() && shape->front() == 1; }

/// True when `node` does not mix the slices of its first input along the first axis.
bool keepsSlicesApart(const Graph& graph, const Node& node) {
  const std::size_t rank = graph.shape(node.inputs[0])->size();
  const auto behind = [&](std::int64_t axis) { return frontAxis(node, axis, rank) > 0; };
  const auto all_behind = [&](const auto& axes) { return axes && std::all_of(axes->begin(), axes->end(), behind); };
  if (node.op == "Transpose") {
    const auto order = node.integers("perm");
    return order && !behind(order->front());
  }
  if (node.op == "Slice") return all_behind(attributeOrInput(graph, node, "axes", 3));
  if (node.op.starts_with("Reduce")) return all_behind(reducedAxes(graph, node, rank));
  if (isOneOf(node.op, {"Softmax", "LogSoftmax"})) return behind(node.integer("axis", graph.opset < 13 ? 1 : -1));
  if (node.op == "TopK") return behind(node.integer("axis", -1));
  if (node.op == "GatherND") return node.integer("batch_dims", 0) > 0;
  if (node.op == "Gather" && graph.constant(node.inputs[0])) return !behind(node.integer("axis", 0));
  return !isOneOf(node.op, {"Concat", "Split", "Gather", "GatherElements", "ArgMax", "ArgMin"}) ||
         behind(node.integer("axis", 0));
}

/// True when the first axis is the batch before and after `node`, and `node` does not mix its images.
bool keepsImagesApart(const Graph& graph, const Node& node) {
  const bool joins = node.op == "Concat";
  for (const int value : node.outputs) {
    if (!leads(graph.shape(value))) return false;
  }
  for (const int value : node.inputs) {
    if (value >= 0 && (graph.constant(value) ? joins : !leads(graph.shape(value)))) return false;
  }
  return keepsSlicesApart(graph, node);
}

}  // namespace

bool reshapes(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return false;
  if (isOneOf(node.op, {"Reshape", "Flatten", "Squeeze", "Unsqueeze"})) return true;
  const Shape *in = graph.shape(node.input(0)), *out = graph.shape(node.outputs[0]);
  if (node.op != "Gather" || !in || !out || elements(*in) != elements(*out)) return false;
  const auto movements = moveData(graph, node, true);
  return movements && (movements->front().in_order || isCounting(movements->front().from));
}

/// The value of which reshapes alone made input `value` of `node`, if that is a reshape too. Between them the images of
/// a batch may lie in one row.
int NodeEmitter::reshapedFrom(const Node& node, int value) const {
  const Node* maker = reshapes(graph_, node) ? graph_.producer(value) : nullptr;
  return maker && reshapes(graph_, *maker) ? reshapedFrom(*maker, maker->inputs[0]) : value;
}

/// True when all tensors of `node` have as many slices of each image along the first axis, such as its heads, and
/// `node` does not mix them.
bool NodeEmitter::keepsGroupsApart(const Node& node, const Names& inputs) const {
  const Shape* out = graph_.shape(node.outputs[0]);
  if (!out || out->empty()) return false;
  const auto fits = [&](int value) {
    const Shape* shape = graph_.shape(value);
    return shape && !shape->empty() && shape->front() == out->front();
  };
  if (!std::all_of(node.outputs.begin(), node.outputs.end(), fits)) return false;
  const bool weights = node.domain == kCanonical || node.op == "Conv" || node.op == "ConvTranspose";
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const int value = node.inputs[i];
    if (value < 0) continue;
    if (const Tensor* constant = graph_.constant(value)) {
      if (!weights && constant->shape.size() == out->size() && constant->shape.front() != 1) return false;
    } else if (!fits(value) || !groups_.contains(inputs[i])) {
      return false;
    }
  }
  return keepsSlicesApart(graph_, node);
}

/// A list of allowed operators: others may parse and still be computed wrong (docs/converter.md gives cases).
std::string NodeEmitter::stockFault(const Node& node) const {
  if (node.domain != kCanonical && !node.domain.empty()) return "an op of domain '" + node.domain + "'";
  const auto shaped = [&](int value) { return graph_.shape(value) != nullptr; };
  if (!shaped(node.input(0)) || !std::all_of(node.outputs.begin(), node.outputs.end(), shaped))
    return "a tensor of unknown shape";
  const Shape& out = *graph_.shape(node.outputs[0]);
  if (reshapes(graph_, node)) return {};
  if (node.domain == kCanonical) {
    Shape expected = *graph_.shape(node.inputs[0]);
    if (node.op == "Linear") expected.back() = out.back();
    if (out != expected) return "a result repeated by broadcasting";
    if (node.op == "L2Normalize") return "a division by a length, which OpenCV takes over the whole image";
    if (node.op == "Activation" && !isOneOf(node.activation, {"relu", "silu", "gelu_quick"}))
      return "the activation " + node.activation;
    return {};
  }
  const auto all = [](const std::optional<Integers>& values, std::int64_t expected) {
    return !values || std::all_of(values->begin(), values->end(), [expected](std::int64_t v) { return v == expected; });
  };
  if (isOneOf(node.op, {"Add", "Mul", "Sub", "Div"})) {
    const Tensor* left = graph_.constant(node.input(0));
    const Tensor* right = graph_.constant(node.input(1));
    const Tensor* constant = left ? left : right;
    if (holdsIntegers(node.inputs[0]) || holdsIntegers(node.inputs[1])) return "whole numbers";
    if (mayBeWhole(node)) return "a division of what may be whole numbers";
    if (!constant) {
      if (node.op == "Sub") return "a difference of two tensors";
      const Shape* a = graph_.shape(node.input(0));
      const Shape* b = graph_.shape(node.input(1));
      if (!a || !b || *a != *b) return "two tensors that must be broadcast";
      return {};
    }
    if (left && isOneOf(node.op, {"Sub", "Div"})) return "a constant minus or divided by a tensor";
    const bool per_channel = out.size() == 4 && constant->shape.size() >= 3 && constant->size() == out[1] &&
                             constant->shape[constant->shape.size() - 3] == out[1];
    if (constant->size() != 1 && !per_channel) return "a constant that must be broadcast";
    if (*graph_.shape(node.inputs[left ? 1 : 0]) != out) return "a tensor that must be broadcast";
    return {};
  }
  if (node.op == "Split" && !node.integers("split")) {
    for (const int value : node.outputs) {
      if (*graph_.shape(value) != out) return "a Split into parts of different sizes";
    }
  }
  if (node.op == "AveragePool") {  // OpenCV decides by the producer's name whether padding counts
    const bool padded = !all(node.integers("pads"), 0) || node.text("auto_pad", "NOTSET").starts_with("SAME");
    if (padded) return "an average over a padded map";
  }
  if (isOneOf(node.op, {"MaxPool", "AveragePool"}) && !all(node.integers("dilations"), 1))
    return "dilations, which OpenCV leaves out here";
  if (isOneOf(node.op, {"MaxPool", "AveragePool"}) && poolsBesideTheMap(graph_, node))
    return "a pool whose last window lies beside the map";
  if (node.op == "Slice") {
    if (!all(integersOf(graph_, node.input(4)), 1)) return "a slice with steps";
  }
  if (node.op == "Gather") {
    const Tensor* index = graph_.constant(node.input(1));
    if (!index || !index->ints || index->size() != 1) return "a Gather with several indices";
  }
  if (node.op == "Resize") {
    const std::string mode = node.text("mode", "nearest");
    const std::string coordinates = node.text("coordinate_transformation_mode", "half_pixel");
    const bool right = mode == "linear" ? isOneOf(coordinates, {"half_pixel", "pytorch_half_pixel", "align_corners"})
                                        : mode == "nearest" && coordinates == "asymmetric";
    if (node.integer("antialias", 0) != 0) return "an antialiasing Resize without exclude_outside";
    if (!right || out.size() != 4) return "a Resize with mode " + mode + " and coordinates " + coordinates;
    const Shape& in = *graph_.shape(node.inputs[0]);
    if (in[0] != out[0] || in[1] != out[1]) return "a Resize over channels";
    if (!resizing(graph_, node)->whole_pixels) return "scales that end within a pixel";  // the sizes are written
    if (coordinates == "pytorch_half_pixel" && (out[2] == 1 || out[3] == 1)) return "a Resize to one row or column";
    if (mode == "nearest" && !takesThePixelBelow(graph_, node))
      return "nearest_mode " + node.text("nearest_mode", "round_prefer_floor") + ", where OpenCV rounds down";
  }
  if (node.op == "Softmax") {
    const std::int64_t axis = node.integer("axis", graph_.opset < 13 ? 1 : -1);
    const auto rank = std::ssize(out);
    if (graph_.opset < 13 && axis != -1 && axis != rank - 1) return "a Softmax over several axes";
  }
  if (isOneOf(node.op, {"Conv", "ConvTranspose"})) return "weights that are not constant";  // else: mapsNode()
  if (node.op == "BatchNormalization" && !graph_.constant(node.input(1))) return "weights that are not constant";
  if (node.op == "ReduceMean" && (out.size() != 4 || graph_.shape(node.input(0))->size() != 4))
    return "a mean over other axes than those of a map";
  if (!isOneOf(node.op, {"BatchNormalization",
                         "MaxPool",
                         "AveragePool",
                         "GlobalAveragePool",
                         "Sigmoid",
                         "Tanh",
                         "Softmax",
                         "Resize",
                         "Concat",
                         "Transpose",
                         "Slice",
                         "Split",
                         "Gather",
                         "Reshape",
                         "Flatten",
                         "Squeeze",
                         "Unsqueeze",
                         "LeakyRelu",
                         "Elu",
                         "ReduceMean",
                         "Exp",
                         "Neg",
                         "Abs",
                         "Sqrt"})) {
    return "the op " + node.op;
  }
  return {};
}

std::string NodeEmitter::norm(Names inputs, const NormPart& norm, const std::string& name, std::int64_t special,
                              const std::string& out) {
  const auto width = std::ssize(norm.weight);
  inputs.push_back(net_.weights(name + ".weight", {width}, norm.weight));
  inputs.push_back(net_.weights(name + ".bias", {width}, norm.bias));
  NetWriter::Attributes attributes = {{"special_tokens", special}, {"eps", norm.eps}};
  if (norm.rms) attributes.emplace_back("rms", std::int64_t{1});
  return net_.op("TokenNorm", inputs, {out}, attributes);
}

std::string NodeEmitter::linear(Names inputs, const LinearPart& linear, const std::string& name, std::int64_t special,
                                const std::string& out) {
  inputs.push_back(net_.weights(name + ".weight", {linear.out, linear.in}, linear.weight));
  inputs.push_back(net_.weights(name + ".bias", {linear.out}, linear.bias));
  return net_.op("TokenLinear", inputs, {out}, {{"special_tokens", special}, precision_});
}

std::string NodeEmitter::reshape(const std::string& from, const Shape& in, Shape out, const std::string& to) {
  if (out.empty() || !(leads(&in) || groups_.contains(from))) {
    one_image_ = true;
  } else if (leads(&in) && leads(&out)) {
    out.front() = 0;  // the number of images of the input
  } else {
    if (!leads(&out)) groups_.insert(to);
    out.front() = -1;
  }
  const auto rank = std::ssize(out);
  return net_.stock("Reshape", {from, net_.constant(to + ".shape", Tensor::of({rank}, std::move(out)))}, {to});
}

std::string NodeEmitter::stockNode(const Node& node, const Names& inputs, const std::string& name) {
  const Shape& out = *graph_.shape(node.outputs[0]);
  if (node.domain == kCanonical && node.op == "Activation") {
    if (node.activation == "relu") return net_.stock("Relu", {inputs[0]}, {name});
    if (node.activation == "silu" || node.activation == "gelu_quick") {
      std::string inner = inputs[0];
      if (node.activation == "gelu_quick") {
        const std::string factor = net_.constant(name + ".factor", Tensor::of({}, std::vector<float>{1.702f}));
        inner = net_.stock("Mul", {inner, factor}, {net_.unique(name + ".scaled")});
      }
      const std::string gate = net_.stock("Sigmoid", {inner}, {net_.unique(name + ".sigmoid")});
      return net_.stock("Mul", {inputs[0], gate}, {name});
    }
  }
  if (node.domain == kCanonical) {
    const Shape& in = *graph_.shape(node.inputs[0]);
    const Tensor& weight = *graph_.constant(node.inputs[1]);
    const Tensor& bias = *graph_.constant(node.inputs[2]);
    const bool flat = in.size() != 2 && in.size() != 3;
    const std::int64_t width = in.back(), rows = elements(in) / std::max<std::int64_t>(width, 1);
    const Shape matrix{1, rows, width}, result{1, rows, weight.shape[0]};
    const std::string from = flat ? reshape(inputs[0], in, matrix, net_.unique(name + ".rows")) : inputs[0];
    const std::string made = flat ? net_.unique(name + ".made") : name;
    if (node.op == "Linear")
      linear({from}, {weight.shape[0], width, *weight.floats, *bias.floats}, name, 0, made);
    else
      norm({from}, {*weight.floats, *bias.floats, node.eps, node.op == "RMSNorm"}, name, 0, made);
    return flat ? reshape(made, result, out, name) : made;
  }
  if (reshapes(graph_, node)) return reshape(inputs[0], *graph_.shape(reshapedFrom(node, node.inputs[0])), out, name);
  if (node.op == "ReduceMean") {  // with a batch, OpenCV 4.6 gives the right numbers in a tensor of another rank
    const auto reduced = reducedAxes(graph_, node, graph_.shape(node.inputs[0])->size());
    const Integers axes(reduced->begin(), reduced->end());
    one_image_ = one_image_ || axes.size() > 2;  // OpenCV fails on a mean over a whole image
    const std::string mean = net_.stock("ReduceMean", {inputs[0]}, {net_.unique(name + ".mean")},
                                        {{"axes", axes}, {"keepdims", node.integer("keepdims", 1)}});
    return reshape(mean, out, out, name);
  }
  if (node.op == "Gather") {  // with a batch, OpenCV 4.6 keeps the axis; it does not support an index from the end
    Shape in = *graph_.shape(node.inputs[0]);
    const std::size_t axis = frontAxis(node, node.integer("axis", 0), in.size());
    std::int64_t index = integersOf(graph_, node.inputs[1])->front();
    if (index < 0) index += in[axis];
    in[axis] = 1;
    const auto number = [&](const char* part, std::int64_t value) {
      return net_.constant(name + part, Tensor::of({1}, Integers{value}));
    };
    const std::string slice = net_.stock("Slice",
                                         {inputs[0], number(".begin", index), number(".end", index + 1),
                                          number(".axis", static_cast<std::int64_t>(axis))},
                                         {net_.unique(name + ".slice")});
    return reshape(slice, in, out, name);
  }
  if (node.op == "Softmax") {  // the default axis changed with opset 13; OpenCV ignores the opset
    const auto axis = frontAxis(node, node.integer("axis", graph_.opset < 13 ? 1 : -1), out.size());
    return net_.stock("Softmax", {inputs[0]}, {name}, {{"axis", static_cast<std::int64_t>(axis)}});
  }
  if (isOneOf(node.op, {"MaxPool", "AveragePool"}))
    return net_.copy(*node.proto, inputs, {name}, spelledOut(graph_, node));
  if (node.op == "Resize") {
    // One row or column is repeated. OpenCV 5.0.0 would read beyond it.
    std::string from = inputs[0];
    Shape now = *graph_.shape(node.inputs[0]);
    for (const std::size_t axis : {2u, 3u}) {
      if (now[axis] != 1 || out[axis] == 1) continue;
      now[axis] = out[axis];
      from = take(from, std::vector<float>(out[axis]), axis, now == out ? name : net_.unique(name + ".repeated"));
      if (now == out) return from;
    }
    Shape sides = out;
    const std::string sizes = net_.constant(name + ".sizes", Tensor::of({4}, std::move(sides)));
    NetWriter::Attributes attributes{
        {"mode", node.text("mode", "nearest")},
        {"coordinate_transformation_mode", node.text("coordinate_transformation_mode", "half_pixel")}};
    if (node.text("mode", "nearest") == "nearest")
      attributes.emplace_back("nearest_mode", node.text("nearest_mode", "round_prefer_floor"));
    return net_.stock("Resize", {from, "", "", sizes}, {name}, attributes);
  }
  if (isOneOf(node.op, {"Add", "Mul", "Sub", "Div"})) {  // OpenCV takes a constant of rank 4 for another batch
    Names operands = inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Tensor* constant = graph_.constant(node.inputs[i]);
      if (!constant) continue;
      const Shape shape = constant->size() == 1 ? Shape{} : Shape{constant->size(), 1, 1};
      operands[i] = net_.constant(name + ".constant", constant->reshaped(shape));
    }
    return net_.copy(*node.proto, operands, {name});
  }
  return net_.copy(*node.proto, inputs, {name});
}

void NodeEmitter::write(const std::vector<int>& outputs, const Names& names, const std::string& image,
                        const Known& given) {
  std::map<int, std::string> wanted;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    wanted.emplace(outputs[i], names[i]);
    if (graph_.constant(outputs[i])) throw Error("output '" + names[i] + "' does not depend on the image");
  }
  make(outputs, wanted, image, given);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!made_.contains(outputs[i])) throw Error("output '" + names[i] + "' is made by nothing that runs at inference");
    one_image_ = one_image_ || !leads(graph_.shape(outputs[i]));
    const std::string& made = made_.at(outputs[i]);
    if (made != names[i]) net_.stock("Identity", {made}, {names[i]});
  }
}

std::string NodeEmitter::write(int value, const std::string& image, const Known& given) {
  make({value}, {}, image, given);
  return made_.at(value);
}

void NodeEmitter::make(const std::vector<int>& outputs, const std::map<int, std::string>& wanted,
                       const std::string& image, const Known& given) {
  std::set<int> needed(outputs.begin(), outputs.end());
  const auto nameFor = [&](int value) {
    const auto output = wanted.find(value);
    return output != wanted.end() ? output->second : net_.unique(prefix_ + baseName(graph_.values[value].name));
  };
  std::vector<const Node*> kept;
  std::map<const Node*, Gathered> gathers;
  for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
    bool keep = false;
    for (const int value : node->outputs) {
      if (!needed.contains(value) || made_.contains(value)) continue;
      if (const auto name = given ? given(value, [&] { return nameFor(value); }) : std::nullopt) {
        made_[value] = *name;
        continue;
      }
      keep = true;
    }
    if (!keep) continue;
    kept.push_back(&*node);
    if (auto gathered = gatheredFrom(*node)) {
      needed.insert(gathered->origin);
      gathers.emplace(&*node, std::move(*gathered));
      continue;
    }
    for (const int value : node->inputs) {
      if (value >= 0 && !graph_.constant(value)) needed.insert(reshapedFrom(*node, value));
    }
  }
  for (const int value : outputs) ++reads_[value];
  for (const Node* node : kept)
    for (const int value : node->inputs) ++reads_[value];
  if (needed.contains(graph_.image)) made_[graph_.image] = image;
  std::reverse(kept.begin(), kept.end());
  if (!kept.empty() && !one_size_) {
    refuse(*kept.front(), "a head made for one size of input", "a segmentation head, or the input size of the graph");
  }
  const auto known = [&](int value, const Node& reader) {  // for example the mask of a removed Dropout
    const auto found = made_.find(value);
    if (found == made_.end()) refuse(reader, "an input that nothing makes", kStock);
    return found->second;
  };
  for (const Node* node : kept) {
    if (const auto gathered = gathers.find(node); gathered != gathers.end()) {
      const std::string name = nameFor(node->outputs[0]);
      made_.emplace(node->outputs[0], name);
      const std::string& origin = known(gathered->second.origin, *node);
      const Shape& out = *graph_.shape(node->outputs[0]);
      if (!takeAlongAxes(gathered->second, origin, out, name) && !takeElements(gathered->second, origin, out, name))
        refuse(*node, "elements gathered one by one", kStock);
      continue;
    }
    const auto isMade = [&](int value) { return made_.contains(reshapedFrom(*node, value)); };
    if (std::none_of(node->inputs.begin(), node->inputs.end(), isMade))
      refuse(*node, "constants alone", "a tensor of the image, or constants that can be folded");
    const std::string fault = stockFault(*node);
    Names results;
    for (const int value : node->outputs) {
      // An output that exists already, restored from tokens, keeps its name.
      results.push_back(made_.contains(value) ? net_.unique(prefix_ + "unused") : nameFor(value));
      made_.emplace(value, results.back());
    }
    Names inputs;
    for (std::size_t i = 0; i < node->inputs.size() && node->domain != kCanonical; ++i) {
      const int value = node->inputs[i];
      const Tensor* constant = graph_.constant(value);
      inputs.push_back(value < 0 || (constant && !fault.empty()) ? std::string()
                       : constant ? net_.constant(prefix_ + baseName(graph_.values[value].name), *constant)
                                  : known(reshapedFrom(*node, value), *node));
    }
    if (node->domain == kCanonical) inputs.push_back(known(node->inputs[0], *node));
    if (results.size() == 1 && mapsNode(*node, inputs, results[0])) {
    } else if (!fault.empty()) {
      if (!headNode(*node, inputs, results)) refuse(*node, fault, kStock);
    } else if (node->outputs.size() == 1) {
      stockNode(*node, inputs, results[0]);
    } else {
      net_.copy(*node->proto, inputs, results);
    }
    if (reshapes(graph_, *node) || keepsImagesApart(graph_, *node)) continue;  // reshape() sees to its own
    if (keepsGroupsApart(*node, inputs))
      groups_.insert(results.begin(), results.end());
    else
      one_image_ = true;
  }
}

}  // namespace mpm::onnx_graph
