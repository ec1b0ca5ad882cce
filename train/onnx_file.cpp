// SPDX-License-Identifier: Apache-2.0
#include "onnx_file.h"

#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "half.h"
#include "mpm/error.hpp"
#include "mpm/version.hpp"
#include "onnx/model/model_file.h"
#include "onnx/model/node_proto.h"
#include "onnx/write_model.h"

namespace mpm::train {
namespace {

constexpr const char* kProducer = "mpm-train";
constexpr std::string_view kHalf = ".half";  // ends the name of an initialiser whose Cast has the plain name

bool storedAsHalf(const std::vector<std::int64_t>& shape) { return shape.size() > 1; }

// ONNX multiplies by {in, out}, LibTorch keeps {out, in}.
bool storedTransposed(const std::string& name, std::size_t dimensions) {
  return dimensions == 2 && name.ends_with(".weight");
}

HostTensor transposed(const HostTensor& matrix) {
  const std::int64_t rows = matrix.shape.at(0), columns = matrix.shape.at(1);
  HostTensor result{{columns, rows}, std::vector<float>(matrix.values.size())};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      result.values[static_cast<std::size_t>(c * rows + r)] = matrix.values[static_cast<std::size_t>(r * columns + c)];
  return result;
}

using Integers = std::vector<std::int64_t>;

// A graph under construction. Every function adds nodes and returns the name of what they compute.
class Builder {
 public:
  Builder(onnx::GraphProto& graph, const NetworkConfig& config, const TensorMap& weights, bool half)
      : graph_(graph), config_(config), weights_(weights), half_(half) {}

  void segmenter() {
    const Size2 grid = config_.grid();
    const Integers side = {config_.patch, config_.patch};
    std::string x = node("Conv", "encoder/patches",
                         {"image", weight("encoder.patch_embed.proj.weight"), weight("encoder.patch_embed.proj.bias")},
                         {{"kernel_shape", side}, {"strides", side}});
    x = reshape("encoder/rows", x, {0, config_.dim, config_.tokens()});
    x = transpose("encoder/patch_tokens", x, {0, 2, 1});
    x = concat("encoder/with_class", {perImage("encoder/class_token", weight("encoder.cls_token"), 1), x}, 1);
    const bool rotary = config_.positions == Positions::kRotary;
    if (rotary)
      rotaryConstants();
    else
      x = node("Add", "encoder/tokens", {x, weight("encoder.pos_embed")});
    for (int i = 0; i < config_.blocks; ++i) x = block("encoder.blocks." + std::to_string(i), x, rotary);
    x = rows("encoder/image_tokens", norm("encoder.norm", x), 1, kEnd);

    x = linear("decoder.proj_dec", x);
    x = concat("decoder/with_classes", {x, perImage("decoder/classes", weight("decoder.cls_emb"), config_.classes)}, 1);
    for (int i = 0; i < config_.decoder_blocks; ++i) x = block("decoder.blocks." + std::to_string(i), x);
    x = norm("decoder.decoder_norm", x);
    const std::string patches = unit(
        "decoder/patches", node("MatMul", "decoder/patches/projected",
                                {rows("decoder/patches/rows", x, 0, -config_.classes), weight("decoder.proj_patch")}));
    const std::string classes =
        unit("decoder/class_masks",
             node("MatMul", "decoder/class_masks/projected",
                  {rows("decoder/class_masks/rows", x, -config_.classes, kEnd), weight("decoder.proj_classes")}));
    x = node("MatMul", "decoder/masks", {patches, transpose("decoder/class_masks/columns", classes, {0, 2, 1})});
    x = transpose("decoder/scores", norm("decoder.mask_norm", x), {0, 2, 1});
    x = reshape("decoder/score_maps", x, {0, config_.classes, grid.height, grid.width});
    const float patch = static_cast<float>(config_.patch);
    node("Resize", "logits", {x, "", constant("scales", std::vector<float>{1, 1, patch, patch}, {4})},
         {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel"}});
  }

 private:
  static constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

  std::string node(const std::string& op, const std::string& output, const std::vector<std::string>& inputs,
                   const std::vector<onnx_graph::Attribute>& attributes = {}) {
    onnx::NodeProto& added = *graph_.add_node();
    added.set_op_type(op);
    added.set_name(output);
    for (const std::string& input : inputs) added.add_input(input);
    added.add_output(output);
    for (const onnx_graph::Attribute& attribute : attributes) onnx_graph::addAttribute(added, attribute);
    return output;
  }

  template <class T>
  std::string constant(const std::string& name, const std::vector<T>& values, const Integers& shape) {
    onnx::TensorProto& added = *graph_.add_initializer();
    added.set_name(name);
    added.set_data_type(std::is_same_v<T, float>           ? onnx::TensorProto::FLOAT
                        : std::is_same_v<T, std::uint16_t> ? onnx::TensorProto::FLOAT16
                                                           : onnx::TensorProto::INT64);
    added.mutable_dims()->Add(shape.begin(), shape.end());
    added.set_raw_data(values.data(), values.size() * sizeof(T));
    return name;
  }
  std::string scalar(const std::string& name, float value) { return constant(name, std::vector{value}, {}); }
  std::string integers(const std::string& name, const Integers& values) {
    return constant(name, values, {static_cast<std::int64_t>(values.size())});
  }
  std::string weight(const std::string& name) {
    const HostTensor& stored = weights_.at(name);
    const auto [shape, values] = storedTransposed(name, stored.shape.size()) ? transposed(stored) : stored;
    if (!half_ || !storedAsHalf(shape)) return constant(name, values, shape);
    return node("Cast", name, {constant(name + std::string(kHalf), toHalf(values), shape)},
                {{"to", onnx::TensorProto::FLOAT}});
  }

  std::string reshape(const std::string& output, const std::string& x, const std::vector<std::int64_t>& shape) {
    return node("Reshape", output, {x, integers(output + "/shape", shape)});  // 0 keeps the size of the input
  }
  std::string transpose(const std::string& output, const std::string& x, const std::vector<std::int64_t>& order) {
    return node("Transpose", output, {x}, {{"perm", order}});
  }
  std::string concat(const std::string& output, const std::vector<std::string>& inputs, std::int64_t axis) {
    return node("Concat", output, inputs, {{"axis", axis}});
  }
  // Rows [from, to) of {batch, rows, dim}.
  std::string rows(const std::string& output, const std::string& x, std::int64_t from, std::int64_t to) {
    return node(
        "Slice", output,
        {x, integers(output + "/from", {from}), integers(output + "/to", {to}), integers(output + "/axis", {1})});
  }
  // {1, count, dim} -> {batch, count, dim}.
  std::string perImage(const std::string& output, const std::string& x, std::int64_t count) {
    const std::string shape = node("Shape", output + "/image_shape", {"image"});
    const std::string batch =
        node("Slice", output + "/batch", {shape, integers(output + "/zero", {0}), integers(output + "/one", {1})});
    const std::string full = concat(output + "/shape", {batch, integers(output + "/rows", {count, config_.dim})}, 0);
    return node("Expand", output, {x, full});
  }
  std::string unit(const std::string& output, const std::string& x) {
    return node("Div", output,
                {x, node("ReduceL2", output + "/length", {x}, {{"axes", Integers{-1}}, {"keepdims", 1}})});
  }

  std::string linear(const std::string& name, const std::string& x) {
    const std::string product = node("MatMul", name + "/product", {x, weight(name + ".weight")});
    return node("Add", name, {product, weight(name + ".bias")});
  }
  std::string norm(const std::string& name, const std::string& x) {
    return node("LayerNormalization", name, {x, weight(name + ".weight"), weight(name + ".bias")},
                {{"axis", -1}, {"epsilon", static_cast<float>(kNormEpsilon)}});
  }

  void rotaryConstants() {
    const RotaryTable table = rotaryTable(config_);
    constant("encoder/cosines", table.cosines, {config_.tokens(), config_.head_dim});
    constant("encoder/sines", table.sines, {config_.tokens(), config_.head_dim});
  }

  // {batch, heads, 1 + tokens, head_dim}; the class token, at no place, stays as it is.
  std::string rotated(const std::string& name, const std::string& x) {
    const std::string axis = integers(name + "/rows/axis", {2}), last = integers(name + "/columns/axis", {3});
    const std::string zero = integers(name + "/zero", {0}), one = integers(name + "/one", {1});
    const std::string half = integers(name + "/half", {config_.head_dim / 2}), end = integers(name + "/end", {kEnd});
    const std::string class_row = node("Slice", name + "/class_row", {x, zero, one, axis});
    const std::string image = node("Slice", name + "/image_rows", {x, one, end, axis});
    const std::string left = node("Slice", name + "/left", {image, zero, half, last});
    const std::string right =
        node("Neg", name + "/minus_right", {node("Slice", name + "/right", {image, half, end, last})});
    const std::string across =
        node("Mul", name + "/across", {concat(name + "/swapped", {right, left}, -1), "encoder/sines"});
    const std::string along = node("Mul", name + "/along", {image, "encoder/cosines"});
    return concat(name + "/rotated", {class_row, node("Add", name + "/turned", {along, across})}, 2);
  }

  std::string attention(const std::string& name, const std::string& x, bool rotary) {
    std::string qkv = reshape(name + "/heads", linear(name + ".qkv", x), {0, 0, 3, config_.heads(), config_.head_dim});
    qkv = transpose(name + "/qkv", qkv, {2, 0, 3, 1, 4});
    node("Split", name + "/q/only", {qkv, integers(name + "/thirds", {1, 1, 1})}, {{"axis", 0}});
    for (const char* part : {"/k/only", "/v/only"}) graph_.mutable_node()->rbegin()->add_output(name + part);
    const std::string first = integers(name + "/first_axis", {0});
    std::string q = node("Squeeze", name + "/q", {name + "/q/only", first});
    std::string k = node("Squeeze", name + "/k", {name + "/k/only", first});
    const std::string v = node("Squeeze", name + "/v", {name + "/v/only", first});
    if (rotary) {
      q = rotated(q, q);
      k = rotated(k, k);
    }
    std::string logits = node("MatMul", name + "/products", {q, transpose(name + "/k/columns", k, {0, 1, 3, 2})});
    const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(config_.head_dim)));
    logits = node("Mul", name + "/logits", {logits, scalar(name + "/scale", scale)});
    const std::string weights = node("Softmax", name + "/weights", {logits}, {{"axis", -1}});
    std::string mixed = node("MatMul", name + "/mixed", {weights, v});
    mixed = transpose(name + "/mixed_rows", mixed, {0, 2, 1, 3});
    return linear(name + ".proj", reshape(name + "/joined", mixed, {0, 0, config_.dim}));
  }

  // x * 0.5 * (1 + erf(x / sqrt 2)): Gelu is an op only from opset 20.
  std::string gelu(const std::string& name, const std::string& x) {
    const std::string scaled = node("Div", name + "/scaled", {x, scalar(name + "/root_of_two", std::sqrt(2.f))});
    const std::string erf = node("Erf", name + "/erf", {scaled});
    const std::string sum = node("Add", name + "/sum", {erf, scalar(name + "/one", 1)});
    return node("Mul", name, {node("Mul", name + "/product", {x, sum}), scalar(name + "/half", 0.5f)});
  }

  std::string block(const std::string& name, std::string x, bool rotary = false) {
    x = node("Add", name + "/after_attention", {x, attention(name + ".attn", norm(name + ".norm1", x), rotary)});
    const std::string hidden = gelu(name + ".mlp/gelu", linear(name + ".mlp.fc1", norm(name + ".norm2", x)));
    return node("Add", name, {x, linear(name + ".mlp.fc2", hidden)});
  }

  onnx::GraphProto& graph_;
  const NetworkConfig& config_;
  const TensorMap& weights_;
  bool half_;
};

void declare(onnx::ValueInfoProto& value, const std::string& name, const std::vector<std::int64_t>& shape) {
  value.set_name(name);
  auto* type = value.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_param("batch");
  for (const std::int64_t size : shape) type->mutable_shape()->add_dim()->set_dim_value(size);
}

}  // namespace

std::string onnxModel(const NetworkConfig& config, const TensorMap& weights, bool half) {
  config.validate();
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name(kProducer);
  model.set_producer_version(MPM_VERSION);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("segmenter");
  declare(*graph.add_input(), "image", {3, config.input.height, config.input.width});
  declare(*graph.add_output(), "logits", {config.classes, config.input.height, config.input.width});
  Builder(graph, config, weights, half).segmenter();
  std::string bytes;
  if (!model.SerializeToString(&bytes)) throw Error("the ONNX file cannot be serialised: it is larger than 2 GB");
  return bytes;
}

OnnxWeights weightsOfOnnx(const std::string& bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) throw Error("it is not an ONNX file");
  const onnx::GraphProto& graph = model.graph();
  if (model.producer_name() != kProducer || graph.input_size() != 1 ||
      graph.input(0).type().tensor_type().shape().dim_size() != 4)
    throw Error("it is an ONNX file of another program; only one of mpm-train says which weights are which");
  OnnxWeights result;
  const auto& shape = graph.input(0).type().tensor_type().shape();
  result.input = {static_cast<int>(shape.dim(2).dim_value()), static_cast<int>(shape.dim(3).dim_value())};
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    std::string name = tensor.name();
    const bool is_weight = name.starts_with("encoder.") || name.starts_with("decoder.");
    if (!is_weight || name.find('/') != std::string::npos) continue;  // a constant of the graph
    const onnx_graph::Tensor read = onnx_graph::readTensor(tensor, {}, "its tensor '" + name + "'");
    if (!read.isFloat()) throw Error("its tensor '" + name + "' holds no floats");
    if (name.ends_with(kHalf)) name.resize(name.size() - kHalf.size());
    const HostTensor values{read.shape, *read.floats};
    result.weights[name] = storedTransposed(name, values.shape.size()) ? transposed(values) : values;
  }
  return result;
}

void writeModel(const std::string& stem, const NetworkConfig& trained, const TensorMap& weights, Size2 input, bool half,
                const ModelFacts& facts) {
  NetworkConfig config = trained;
  config.input = input;
  config.validate();
  const std::string model = onnxModel(config, fittedWeights(weights, trained, config, {}), half);
  onnx_graph::writeModel(stem + ".onnx", model, onnx_graph::factsJson(facts, input));
}

}  // namespace mpm::train
