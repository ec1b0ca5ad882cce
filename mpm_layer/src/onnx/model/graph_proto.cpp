// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/graph_proto.h"

#include <unordered_map>
#include <unordered_set>

#include "mpm/error.hpp"

namespace mpm::onnx_graph {

const onnx::AttributeProto* findAttribute(const onnx::NodeProto& node, const std::string& name) {
  return findNamed(node.attribute(), name);
}

const onnx::AttributeProto& attributeOf(const onnx::NodeProto& node, const std::string& name) {
  const onnx::AttributeProto* const found = findAttribute(node, name);
  return found ? *found : onnx::AttributeProto::default_instance();
}

void describeNode(onnx::NodeProto& node, const std::string& op, const Names& inputs, const Names& outputs,
                  const std::vector<Attribute>& attributes) {
  node.set_op_type(op);
  node.set_name(outputs.front());
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
  for (const Attribute& attribute : attributes) addAttribute(node, attribute);
}

void addAttribute(onnx::NodeProto& node, const Attribute& named) {
  const auto& [name, value] = named;
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(*integer);
  } else if (const auto* number = std::get_if<float>(&value)) {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(*text);
  } else {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t one : std::get<std::vector<std::int64_t>>(value)) attribute.add_ints(one);
  }
}

void requireWindow(const onnx::NodeProto& node) {
  constexpr std::int64_t kMax = 1 << 20;
  constexpr std::pair<const char*, std::int64_t> kLeast[] = {{"group", 1},         {"kernel_shape", 1}, {"strides", 1},
                                                             {"dilations", 1},     {"output_shape", 1}, {"pads", 0},
                                                             {"output_padding", 0}};
  const std::string &op = node.op_type(), &domain = node.domain();
  if (!(domain.empty() || domain == "ai.onnx") || !(op.starts_with("Conv") || op.ends_with("Pool"))) return;
  for (const auto& [name, least] : kLeast) {
    const onnx::AttributeProto* const found = findAttribute(node, name);
    if (!found) continue;
    std::vector<std::int64_t> values(found->ints().begin(), found->ints().end());
    if (values.empty()) values.push_back(found->i());
    for (const std::int64_t value : values) {
      if (value < least || value > kMax) {
        throw Error("node '" + node.name() + "' (" + op + "): found " + name + " " + std::to_string(value) +
                    ", expected " + std::to_string(least) + " to " + std::to_string(kMax));
      }
    }
  }
}

void dropUnused(onnx::GraphProto& graph) {
  std::unordered_set<std::string> needed;
  for (const onnx::ValueInfoProto& output : graph.output()) needed.insert(output.name());
  const auto isNeeded = [&](const std::string& name) { return !name.empty() && needed.contains(name); };
  const auto unused = [&](const onnx::NodeProto& node) { return std::ranges::none_of(node.output(), isNeeded); };
  auto& nodes = *graph.mutable_node();
  for (int i = nodes.size() - 1; i >= 0; --i)
    if (!unused(nodes[i])) needed.insert(nodes[i].input().begin(), nodes[i].input().end());
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), unused), nodes.end());
  auto& constants = *graph.mutable_initializer();
  const auto unread = [&](const onnx::TensorProto& constant) { return !isNeeded(constant.name()); };
  constants.erase(std::remove_if(constants.begin(), constants.end(), unread), constants.end());
}

void selectOutputs(onnx::GraphProto& graph, const std::vector<std::string>& names) {
  std::unordered_map<std::string, onnx::ValueInfoProto> values;  // with the shape, where the file has it
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.output()) {
      onnx::ValueInfoProto& value = values[name];
      value.set_name(name);
      onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
      type.set_elem_type(onnx::TensorProto::FLOAT);
      type.mutable_shape();  // unknown; OpenCV 4.6 insists on a shape, but does not use it
    }
  }
  for (const onnx::ValueInfoProto& output : graph.output()) values[output.name()] = output;
  graph.clear_output();
  std::unordered_set<std::string> taken;
  for (const std::string& name : names) {
    const auto value = values.find(name);
    if (value == values.end()) throw Error("the converted net has no value '" + name + "' (docs/ops.md)");
    if (!taken.insert(name).second) throw Error("the output '" + name + "' is asked for twice");
    *graph.add_output() = value->second;
  }
  dropUnused(graph);
}

}  // namespace mpm::onnx_graph
