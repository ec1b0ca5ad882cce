// SPDX-License-Identifier: Apache-2.0
#include "onnx/placement.h"

#include <map>
#include <set>

#include "mpm/error.hpp"
#include "onnx/model_file.h"

namespace mpm::onnx_graph {
namespace {

bool isOurs(const onnx::NodeProto& node) { return node.domain() == "ai.mpm"; }

/// Who makes and who reads a tensor.
struct Use {
  bool made_by_us = false;
  int our_readers = 0;
  bool read_on_host = false;
};

void add(onnx::NodeProto& node, const char* name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void add(onnx::NodeProto& node, const char* name, const std::string& value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
}

}  // namespace

void placeOnDevice(onnx::GraphProto& graph, int device, int session) {
  std::map<std::string, Use> uses;
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.output()) uses[name].made_by_us = isOurs(node);
    for (const std::string& name : node.input()) {
      Use& use = uses[name];
      isOurs(node) ? void(++use.our_readers) : void(use.read_on_host = true);
    }
  }
  for (const onnx::ValueInfoProto& output : graph.output()) uses[output.name()].read_on_host = true;
  std::set<std::string> constants;
  for (const onnx::TensorProto& constant : graph.initializer()) constants.insert(constant.name());
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (!isOurs(node)) continue;
    std::string device_inputs, device_outputs, host_outputs;
    for (const std::string& name : node.input()) {
      if (constants.contains(name)) continue;
      const Use& use = uses[name];
      const bool alone = use.our_readers == 1 && (use.made_by_us || !use.read_on_host);
      device_inputs += use.made_by_us ? (alone ? '2' : '1') : (alone ? '3' : '0');
    }
    for (const std::string& name : node.output()) {
      device_outputs += uses[name].our_readers > 0 ? '1' : '0';
      host_outputs += uses[name].read_on_host ? '1' : '0';
    }
    add(node, "device", device);
    add(node, "session", session);
    add(node, "device_inputs", device_inputs);
    add(node, "device_outputs", device_outputs);
    add(node, "host_outputs", host_outputs);
  }
}

}  // namespace mpm::onnx_graph
