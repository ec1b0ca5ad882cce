// SPDX-License-Identifier: Apache-2.0
#include "onnx/token_head.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "mpm/error.hpp"
#include "onnx/converter.h"
#include "onnx/model/model_file.h"
#include "onnx/model/node_proto.h"
#include "onnx/model/outputs.h"

namespace mpm::onnx_graph {
namespace {

/// Appends standard operators to a graph. Every name is new to it.
class Appender {
 public:
  Appender(onnx::GraphProto& graph, int opset) : graph_(graph), opset_(opset) {
    for (const onnx::NodeProto& node : graph.node()) taken_.insert(node.output().begin(), node.output().end());
    for (const onnx::TensorProto& constant : graph.initializer()) taken_.insert(constant.name());
    for (const onnx::ValueInfoProto& input : graph.input()) taken_.insert(input.name());
  }

  std::string node(const std::string& op, const std::string& output, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {}) {
    onnx::NodeProto& added = *graph_.add_node();
    added.set_op_type(op);
    for (const std::string& input : inputs) added.add_input(input);
    const std::string name = unique(output);
    added.set_name(name);
    added.add_output(name);
    for (const Attribute& attribute : attributes) addAttribute(added, attribute);
    return name;
  }

  std::string floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    onnx::TensorProto& tensor = constant(name, shape, onnx::TensorProto::FLOAT);
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
    return tensor.name();
  }
  std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
    onnx::TensorProto& tensor = constant(name, {static_cast<std::int64_t>(values.size())}, onnx::TensorProto::INT64);
    tensor.set_raw_data(values.data(), values.size() * sizeof(std::int64_t));
    return tensor.name();
  }

  std::string norm(const std::string& x, const TokenHead& head) {
    const std::string weight = floats("taught/norm.weight", {head.dim}, head.norm_weight);
    const std::string bias = floats("taught/norm.bias", {head.dim}, head.norm_bias);
    if (opset_ >= 17)
      return node("LayerNormalization", "taught/norm", {x, weight, bias},
                  {{"axis", std::int64_t{-1}}, {"epsilon", TokenHead::kNormEps}});
    const auto mean = [&](const std::string& name, const std::string& of) {
      return node("ReduceMean", name, {of}, {{"axes", std::vector<std::int64_t>{-1}}, {"keepdims", std::int64_t{1}}});
    };
    const std::string centred = node("Sub", "taught/norm/centred", {x, mean("taught/norm/mean", x)});
    const std::string squared = node("Mul", "taught/norm/squared", {centred, centred});
    const std::string shifted =
        node("Add", "taught/norm/shifted",
             {mean("taught/norm/variance", squared), floats("taught/norm/eps", {}, {TokenHead::kNormEps})});
    const std::string unit =
        node("Div", "taught/norm/unit", {centred, node("Sqrt", "taught/norm/deviation", {shifted})});
    return node("Add", "taught/norm", {node("Mul", "taught/norm/scaled", {unit, weight}), bias});
  }

  std::string linear(const std::string& name, const std::string& x, const Shape& shape,
                     const std::vector<float>& weight, const std::vector<float>& bias) {
    const std::string product = node("MatMul", name + "/product", {x, floats(name + ".weight", shape, weight)});
    return node("Add", name, {product, floats(name + ".bias", {shape[1]}, bias)});
  }

  std::string gelu(const std::string& x) {
    const std::string scaled = node("Div", "taught/gelu/scaled", {x, floats("taught/gelu/root", {}, {std::sqrt(2.f)})});
    const std::string sum =
        node("Add", "taught/gelu/sum", {node("Erf", "taught/gelu/erf", {scaled}), floats("taught/gelu/one", {}, {1})});
    return node("Mul", "taught/gelu",
                {node("Mul", "taught/gelu/product", {x, sum}), floats("taught/gelu/half", {}, {0.5f})});
  }

 private:
  std::string unique(const std::string& name) {
    std::string free = name;
    for (int n = 2; !taken_.insert(free).second; ++n) free = name + "_" + std::to_string(n);
    return free;
  }
  onnx::TensorProto& constant(const std::string& name, const Shape& shape, onnx::TensorProto::DataType type) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(unique(name));
    tensor.set_data_type(type);
    for (const std::int64_t side : shape) tensor.add_dims(side);
    return tensor;
  }

  onnx::GraphProto& graph_;
  int opset_;
  std::set<std::string> taken_;
};

EncoderOutput encoderOf(const std::filesystem::path& path) {
  onnx::ModelProto model = readModelFile(path);  // read again by the caller: recognising a graph takes its weights
  const FactsFile facts = readFactsOf(model, path);
  return encoderOutput(model, facts, folderOf(path));
}

/// Weights that are inputs of the graph too (files of IR 3) must not stay inputs when they are gone.
void dropInputs(onnx::GraphProto& graph, const std::string& image) {
  auto& inputs = *graph.mutable_input();
  for (int i = inputs.size() - 1; i >= 0; --i) {
    const auto is_this = [&](const onnx::TensorProto& tensor) { return tensor.name() == inputs[i].name(); };
    if (inputs[i].name() != image && std::none_of(graph.initializer().begin(), graph.initializer().end(), is_this))
      inputs.DeleteSubrange(i, 1);
  }
}

std::string withHead(const std::filesystem::path& path, const TokenHead& head) {
  const EncoderOutput encoder = encoderOf(path);
  onnx::ModelProto model = readModelFile(path);
  auto& notes = *model.mutable_metadata_props();  // the new file has another id
  notes.erase(std::remove_if(notes.begin(), notes.end(), [](const auto& note) { return note.key() == kIdKey; }),
              notes.end());
  onnx::GraphProto& graph = *model.mutable_graph();
  selectOutputs(graph, {encoder.name});
  dropInputs(graph, encoder.image);
  for (onnx::TensorProto& tensor : *graph.mutable_initializer())
    loadExternalData(tensor, folderOf(path), "'" + tensor.name() + "'");
  graph.clear_output();
  graph.clear_value_info();  // the shapes of values that are gone

  Appender append(graph, defaultOpset(model));
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  std::string x = encoder.name;
  if (encoder.rows_first)
    x = append.node("Transpose", "taught/rows", {x}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  x = append.node("Slice", "taught/tokens",
                  {x, append.integers("taught/tokens/from", {encoder.special}),
                   append.integers("taught/tokens/to", {kEnd}), append.integers("taught/tokens/axis", {1})});
  x = append.linear("taught/hidden", append.norm(x, head), {head.dim, head.hidden}, head.hidden_weight,
                    head.hidden_bias);
  x = append.linear("taught/scores", append.gelu(x), {head.hidden, head.classes}, head.score_weight, head.score_bias);
  x = append.node("Transpose", "taught/score_rows", {x}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  const Size2 grid = encoder.grid, input = encoder.input;
  x = append.node("Reshape", "taught/score_maps",
                  {x, append.integers("taught/score_maps/shape", {0, head.classes, grid.height, grid.width})});
  const std::vector<float> scales = {1, 1, static_cast<float>(input.height) / static_cast<float>(grid.height),
                                     static_cast<float>(input.width) / static_cast<float>(grid.width)};
  x = append.node("Resize", "logits", {x, "", append.floats("taught/scales", {4}, scales)},
                  {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("half_pixel")}});
  onnx::ValueInfoProto& output = *graph.add_output();
  output.set_name(x);
  onnx::TypeProto::Tensor& type = *output.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("batch");
  for (const int side : {head.classes, input.height, input.width}) type.mutable_shape()->add_dim()->set_dim_value(side);
  return serialised(std::move(model));
}

template <class Work>
auto namingFile(const std::string& path, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string problem = error.what();
    throw Error(problem.starts_with("'" + factsPath(path).string()) ? problem : path + ": " + problem);
  }
}

}  // namespace

std::string withTokenHead(const std::string& onnx_path, const TokenHead& head) {
  return namingFile(onnx_path, [&] { return withHead(onnx_path, head); });
}

Size2 requireTokenHeadFits(const std::string& onnx_path) {
  return namingFile(onnx_path, [&] { return encoderOf(onnx_path).input; });
}

}  // namespace mpm::onnx_graph
