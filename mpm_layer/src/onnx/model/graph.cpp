// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/graph.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "onnx/model/data_movement.h"
#include "onnx/model/fused_ops.h"
#include "onnx/model/graph_proto.h"
#include "onnx/model/model_file.h"

namespace mpm::onnx_graph {
namespace {

// Functions that call functions can create any number of nodes from a file of a few kB.
constexpr std::size_t kMaxNodes = 1'000'000;
constexpr std::size_t kMaxInlinedBytes = std::size_t{1} << 30;
constexpr int kDeepestCall = 32;

using Scope = std::unordered_map<std::string, int>;
using Attributes = std::unordered_map<std::string, onnx::AttributeProto>;

void requireFinite(const Tensor& tensor, const std::string& what) {
  // Scalars are limits (Clip to infinity, a mask's -inf), not weights.
  if (!tensor.isFloat() || tensor.size() <= 1) return;
  for (const float value : *tensor.floats)
    if (!std::isfinite(value)) throw Error(what + " holds a NaN or an infinity, expected finite weights");
}

/// The inputs of an operator of the default domain that the converter reads by position are as many as ONNX requires.
void requireInputs(const Node& node) {
  const bool two = isOneOf(node.op, {"Add", "Sub", "Mul", "Div", "Mod", "Pow", "And", "Or", "Equal", "Greater", "Less",
                                     "GreaterOrEqual", "LessOrEqual", "Expand", "Gather", "MatMul", "Tile"});
  const bool more = isOneOf(node.op, {"Conv", "ConvTranspose", "Gemm", "LayerNormalization"});
  const bool three = isOneOf(node.op, {"Attention", "Range", "ScatterElements", "ScatterND", "Where"});
  const std::size_t least = three ? 3 : two || more ? 2 : node.op == "Constant" ? 0 : 1;
  if (!node.domain.empty()) return;
  for (std::size_t i = 0; i < least; ++i)
    if (node.input(i) < 0) refuse(node, "no input " + std::to_string(i), std::to_string(least) + " inputs");
  if (two && node.inputs.size() > 2) refuse(node, std::to_string(node.inputs.size()) + " inputs", "2 inputs");
}

/// A local function, and the defaults of its attributes.
struct Function {
  const onnx::FunctionProto* proto = nullptr;
  Attributes defaults;
};

/// Field attribute_proto, by its number: the headers of ONNX 1.12 do not have it, but keep its bytes.
Attributes defaultsOf(const onnx::FunctionProto& function) {
  constexpr int kAttributeProto = 11;
  Attributes defaults;
  google::protobuf::UnknownFieldSet fields;
  fields.ParseFromString(function.SerializeAsString());
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() != kAttributeProto) continue;
    onnx::AttributeProto attribute;
    if (field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED ||
        !attribute.ParseFromString(field.length_delimited()))
      throw Error("function '" + function.name() + "': the default of an attribute cannot be read");
    defaults[attribute.name()] = attribute;
  }
  return defaults;
}

/// The nodes of a graph so that each comes behind those whose outputs it reads, else in their order. ONNX asks for
/// that, but tools that make a graph fp16 put their Casts at its end. Nodes that read each other stay in their order.
std::vector<const onnx::NodeProto*> inOrder(const onnx::GraphProto& graph) {
  std::unordered_map<std::string_view, int> maker;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string& made : graph.node(i).output()) maker.try_emplace(made, i);
  const std::function<void(const onnx::NodeProto&, std::vector<int>&)> addMakers = [&](const onnx::NodeProto& node,
                                                                                       std::vector<int>& makers) {
    for (const std::string& name : node.input())
      if (const auto found = maker.find(name); !name.empty() && found != maker.end()) makers.push_back(found->second);
    for (const onnx::AttributeProto& attribute : node.attribute())  // the branches of an If read what is around it
      for (const onnx::NodeProto& inner : attribute.g().node()) addMakers(inner, makers);
  };
  std::vector<const onnx::NodeProto*> ordered;
  enum class State : char { kNew, kOpen, kDone };
  std::vector<State> states(static_cast<std::size_t>(graph.node_size()), State::kNew);
  std::vector<int> stack;
  for (int first = 0; first < graph.node_size(); ++first) {
    stack.push_back(first);
    while (!stack.empty()) {
      const int node = stack.back();
      State& state = states[static_cast<std::size_t>(node)];
      if (state == State::kNew) {
        state = State::kOpen;
        std::vector<int> makers;
        addMakers(graph.node(node), makers);
        for (auto one = makers.rbegin(); one != makers.rend(); ++one)
          if (states[static_cast<std::size_t>(*one)] == State::kNew) stack.push_back(*one);
        continue;
      }
      if (state == State::kOpen) ordered.push_back(&graph.node(node));
      state = State::kDone;
      stack.pop_back();
    }
  }
  return ordered;
}

class Reader {
 public:
  Reader(onnx::ModelProto& model, const std::filesystem::path& folder) : model_(model), folder_(folder) {
    graph_.inlined = std::make_shared<std::deque<onnx::NodeProto>>();
    graph_.opset = defaultOpset(model);
    for (const onnx::FunctionProto& function : model.functions()) {
      const std::string name = function.domain() + "::" + function.name();
      if (!functions_.try_emplace(name, Function{&function, defaultsOf(function)}).second)
        throw Error("function '" + name + "' is there twice, and overloads are not understood");
    }
  }

  Graph read() {
    onnx::GraphProto& source = *model_.mutable_graph();
    Scope scope;
    if (source.sparse_initializer_size() > 0) throw Error("sparse initialisers are not understood");
    for (onnx::TensorProto& proto : *source.mutable_initializer()) {
      const std::string what = "initialiser '" + proto.name() + "'";
      Tensor tensor = readTensor(proto, folder_, what);
      requireFinite(tensor, what);
      const auto type = proto.data_type();  // 64-bit integers are shapes
      if (isFloatType(type) || type == onnx::TensorProto::INT8 || type == onnx::TensorProto::UINT8)
        graph_.weights += tensor.size();
      std::string().swap(*proto.mutable_raw_data());  // frees the memory; clear_raw_data() would keep it
      scope[proto.name()] = graph_.addConstant(proto.name(), std::move(tensor));
    }
    for (const onnx::ValueInfoProto& input : source.input()) {
      if (scope.contains(input.name())) continue;  // a default value: old exporters list weights as inputs
      if (graph_.image >= 0)
        throw Error("graph input '" + input.name() + "': found a second input, expected the image alone");
      graph_.image = graph_.addValue(input.name());
      const auto type = input.type().tensor_type().elem_type();
      graph_.values.back().integers = type != onnx::TensorProto::UNDEFINED && !isFloatType(type);
      scope[input.name()] = graph_.image;
    }
    if (graph_.image < 0) throw Error("the graph has no input, expected an image");
    for (const onnx::NodeProto* node : inOrder(source)) addNode(*node, scope, "", 0);
    if (source.output_size() == 0) throw Error("the graph has no output");
    for (const onnx::ValueInfoProto& output : source.output()) {
      const auto found = scope.find(output.name());
      if (found == scope.end()) throw Error("graph output '" + output.name() + "' is made by no node");
      auto& names = graph_.output_names;
      if (std::ranges::find(names, output.name()) != names.end())
        throw Error("graph output '" + output.name() + "' is listed twice, expected every name once");
      graph_.outputs.push_back(found->second);
      names.push_back(output.name());
    }
    return std::move(graph_);
  }

 private:
  int lookUp(const std::string& name, const Scope& scope, const onnx::NodeProto& node) const {
    if (name.empty()) return -1;
    const auto found = scope.find(name);
    if (found == scope.end()) {
      throw Error("node '" + node.name() + "' (" + node.op_type() + "): reads '" + name +
                  "', which no earlier node makes");
    }
    return found->second;
  }

  /// True when `node` produces integers or booleans. A CastLike of these is not a Cast to float.
  bool makesIntegers(const Node& node) const {
    if (node.op == "Cast") return !castsToFloat(node);
    if (isOneOf(node.op, {"Shape", "Size", "ArgMax", "ArgMin", "NonZero", "Not", "IsNaN", "IsInf", "And", "Or", "Xor",
                          "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}))
      return true;
    return graph_.mayBeIntegers(node.input(node.op == "Where" || node.op == "If" ? 1 : 0));
  }

  /// A Cast is one to numbers or truth values.
  static void requireNumbers(const Node& node) {
    using Proto = onnx::TensorProto;
    const std::int64_t to = node.integer("to", 0);
    const bool whole =
        (to >= Proto::UINT8 && to <= Proto::BOOL && to != Proto::STRING) || to == Proto::UINT32 || to == Proto::UINT64;
    if (node.op == "Cast" && node.domain.empty() && !isFloatType(to) && !whole)
      throw Error("node '" + node.name + "' (Cast): found to " + std::to_string(to) + ", expected a type of numbers");
  }

  /// True when a matrix product makes `value`, which may be cast.
  bool isProduct(int value) const {
    const Node* node = graph_.producer(value);
    while (node != nullptr && node->op == "Cast" && node->domain.empty()) node = graph_.producer(node->input(0));
    return node != nullptr && isOneOf(node->op, {"MatMul", "Gemm"});
  }

  /// Rewrites a CastLike to float, which exporters without an optimiser write, as a Cast.
  const onnx::NodeProto& likeCast(const onnx::NodeProto& proto, const Scope& scope) {
    if (proto.op_type() != "CastLike" || !proto.domain().empty() || proto.input_size() != 2) return proto;
    if (graph_.mayBeIntegers(lookUp(proto.input(1), scope, proto))) return proto;
    onnx::NodeProto& cast = graph_.inlined->emplace_back(proto);
    cast.set_op_type("Cast");
    cast.mutable_input()->RemoveLast();
    addAttribute(cast, {"to", std::int64_t{onnx::TensorProto::FLOAT}});
    return cast;
  }

  /// Counts everything that is read, also calls and constants. They do not become nodes, but cost time and memory.
  void requireRoomFor(const onnx::NodeProto& node, const std::string& prefix, int depth) {
    if (++nodes_read_ > kMaxNodes) throw Error("the graph has more than a million nodes, functions written out");
    if (depth == 0) return;
    inlined_bytes_ += node.ByteSizeLong() + prefix.size() * (1 + static_cast<std::size_t>(node.output_size()));
    if (inlined_bytes_ > kMaxInlinedBytes) throw Error("the graph, its functions written out, is larger than 1 GiB");
  }

  void addNode(const onnx::NodeProto& written, Scope& scope, const std::string& prefix, int depth) {
    requireRoomFor(written, prefix, depth);
    const onnx::NodeProto& proto = likeCast(written, scope);
    const auto function = functions_.find(proto.domain() + "::" + proto.op_type());
    if (function != functions_.end()) {
      inlineFunction(function->second, proto, scope, prefix, depth);
      return;
    }
    const auto valueOf = [&](int input) {
      return input < proto.input_size() ? lookUp(proto.input(input), scope, proto) : -1;
    };
    const InputFacts facts{.is_product = [&](int input) { return isProduct(valueOf(input)); },
                           .is_integers = [&](int input) { return graph_.mayBeIntegers(valueOf(input)); }};
    if (const auto several = unfused(proto, facts)) return inlineFunction({&*several, {}}, proto, scope, prefix, depth);
    Node node;
    node.op = proto.op_type();
    node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
    node.proto = &proto;
    node.name = prefix + (!proto.name().empty() || proto.output_size() == 0 ? proto.name() : proto.output(0));
    for (const std::string& name : proto.input()) node.inputs.push_back(lookUp(name, scope, proto));
    if (proto.output_size() == 0) return;
    requireInputs(node);
    requireWindow(proto);
    requireNumbers(node);
    node.branch = branch_;
    if (node.op == "If" && node.domain.empty()) readBranches(node, scope, prefix, depth);
    const int index = static_cast<int>(graph_.nodes.size());
    for (const std::string& name : proto.output()) {
      const bool left_out = name.empty();
      if (!left_out && scope.contains(name))
        throw Error("node '" + node.name + "' (" + node.op + "): makes '" + name + "' again");
      node.outputs.push_back(graph_.addValue(left_out ? "" : prefix + name));
      graph_.values.back().producer = index;
      if (!left_out) scope[name] = node.outputs.back();
    }
    const bool integers = makesIntegers(node);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      // TopK, Dropout: unknown types
      graph_.values[node.outputs[i]].integers = integers || (i > 0 && node.op != "Split");
    }
    if (node.op == "Constant" && node.domain.empty()) {
      Value& value = graph_.values[node.outputs[0]];
      value.constant = constantOf(node);
      value.shape = value.constant->shape;
      value.producer = -1;
      return;
    }
    if (node.op == "Resize") forgetScales(node);
    graph_.nodes.push_back(std::move(node));
  }

  /// Adds the bodies of an If to the graph, and their results to its inputs.
  void readBranches(Node& node, Scope& scope, const std::string& prefix, int depth) {
    for (const char* name : {"then_branch", "else_branch"}) {
      const onnx::AttributeProto* attribute = node.attribute(name);
      if (!attribute) continue;
      const onnx::GraphProto& body = attribute->g();
      if (body.output_size() != node.proto->output_size())
        refuse(node, "a branch with " + std::to_string(body.output_size()) + " results", "one per output");
      const int outer = branch_;
      branch_ = static_cast<int>(graph_.branches.size());
      graph_.branches.push_back({node.inputs[0], name == std::string("then_branch"), outer});
      for (const onnx::TensorProto& proto : body.initializer()) {
        const std::string what = "initialiser '" + proto.name() + "'";
        if (scope.contains(proto.name())) refuse(node, what + " again", "names that differ");
        scope[proto.name()] = graph_.addConstant(prefix + proto.name(), readTensor(proto, folder_, what));
      }
      for (const onnx::NodeProto& inner : body.node()) addNode(inner, scope, prefix, depth + 1);
      for (const onnx::ValueInfoProto& result : body.output())
        node.inputs.push_back(lookUp(result.name(), scope, *node.proto));
      for (const onnx::TensorProto& proto : body.initializer()) scope.erase(proto.name());
      for (const onnx::NodeProto& inner : body.node())
        for (const std::string& made : inner.output()) scope.erase(made);
      branch_ = outer;
    }
  }

  /// The region and the scales of a Resize are floats, but no weights.
  void forgetScales(const Node& node) {
    for (const std::size_t input : {1, 2}) {
      const Tensor* scales = graph_.constant(node.input(input));
      if (scales && scales->isFloat() && scales->size() > 1 && scales_.insert(node.input(input)).second)
        graph_.weights -= scales->size();
    }
  }

  Tensor constantOf(const Node& node) {
    for (const onnx::AttributeProto& attribute : node.proto->attribute()) {
      const std::string& kind = attribute.name();
      if (kind == "value") {
        Tensor tensor = readTensor(attribute.t(), folder_, "constant '" + node.name + "'");
        requireFinite(tensor, "constant '" + node.name + "'");
        graph_.weights += tensor.isFloat() && tensor.size() > 1 ? tensor.size() : 0;
        return tensor;
      }
      if (kind == "value_float") return Tensor::of({}, std::vector<float>{attribute.f()});
      if (kind == "value_int") return Tensor::of({}, Integers{attribute.i()});
      if (kind == "value_floats") {
        return Tensor::of({attribute.floats_size()},
                          std::vector<float>(attribute.floats().begin(), attribute.floats().end()));
      }
      if (kind == "value_ints") {
        return Tensor::of({attribute.ints_size()}, Integers(attribute.ints().begin(), attribute.ints().end()));
      }
    }
    refuse(node, "no numeric value", "a constant tensor");
  }

  void inlineFunction(const Function& called, const onnx::NodeProto& call, Scope& scope, const std::string& prefix,
                      int depth) {
    const onnx::FunctionProto& function = *called.proto;
    if (depth >= kDeepestCall) throw Error("function '" + function.name() + "' calls itself");
    Attributes given = called.defaults;
    for (const onnx::AttributeProto& attribute : call.attribute()) given[attribute.name()] = attribute;
    Scope inner;
    for (int i = 0; i < function.input_size(); ++i) {
      const int actual = i < call.input_size() ? lookUp(call.input(i), scope, call) : -1;
      if (actual >= 0) inner[function.input(i)] = actual;
    }
    const std::string path = prefix + (call.name().empty() ? function.name() : call.name()) + "/";
    for (const onnx::NodeProto& body : function.node()) {
      onnx::NodeProto& node = graph_.inlined->emplace_back(body);
      auto& attributes = *node.mutable_attribute();
      for (int i = attributes.size() - 1; i >= 0; --i) {
        const std::string reference = attributes[i].ref_attr_name();
        if (reference.empty()) continue;
        const auto actual = given.find(reference);
        if (actual == given.end()) {
          attributes.DeleteSubrange(i, 1);
          continue;
        }
        const std::string name = attributes[i].name();
        attributes[i] = actual->second;
        attributes[i].set_name(name);
      }
      addNode(node, inner, path, depth + 1);
    }
    for (int i = 0; i < function.output_size() && i < call.output_size(); ++i)
      if (!call.output(i).empty()) scope[call.output(i)] = lookUp(function.output(i), inner, call);
  }

  onnx::ModelProto& model_;
  const std::filesystem::path& folder_;
  Graph graph_;
  int branch_ = -1;  ///< of the nodes that are being read
  std::size_t nodes_read_ = 0, inlined_bytes_ = 0;
  std::set<int> scales_;  ///< values that were weights until forgetScales()
  std::unordered_map<std::string, Function> functions_;
};

}  // namespace

int Graph::addValue(std::string name) {
  values.push_back({std::move(name), std::nullopt, std::nullopt, -1});
  return static_cast<int>(values.size()) - 1;
}

void Graph::feedChannelsFirst() {
  const int last = image;
  onnx::NodeProto& proto = inlined->emplace_back();
  proto.set_op_type("Transpose");
  addAttribute(proto, {"perm", Integers{0, 2, 3, 1}});
  image = addValue(values[last].name);
  values[image].integers = values[last].integers;
  values[last].name += ".channels_last";
  Node node;
  node.op = proto.op_type();
  node.name = values[last].name;
  node.proto = &proto;
  node.inputs = {image};
  node.outputs = {last};
  nodes.insert(nodes.begin(), std::move(node));
  for (Value& value : values)
    if (value.producer >= 0) ++value.producer;
  values[last].producer = 0;
}

int Graph::addConstant(std::string name, Tensor tensor) {
  const int value = addValue(std::move(name));
  values.back().shape = tensor.shape;
  values.back().constant = std::move(tensor);
  return value;
}

const Node* Graph::producer(int value) const {
  if (value < 0) return nullptr;
  const int node = values[value].producer;
  if (node < 0 || nodes[node].dead) return nullptr;
  return &nodes[node];
}

std::vector<std::vector<int>> Graph::readers() const {
  std::vector<std::vector<int>> result(values.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].dead) continue;
    for (const int value : nodes[i].inputs)
      if (value >= 0) result[value].push_back(static_cast<int>(i));
  }
  for (const int value : outputs) result[value].push_back(-1);
  return result;
}

void Graph::dropUnused() {
  std::vector<bool> needed(values.size(), false);
  needed[image] = true;
  for (const int value : outputs) needed[value] = true;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (node->dead) continue;
    node->dead = std::ranges::none_of(node->outputs, [&](int value) { return value >= 0 && needed[value]; });
    if (node->dead) continue;
    for (const int value : node->inputs)
      if (value >= 0) needed[value] = true;
  }
  std::erase_if(nodes, [](const Node& node) { return node.dead; });
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].producer = -1;
    if (!needed[i]) values[i].constant.reset();  // weights that a pass replaced
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const int value : nodes[i].outputs)
      if (value >= 0) values[value].producer = static_cast<int>(i);
  }
}

bool isOneOf(const std::string& op, std::initializer_list<std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

std::string describe(const Node& node) {
  constexpr std::size_t kLongest = 80;
  const std::string& name = node.name;
  const std::string shown = name.size() > kLongest ? "..." + name.substr(name.size() - kLongest) : name;
  return "node '" + shown + "' (" + (node.written_as.empty() ? node.op : node.written_as) + ")";
}

void refuse(const Node& node, const std::string& found, const std::string& expected) {
  throw Error(describe(node) + ": found " + found + ", expected " + expected);
}

void rethrow(const Node& node, const Error& error) {
  const std::string text = error.what();
  throw Error(text.starts_with("node '") ? text : "node '" + node.name + "' (" + node.op + "): " + text);
}

Graph readGraph(onnx::ModelProto& model, const std::filesystem::path& folder) { return Reader(model, folder).read(); }

}  // namespace mpm::onnx_graph
