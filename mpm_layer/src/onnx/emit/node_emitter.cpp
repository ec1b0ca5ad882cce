// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "onnx/emit/node_emitter.h"
#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"
#include "onnx/recognise/canonical.h"
#include "onnx/recognise/meaning.h"

namespace mpm::onnx_graph {
namespace {

constexpr const char* kStock = "an op that every OpenCV from 4.6 on computes right, or one of our own (docs/ops.md)";

/// True when the first side is 1. The graph was folded for one image, so that axis is the batch.
bool leads(const Shape* shape) { return shape && !shape->empty() && shape->front() == 1; }

/// True when `node` does not mix the slices of its first input along the first axis.
bool keepsSlicesApart(const Graph& graph, const Node& node) {
  const std::size_t rank = graph.shape(node.inputs[0])->size();
  const auto behind = [&](std::int64_t axis) { return frontAxis(node, axis, rank) > 0; };
  const auto all_behind = [&](const auto& axes) { return axes && std::ranges::all_of(*axes, behind); };
  if (node.op == "Transpose") {
    const auto order = node.integers("perm");
    return order && !behind(order->front());
  }
  if (node.op == "Slice") return all_behind(attributeOrInput(graph, node, "axes", 3));
  if (node.op.starts_with("Reduce")) return all_behind(reducedAxes(graph, node, rank));
  if (isOneOf(node.op, {"Softmax", "LogSoftmax"})) return softmaxAxes(graph, node, rank).first > 0;
  if (node.op == "TopK") return behind(node.integer("axis", -1));
  if (node.op == "GatherND") return node.integer("batch_dims", 0) > 0;
  if (node.op == "Gather" && graph.constant(node.inputs[0])) return !behind(node.integer("axis", 0));
  return !isOneOf(node.op, {"Concat", "Split", "Gather", "GatherElements", "ArgMax", "ArgMin"}) ||
         behind(node.integer("axis", 0));
}

/// True when the first axis is the batch before and after `node`, and `node` does not mix its images.
bool keepsImagesApart(const Graph& graph, const Node& node) {
  const bool joins = node.op == "Concat";
  for (const int value : node.outputs)
    if (!leads(graph.shape(value))) return false;
  for (const int value : node.inputs)
    if (value >= 0 && (graph.constant(value) ? joins : !leads(graph.shape(value)))) return false;
  return keepsSlicesApart(graph, node);
}

}  // namespace

std::pair<std::size_t, std::size_t> softmaxAxes(const Graph& graph, const Node& node, std::size_t rank) {
  const bool several = graph.opset < 13;
  const std::size_t first = frontAxis(node, node.integer("axis", several ? 1 : -1), rank);
  return {first, several ? rank - 1 : first};
}

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
  if (!std::ranges::all_of(node.outputs, fits)) return false;
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
  if (!shaped(node.input(0)) || !std::ranges::all_of(node.outputs, shaped)) return "a tensor of unknown shape";
  const Shape& out = *graph_.shape(node.outputs[0]);
  if (reshapes(graph_, node)) return {};
  if (node.domain == kCanonical) {
    Shape expected = *graph_.shape(node.inputs[0]);
    if (node.op == "Linear") expected.back() = out.back();
    if (out != expected) return "a result repeated by broadcasting";
    if (node.op == "L2Normalize") return "a division by a length, which OpenCV takes over the whole image";
    if (node.op == "Activation") return "an activation";
    return {};
  }
  // Where our own operators cannot compute these:
  if (mayBeWhole(node)) return "a " + node.op + " of what may be whole numbers";
  if (node.op.ends_with("Pool")) return "a pool whose last window lies beside the map";
  if (node.op == "Resize") {
    if (node.integer("antialias", 0) != 0) return "an antialiasing Resize without exclude_outside";
    if (const auto resized = resizing(graph_, node); resized && !resized->whole_pixels)
      return "scales that end within a pixel";
    return "a Resize with mode " + node.text("mode", "nearest") + " and coordinates " +
           node.text("coordinate_transformation_mode", "half_pixel");
  }
  if (isOneOf(node.op, {"Conv", "ConvTranspose"}))
    return out.size() == 4 ? "weights that are not constant" : "a convolution along one axis";
  if (node.op == "BatchNormalization" && !graph_.constant(node.input(1))) return "weights that are not constant";
  if (!isOneOf(node.op, {"BatchNormalization", "Sigmoid", "Tanh", "Softmax", "Concat", "Transpose", "LeakyRelu", "Elu",
                         "Exp", "Neg", "Abs", "Sqrt"}))
    return "the op " + node.op;
  return {};
}

std::string NodeEmitter::norm(Names inputs, const NormPart& norm, const std::string& name, std::int64_t special,
                              const std::string& out) {
  const auto width = std::ssize(norm.weight);
  inputs.push_back(net_.weights(name + ".weight", {width}, norm.weight));
  inputs.push_back(net_.weights(name + ".bias", {width}, norm.bias));
  NetWriter::Attributes attributes = {{"special_tokens", special}, {"eps", norm.eps}};
  if (norm.rms) attributes.emplace_back("rms", std::int64_t{1});
  return net_.op("TokenNorm", inputs, {out.empty() ? name : out}, attributes);
}

std::string NodeEmitter::linear(Names inputs, const LinearPart& linear, const std::string& name, std::int64_t special,
                                std::int64_t rows, const std::string& out) {
  inputs.push_back(net_.weights(name + ".weight", {linear.out, linear.in}, linear.weight));
  inputs.push_back(net_.weights(name + ".bias", {linear.out}, linear.bias));
  NetWriter::Attributes attributes = {{"special_tokens", special}, precision_};
  if (rows > 0) attributes.emplace_back("rows", rows);
  return net_.op("TokenLinear", inputs, {out.empty() ? name : out}, attributes);
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
      linear({from}, {weight.shape[0], width, *weight.floats, *bias.floats}, name, 0, rows, made);
    else
      norm({from}, {*weight.floats, *bias.floats, node.eps, node.op == "RMSNorm"}, name, 0, made);
    return flat ? reshape(made, result, out, name) : made;
  }
  if (reshapes(graph_, node)) return reshape(inputs[0], *graph_.shape(reshapedFrom(node, node.inputs[0])), out, name);
  if (node.op == "Softmax") {  // OpenCV ignores the opset
    const auto [first, last] = softmaxAxes(graph_, node, out.size());
    const auto softmax = [&](const std::string& from, std::size_t axis, const std::string& to) {
      return net_.stock("Softmax", {from}, {to}, {{"axis", static_cast<std::int64_t>(axis)}});
    };
    if (first == last) return softmax(inputs[0], first, name);
    Shape joined(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(first));
    if (joined.empty()) joined.push_back(1);
    joined.push_back(elementsFrom(out, first));
    const std::string rows = reshape(inputs[0], out, joined, net_.unique(name + ".rows"));
    return reshape(softmax(rows, joined.size() - 1, net_.unique(name + ".softmax")), joined, out, name);
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
    for (const int value : node->inputs)
      if (value >= 0 && !graph_.constant(value)) needed.insert(reshapedFrom(*node, value));
  }
  for (const int value : outputs) ++reads_[value];
  for (const Node* node : kept)
    for (const int value : node->inputs) ++reads_[value];
  if (needed.contains(graph_.image)) made_[graph_.image] = image;
  std::ranges::reverse(kept);
  if (!kept.empty() && !one_size_)
    refuse(*kept.front(), "a head made for one size of input",
           "a mask transformer, a linear head, a classifier or features, or the input size of the graph");
  const auto known = [&](int value, const Node& reader) {  // for example the mask of a removed Dropout
    const auto found = made_.find(value);
    if (found == made_.end()) refuse(reader, "an input that nothing makes", kStock);
    return found->second;
  };
  const auto hasNothing = [&](int value) {
    const Shape* shape = needed.contains(value) ? graph_.shape(value) : nullptr;
    return shape && elements(*shape) == 0;
  };
  for (const Node* node : kept) {
    if (std::ranges::any_of(node->outputs, hasNothing))
      refuse(*node, "a tensor without elements", "at least one element");
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
    if (std::ranges::none_of(node->inputs, isMade))
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
