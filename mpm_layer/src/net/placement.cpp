// SPDX-License-Identifier: Apache-2.0
#include "net/placement.h"

#include <map>
#include <set>

#include "layers/mpm_layer.h"
#include "mpm/error.hpp"
#include "mpm/read_net.hpp"
#include "onnx/model/graph_proto.h"

namespace mpm::onnx_graph {
namespace {

/// The producer and the readers of a tensor.
struct Use {
  bool made_by_us = false;
  int our_readers = 0;
  bool read_on_host = false;
};

/// Throws mpm::Error for an op that no GPU runs.
void requireOnGpu(const onnx::NodeProto& node) {
  if (!isOurs(node)) return;
  cv::dnn::LayerParams params;
  params.name = node.name();
  params.type = node.domain() + "." + node.op_type();
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.type() == onnx::AttributeProto::INT) params.set(attribute.name(), attribute.i());
    if (attribute.type() == onnx::AttributeProto::FLOAT) params.set(attribute.name(), attribute.f());
    if (attribute.type() == onnx::AttributeProto::STRING) params.set(attribute.name(), cv::String(attribute.s()));
    if (attribute.type() == onnx::AttributeProto::INTS)
      params.set(attribute.name(), cv::dnn::DictValue::arrayInt(attribute.ints().begin(), attribute.ints_size()));
  }
  const auto layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params).dynamicCast<MpmLayer>();
  if (layer && !layer->onlyOnCpu().empty())
    throw Error(layer->onlyOnCpu() + " do not run on a GPU: use the device cpu");
}

}  // namespace

void placeOnDevice(onnx::GraphProto& graph, int device, int session) {
  registerLayers();
  std::map<std::string, Use> uses;
  for (const onnx::NodeProto& node : graph.node()) {
    requireOnGpu(node);
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
    addAttribute(node, {"device", std::int64_t{device}});
    addAttribute(node, {"session", std::int64_t{session}});
    addAttribute(node, {"device_inputs", device_inputs});
    addAttribute(node, {"device_outputs", device_outputs});
    addAttribute(node, {"host_outputs", host_outputs});
  }
}

}  // namespace mpm::onnx_graph
