// SPDX-License-Identifier: Apache-2.0
#include "onnx/graph_builder.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "support/onnx_file.h"

namespace mpm::test {
namespace {

constexpr const char* kDataFile = "external.data";

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Bits of the nearest half, for numbers as the weights of the tests are.
std::uint16_t halfBits(double value) {
  const double magnitude = std::abs(value);
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (magnitude < std::ldexp(1.0, -14)) return static_cast<std::uint16_t>(sign | std::lrint(std::ldexp(magnitude, 24)));
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // 0.5 <= fraction < 1
  const long mantissa = std::lrint(std::ldexp(fraction, 11)) - 1024;
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + mantissa));
}

}  // namespace

GraphBuilder::GraphBuilder(int opset, Storage storage) : opset_(opset), storage_(storage) {
  model_.set_ir_version(7);
  model_.add_opset_import()->set_version(opset);
  model_.mutable_graph()->set_name("test");
}

GraphBuilder::GraphBuilder(onnx::ModelProto model)
    : model_(std::move(model)),
      opset_(static_cast<int>(model_.opset_import(0).version())),
      storage_(Storage::kFloat),
      count_(model_.graph().node_size()) {}

void GraphBuilder::input(const std::string& name, const std::vector<long>& shape) {
  onnx::ValueInfoProto& value = *model_.mutable_graph()->add_input();
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const long side : shape) {
    auto& dim = *type.mutable_shape()->add_dim();
    if (side > 0) {
      dim.set_dim_value(side);
    } else {
      dim.set_dim_param("any");
    }
  }
}

void GraphBuilder::output(const std::string& name) { model_.mutable_graph()->add_output()->set_name(name); }

std::string GraphBuilder::node(const std::string& op, const std::vector<std::string>& inputs,
                               const std::vector<Attribute>& attributes, int outputs, const std::string& name) {
  onnx::NodeProto& made = *model_.mutable_graph()->add_node();
  made.set_op_type(op);
  const std::string first = name.empty() ? fresh(op) : name;
  made.set_name(first);
  for (const std::string& value : inputs) made.add_input(value);
  for (int i = 0; i < outputs; ++i) made.add_output(i == 0 ? first : other(first, i));
  for (const Attribute& each : attributes) *made.add_attribute() = attribute(each);
  return first;
}

onnx::AttributeProto GraphBuilder::attribute(const Attribute& named) {
  const auto& [key, value] = named;
  onnx::AttributeProto made;
  made.set_name(key);
  if (const long* integer = std::get_if<long>(&value)) {
    made.set_type(onnx::AttributeProto::INT);
    made.set_i(*integer);
  } else if (const double* real = std::get_if<double>(&value)) {
    made.set_type(onnx::AttributeProto::FLOAT);
    made.set_f(static_cast<float>(*real));
  } else if (const std::string* text = std::get_if<std::string>(&value)) {
    made.set_type(onnx::AttributeProto::STRING);
    made.set_s(*text);
  } else {
    made.set_type(onnx::AttributeProto::INTS);
    for (const long each : std::get<std::vector<long>>(value)) made.add_ints(each);
  }
  return made;
}

onnx::TensorProto GraphBuilder::tensor(const std::string& name, const std::vector<long>& shape,
                                       const std::vector<double>& values) {
  onnx::TensorProto proto;
  proto.set_name(name);
  for (const long side : shape) proto.add_dims(side);
  std::string bytes;
  const bool half = storage_ == Storage::kHalf;
  proto.set_data_type(half ? onnx::TensorProto::FLOAT16 : onnx::TensorProto::FLOAT);
  for (const double value : values) {
    if (storage_ == Storage::kFloatField) {
      proto.add_float_data(static_cast<float>(value));
    } else if (half) {
      append(bytes, halfBits(value));
    } else {
      append(bytes, static_cast<float>(value));
    }
  }
  if (storage_ == Storage::kFloatField) return proto;
  if (storage_ != Storage::kExternal) {
    proto.set_raw_data(bytes);
    return proto;
  }
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  addExternal(proto, "location", kDataFile);
  addExternal(proto, "offset", std::to_string(external_.size()));
  addExternal(proto, "length", std::to_string(bytes.size()));
  external_ += bytes;
  return proto;
}

std::string GraphBuilder::weights(const std::string& name, const std::vector<long>& shape,
                                  const std::vector<double>& values) {
  *model_.mutable_graph()->add_initializer() = tensor(name, shape, values);
  // Half weights of a float graph come behind a Cast.
  return storage_ == Storage::kHalf ? node("Cast", {name}, {{"to", 1L}}) : name;
}

std::string GraphBuilder::ints(const std::vector<long>& values) {
  onnx::TensorProto& proto = *model_.mutable_graph()->add_initializer();
  proto.set_name(fresh("ints"));
  proto.set_data_type(onnx::TensorProto::INT64);
  proto.add_dims(static_cast<long>(values.size()));
  for (const long value : values) proto.add_int64_data(value);
  return proto.name();
}

std::string GraphBuilder::intScalar(long value) {
  const std::string name = ints({value});
  model_.mutable_graph()->mutable_initializer(model_.graph().initializer_size() - 1)->clear_dims();
  return name;
}

std::string GraphBuilder::number(double value) {
  onnx::TensorProto& proto = *model_.mutable_graph()->add_initializer();
  proto.set_name(fresh("number"));
  proto.set_data_type(onnx::TensorProto::FLOAT);
  proto.add_float_data(static_cast<float>(value));
  return proto.name();
}

std::string GraphBuilder::unsqueeze(const std::string& x, long axis) {
  if (opset_ < 13) return node("Unsqueeze", {x}, {{"axes", std::vector<long>{axis}}});
  return node("Unsqueeze", {x, ints({axis})});
}

std::string GraphBuilder::reduceMean(const std::string& x, long axis, bool keep) {
  if (opset_ < 18) return node("ReduceMean", {x}, {{"axes", std::vector<long>{axis}}, {"keepdims", long{keep}}});
  return node("ReduceMean", {x, ints({axis})}, {{"keepdims", long{keep}}});
}

std::string GraphBuilder::reduceSum(const std::string& x, long axis) {
  if (opset_ < 13) return node("ReduceSum", {x}, {{"axes", std::vector<long>{axis}}});
  return node("ReduceSum", {x, ints({axis})});
}

void GraphBuilder::save(const std::string& path) {
  saveModel(model_, path);
  if (storage_ != Storage::kExternal) return;
  std::ofstream(std::filesystem::path(path).parent_path() / kDataFile, std::ios::binary) << external_;
}

void saveMeanPolicy(const std::string& path, long side) {
  GraphBuilder graph(17);
  graph.input("image", {0, 3, 0, 0});
  const std::vector<long> window = {side, side};
  const std::string means = graph.node("AveragePool", {"image"}, {{"kernel_shape", window}, {"strides", window}});
  graph.output(graph.reduceMean(means, 1));
  graph.save(path);
}

void addExternal(onnx::TensorProto& tensor, const char* key, const std::string& value) {
  onnx::StringStringEntryProto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

onnx::NodeProto constantOf(const std::string& name, const onnx::TensorProto& value) {
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.set_name(name);
  node.add_output(name);
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  *attribute.mutable_t() = value;
  return node;
}

onnx::NodeProto callOf(const std::string& op, const char* from, const char* to, const char* domain) {
  onnx::NodeProto node;
  node.set_op_type(op);
  node.set_domain(domain);
  node.add_input(from);
  node.add_output(to);
  return node;
}

onnx::FunctionProto& addFunction(onnx::ModelProto& model, const std::string& name,
                                 const std::vector<onnx::NodeProto>& nodes, const char* result) {
  onnx::FunctionProto& function = *model.add_functions();
  function.set_name(name);
  function.set_domain("test");
  function.add_input("x");
  function.add_output(result);
  for (const onnx::NodeProto& node : nodes) *function.add_node() = node;
  return function;
}

}  // namespace mpm::test
