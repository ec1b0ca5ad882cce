// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "onnx/converter.h"
#include "onnx/emit/net_writer.h"
#include "onnx/model/graph_proto.h"
#include "onnx/model/model_file.h"

namespace mpm::onnx_graph {
namespace {

/// Appends standard operators to a model. Every name is new to it.
class Appender {
 public:
  Appender(onnx::ModelProto model, int opset) : net_(std::move(model)), opset_(opset) {}

  std::string node(const std::string& op, const std::string& output, const Names& inputs,
                   const std::vector<Attribute>& attributes = {}) {
    return net_.stock(op, inputs, {net_.unique(output)}, attributes);
  }
  std::string floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    return net_.weights(name, shape, values);
  }
  std::string integers(const std::string& name, const Integers& values) {
    return net_.constant(name, Tensor::of({std::ssize(values)}, values));
  }

  std::string norm(const std::string& x, const TokenHead& head) {
    const std::string weight = floats("taught/norm.weight", {head.dim}, head.norm_weight);
    const std::string bias = floats("taught/norm.bias", {head.dim}, head.norm_bias);
    if (opset_ >= 17) {
      return node("LayerNormalization", "taught/norm", {x, weight, bias},
                  {{"axis", std::int64_t{-1}}, {"epsilon", TokenHead::kNormEps}});
    }
    const auto mean = [&](const std::string& name, const std::string& of) {
      return node("ReduceMean", name, {of}, {{"axes", Integers{-1}}, {"keepdims", std::int64_t{1}}});
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

  /// The model, with `name` as its only output {batch, ..shape}.
  onnx::ModelProto model(const std::string& name, Shape shape) && {
    shape.insert(shape.begin(), 1);
    net_.output(name, shape);
    onnx::ModelProto model = std::move(net_).model();
    onnx::TypeProto& type = *model.mutable_graph()->mutable_output(0)->mutable_type();
    type.mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("batch");
    return model;
  }

 private:
  NetWriter net_;
  int opset_;
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
    const std::string& name = inputs[i].name();
    if (name != image && !findNamed(graph.initializer(), name)) inputs.DeleteSubrange(i, 1);
  }
}

/// Runtimes give the map floor(cells * scale) pixels, in floats.
float scaleTo(int pixels, int cells) {
  float scale = static_cast<float>(pixels) / static_cast<float>(cells);
  while (static_cast<float>(cells) * scale < static_cast<float>(pixels))
    scale = std::nextafter(scale, std::numeric_limits<float>::infinity());
  return scale;
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

  const int opset = defaultOpset(model);
  Appender append(std::move(model), opset);
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  std::string x = encoder.name;
  if (encoder.rows_first) x = append.node("Transpose", "taught/rows", {x}, {{"perm", Integers{1, 0, 2}}});
  x = append.node("Slice", "taught/tokens",
                  {x, append.integers("taught/tokens/from", {encoder.special}),
                   append.integers("taught/tokens/to", {kEnd}), append.integers("taught/tokens/axis", {1})});
  x = append.linear("taught/hidden", append.norm(x, head), {head.dim, head.hidden}, head.hidden_weight,
                    head.hidden_bias);
  x = append.linear("taught/scores", append.gelu(x), {head.hidden, head.classes}, head.score_weight, head.score_bias);
  x = append.node("Transpose", "taught/score_rows", {x}, {{"perm", Integers{0, 2, 1}}});
  const Size2 grid = encoder.grid, input = encoder.input;
  x = append.node("Reshape", "taught/score_maps",
                  {x, append.integers("taught/score_maps/shape", {0, head.classes, grid.height, grid.width})});
  const std::vector<float> scales = {1, 1, scaleTo(input.height, grid.height), scaleTo(input.width, grid.width)};
  x = append.node("Resize", "logits", {x, "", append.floats("taught/scales", {4}, scales)},
                  {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("half_pixel")}});
  return serialised(std::move(append).model(x, {head.classes, input.height, input.width}));
}

}  // namespace

std::string withTokenHead(const std::string& onnx_path, const TokenHead& head) {
  return naming(onnx_path, [&] { return withHead(onnx_path, head); });
}

Size2 requireTokenHeadFits(const std::string& onnx_path) {
  return naming(onnx_path, [&] { return encoderOf(onnx_path).input; });
}

}  // namespace mpm::onnx_graph
