// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/outputs.h"

#include <unordered_map>
#include <unordered_set>

#include "mpm/error.hpp"

namespace mpm::onnx_graph {

void dropUnused(onnx::GraphProto& graph) {
  std::unordered_set<std::string> needed;
  for (const onnx::ValueInfoProto& output : graph.output()) needed.insert(output.name());
  auto& nodes = *graph.mutable_node();
  std::vector<bool> keep(nodes.size(), false);
  for (int i = nodes.size() - 1; i >= 0; --i) {
    for (const std::string& name : nodes[i].output()) keep[i] = keep[i] || needed.contains(name);
    if (keep[i]) needed.insert(nodes[i].input().begin(), nodes[i].input().end());
  }
  int kept = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    if (keep[i]) nodes.SwapElements(i, kept++);
  }
  nodes.DeleteSubrange(kept, nodes.size() - kept);
  auto& constants = *graph.mutable_initializer();
  kept = 0;
  for (int i = 0; i < constants.size(); ++i) {
    if (needed.contains(constants[i].name())) constants.SwapElements(i, kept++);
  }
  constants.DeleteSubrange(kept, constants.size() - kept);
}

void selectOutputs(onnx::GraphProto& graph, const std::vector<std::string>& names) {
  std::unordered_map<std::string, onnx::ValueInfoProto> values;  // with the shape, where the file has it
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.output()) {
      onnx::ValueInfoProto& value = values[name];
      value.set_name(name);
      onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
      type.set_elem_type(onnx::TensorProto::FLOAT);
      type.mutable_shape();  // unknown; OpenCV 4.6 insists on a shape, but does not use it
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
