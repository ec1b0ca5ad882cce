// SPDX-License-Identifier: Apache-2.0
#include "onnx/emit/net_writer.h"

#include <cmath>

#include "mpm/error.hpp"
#include "mpm/version.hpp"
#include "onnx/model/graph_proto.h"

namespace mpm::onnx_graph {

std::string baseName(std::string name) {
  name.erase(0, name.find_first_not_of('/'));
  return name.empty() ? "tensor" : name;
}

NetWriter::NetWriter(int opset, const std::string& graph_name) {
  model_.set_ir_version(8);
  model_.set_producer_name("mpm");
  model_.set_producer_version(MPM_VERSION);
  onnx::OperatorSetIdProto* stock = model_.add_opset_import();
  stock->set_domain("");
  stock->set_version(opset);
  onnx::OperatorSetIdProto* ours = model_.add_opset_import();
  ours->set_domain(kOurDomain);
  ours->set_version(1);
  model_.mutable_graph()->set_name(graph_name);
}

NetWriter::NetWriter(onnx::ModelProto model) : model_(std::move(model)) {
  const onnx::GraphProto& graph = model_.graph();
  for (const onnx::NodeProto& node : graph.node()) taken_.insert(node.output().begin(), node.output().end());
  for (const onnx::TensorProto& constant : graph.initializer()) taken_.insert(constant.name());
  for (const onnx::ValueInfoProto& input : graph.input()) taken_.insert(input.name());
}

namespace {

void describe(onnx::ValueInfoProto& value, const std::string& name, const Shape& shape) {
  value.set_name(name);
  onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t side : shape) type.mutable_shape()->add_dim()->set_dim_value(side);
}

}  // namespace

void NetWriter::input(const std::string& name, const Shape& shape) {
  made_.insert(unique(name));
  describe(*model_.mutable_graph()->add_input(), name, shape);
}

void NetWriter::output(const std::string& name, const Shape& shape) {
  describe(*model_.mutable_graph()->add_output(), name, shape);
}

std::string NetWriter::unique(const std::string& name) {
  std::string result = name;
  for (int i = 2; !taken_.insert(result).second; ++i) result = name + "_" + std::to_string(i);
  return result;
}

template <class T>
std::string NetWriter::initialiser(const std::string& name, const Shape& shape, int type,
                                   const std::vector<T>& values) {
  onnx::TensorProto& proto = *model_.mutable_graph()->add_initializer();
  proto.set_name(unique(name));
  for (const std::int64_t side : shape) proto.add_dims(side);
  proto.set_data_type(type);
  proto.set_raw_data(values.data(), values.size() * sizeof(T));
  return proto.name();
}

std::string NetWriter::weights(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  for (const float value : values) {
    if (!std::isfinite(value))
      throw Error("the weights of '" + name + "' hold a NaN or an infinity, expected finite weights");
  }
  return initialiser(name, shape, onnx::TensorProto::FLOAT, values);
}

std::string NetWriter::constant(const std::string& name, const Tensor& tensor) {
  if (!tensor.isFloat()) return initialiser(name, tensor.shape, onnx::TensorProto::INT64, *tensor.ints);
  return initialiser(name, tensor.shape, onnx::TensorProto::FLOAT, *tensor.floats);
}

onnx::NodeProto& NetWriter::add(const std::string& type, const Names& inputs, const Names& outputs,
                                const Attributes& attributes) {
  for (const std::string& name : outputs) {
    if (!made_.insert(name).second) {
      throw Error("the graph has an input or output '" + name +
                  "', a name that the converted net needs itself: rename it in the original model");
    }
  }
  onnx::NodeProto& node = *model_.mutable_graph()->add_node();
  describeNode(node, type, inputs, outputs, attributes);
  return node;
}

std::string NetWriter::op(const std::string& type, const Names& inputs, const Names& outputs,
                          const Attributes& attributes) {
  add(type, inputs, outputs, attributes).set_domain(kOurDomain);
  return outputs.front();
}

std::string NetWriter::stock(const std::string& type, const Names& inputs, const Names& outputs,
                             const Attributes& attributes) {
  add(type, inputs, outputs, attributes);
  return outputs.front();
}

std::string NetWriter::copy(const onnx::NodeProto& proto, const Names& inputs, const Names& outputs) {
  *add(proto.op_type(), inputs, outputs, {}).mutable_attribute() = proto.attribute();
  return outputs.front();
}

void NetWriter::set(const std::string& node, const Attribute& attribute) {
  for (onnx::NodeProto& each : *model_.mutable_graph()->mutable_node())
    if (each.name() == node) addAttribute(each, attribute);
}

void NetWriter::setEach(const std::string& op, const Attribute& attribute) {
  for (onnx::NodeProto& each : *model_.mutable_graph()->mutable_node())
    if (each.op_type() == op) addAttribute(each, attribute);
}

void NetWriter::metadata(const std::string& key, const std::string& value) {
  onnx::StringStringEntryProto& entry = *model_.add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
}

onnx::ModelProto NetWriter::model() && {
  dropUnused(*model_.mutable_graph());
  return std::move(model_);
}

}  // namespace mpm::onnx_graph
