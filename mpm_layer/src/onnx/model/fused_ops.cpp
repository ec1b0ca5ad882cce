// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/fused_ops.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/model/graph_proto.h"

namespace mpm::onnx_graph {
namespace {

/// Writes the function. An input is named by its number.
class Body {
 public:
  Body(const onnx::NodeProto& call, const InputFacts& facts) : call_(call), facts_(facts) {
    for (int i = 0; i < call.input_size(); ++i) function_.add_input(input(i));
  }

  static std::string input(int index) { return "input" + std::to_string(index); }
  bool has(int index) const { return index < call_.input_size() && !call_.input(index).empty(); }
  bool isProduct(int index) const { return facts_.is_product(index); }
  bool isIntegers(int index) const { return facts_.is_integers(index); }
  /// Whether all inputs from `index` on are left out.
  bool endsAt(int index) const {
    for (int i = index; i < call_.input_size(); ++i)
      if (has(i)) return false;
    return true;
  }
  std::int64_t integer(const std::string& name) const { return attributeOf(call_, name).i(); }
  float number(const std::string& name, float otherwise) const {
    const onnx::AttributeProto* found = findAttribute(call_, name);
    return found ? found->f() : otherwise;
  }
  std::string text(const std::string& name) const { return attributeOf(call_, name).s(); }
  bool hasAttribute(const std::string& name) const { return findAttribute(call_, name) != nullptr; }

  /// Returns the name of its first result.
  std::string add(const std::string& op, const Names& inputs, const std::vector<Attribute>& attributes = {},
                  std::size_t results = 1) {
    Names names;
    for (std::size_t i = 0; i < results; ++i)
      names.push_back(op + std::to_string(function_.node_size()) + (i > 0 ? "." + std::to_string(i) : ""));
    describeNode(*function_.add_node(), op, inputs, names, attributes);
    return names[0];
  }
  /// The first node, with all attributes of the call but these.
  std::string addLike(const std::string& op, const Names& inputs, const std::vector<std::string>& without) {
    const std::string name = add(op, inputs);
    onnx::NodeProto& node = *function_.mutable_node()->rbegin();
    for (const onnx::AttributeProto& attribute : call_.attribute())
      if (std::ranges::find(without, attribute.name()) == without.end()) *node.add_attribute() = attribute;
    return name;
  }
  std::string constant(float value) { return add("Constant", {}, {{"value_float", value}}); }
  std::string constant(std::int64_t value) { return add("Constant", {}, {{"value_int", value}}); }
  std::string constant(const std::vector<std::int64_t>& values) {
    return add("Constant", {}, {{"value_ints", values}});
  }
  std::string reshaped(const std::string& a, const std::vector<std::int64_t>& shape) {
    return add("Reshape", {a, constant(shape)});
  }
  std::string asFloats(const std::string& a) {
    return add("Cast", {a}, {{"to", std::int64_t{onnx::TensorProto::FLOAT}}});
  }
  /// The first columns of a matrix.
  std::string columns(const std::string& a, std::int64_t count) {
    const auto all = [&](std::int64_t value) { return constant(std::vector<std::int64_t>{value}); };
    return add("Slice", {a, all(0), all(count), all(1)});
  }
  std::string sum(const std::string& a, int b) { return has(b) ? add("Add", {a, input(b)}) : a; }
  std::string product(const std::string& a, float factor) {
    return factor == 1 ? a : add("Mul", {a, constant(factor)});
  }

  /// `outputs`: "" where there is none. nullopt when the call reads such a one.
  std::optional<onnx::FunctionProto> finish(const Names& outputs) {
    for (int i = 0; i < call_.output_size(); ++i) {
      const bool made = i < static_cast<int>(outputs.size()) && !outputs[static_cast<std::size_t>(i)].empty();
      if (!call_.output(i).empty() && !made) return std::nullopt;
      function_.add_output(made ? outputs[static_cast<std::size_t>(i)] : "");
    }
    function_.set_name(call_.op_type());
    return std::move(function_);
  }

 private:
  const onnx::NodeProto& call_;
  const InputFacts& facts_;
  onnx::FunctionProto function_;
};

using Unfused = std::optional<onnx::FunctionProto>;

Unfused biasGelu(Body& body) { return body.finish({body.add("Gelu", {body.add("Add", {"input0", "input1"})})}); }

Unfused gelu(Body& body) { return body.finish({body.add("Gelu", {"input0"})}); }

Unfused fastGelu(Body& body) {
  return body.finish({body.add("Gelu", {body.sum("input0", 1)}, {{"approximate", std::string("tanh")}})});
}

Unfused quickGelu(Body& body) {
  const std::string gate = body.add("Sigmoid", {body.product("input0", body.number("alpha", 1.702f))});
  return body.finish({body.add("Mul", {"input0", gate})});
}

/// The norm of a sum, with the bias of the linear layer that made one of its two parts.
Unfused skipNorm(Body& body, bool rms) {
  const int bias = rms ? 3 : 4;
  const int linear = body.isProduct(0) ? 0 : 1;
  const std::string sum = body.add("Add", {Body::input(1 - linear), body.sum(Body::input(linear), bias)});
  Names inputs = {sum, "input2"};
  if (!rms && body.has(3)) inputs.emplace_back("input3");
  const std::string norm = body.add(rms ? "RMSNormalization" : "LayerNormalization", inputs,
                                    {{"axis", std::int64_t{-1}}, {"epsilon", body.number("epsilon", 1e-12f)}});
  return body.finish({norm, "", "", sum});
}

Unfused skipLayerNorm(Body& body) { return skipNorm(body, false); }
Unfused skipRmsNorm(Body& body) { return skipNorm(body, true); }
Unfused rmsNorm(Body& body) {
  return body.finish({body.addLike("RMSNormalization", {"input0", "input1"}, {"stash_type"})});
}

Unfused matMul(Body& body) {
  if (body.integer("transBatchA") != 0 || body.integer("transBatchB") != 0) return std::nullopt;
  const bool a = body.integer("transA") != 0, b = body.integer("transB") != 0;
  const std::string equation = std::string(a ? "...ji" : "...ij") + "," + (b ? "...kj" : "...jk") + "->...ik";
  const std::string product = a || b ? body.add("Einsum", {"input0", "input1"}, {{"equation", equation}})
                                     : body.add("MatMul", {"input0", "input1"});
  return body.finish({body.product(product, body.number("alpha", 1))});
}

/// A product with weights of a few bits. Those of one output lie in blocks along its inputs. A block has a scale, and
/// possibly a number that stands for 0.
Unfused matMulNBits(Body& body) {
  constexpr std::int64_t kMost = 1 << 24;
  const std::int64_t inputs = body.integer("K"), outputs = body.integer("N"), block = body.integer("block_size");
  const std::int64_t bits = body.hasAttribute("bits") ? body.integer("bits") : 4;
  const auto isSize = [](std::int64_t size) { return size >= 1 && size <= kMost; };
  if (!isSize(inputs) || !isSize(outputs) || !isSize(block) || block * bits % 8 != 0 || body.has(4) ||
      !body.isIntegers(1) || (bits != 2 && bits != 4 && bits != 8))
    return std::nullopt;
  const std::int64_t blocks = (inputs + block - 1) / block, in_byte = 8 / bits;
  // Bytes {outputs, row} with the lowest bits first -> {outputs, row * in_byte}.
  const auto unpacked = [&](const std::string& bytes, std::int64_t row) {
    Names digits;
    for (std::int64_t digit = 0; digit < in_byte; ++digit) {
      const std::string shifted = body.add("Div", {bytes, body.constant(std::int64_t{1} << (digit * bits))});
      const std::string one = body.add("Mod", {shifted, body.constant(std::int64_t{1} << bits)});
      digits.push_back(body.reshaped(one, {outputs, row, 1}));
    }
    const std::string all = body.add("Concat", digits, {{"axis", std::int64_t{2}}});
    return body.reshaped(all, {outputs, row * in_byte});
  };
  const std::string numbers = body.reshaped(unpacked("input1", blocks * block * bits / 8), {outputs, blocks, block});
  std::string zero = body.constant(static_cast<float>(1 << (bits - 1)));
  if (body.has(3)) {
    const std::int64_t row = (blocks * bits + 7) / 8;
    const std::string zeros =
        body.isIntegers(3) ? body.asFloats(body.columns(unpacked("input3", row), blocks)) : "input3";
    zero = body.reshaped(zeros, {outputs, blocks, 1});
  }
  const std::string scaled =
      body.add("Mul", {body.add("Sub", {body.asFloats(numbers), zero}), body.reshaped("input2", {outputs, blocks, 1})});
  const std::string weights = body.columns(body.reshaped(scaled, {outputs, blocks * block}), inputs);
  const std::string turned = body.add("Transpose", {weights}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  return body.finish({body.sum(body.add("MatMul", {"input0", turned}), 5)});
}

/// ONNX's operator of the same name takes all heads in one row, too.
Unfused heads(Body& body, const std::string& q, const std::string& k, const std::string& v) {
  const std::int64_t heads = body.integer("num_heads");
  if (heads < 1) return std::nullopt;
  std::vector<Attribute> attributes = {{"q_num_heads", heads}, {"kv_num_heads", heads}};
  if (const float scale = body.number("scale", 0); scale != 0) attributes.emplace_back("scale", scale);
  return body.finish({body.add("Attention", {q, k, v}, attributes)});
}

std::array<std::string, 3> thirds(Body& body, const std::string& of, std::int64_t axis) {
  const std::string first = body.add("Split", {of}, {{"axis", axis}}, 3);
  return {first, first + ".1", first + ".2"};
}

Unfused attention(Body& body) {
  if (!body.endsAt(3) || body.integer("unidirectional") != 0 || body.integer("do_rotary") != 0 ||
      body.hasAttribute("qkv_hidden_sizes"))
    return std::nullopt;
  const auto [q, k, v] = thirds(body, body.sum(body.add("MatMul", {"input0", "input1"}), 2), -1);
  return heads(body, q, k, v);
}

Unfused multiHeadAttention(Body& body) {
  if (!body.endsAt(4) || !body.has(1) || !body.has(2) || body.integer("unidirectional") != 0) return std::nullopt;
  if (!body.has(3)) return heads(body, "input0", "input1", "input2");
  const auto [q, k, v] = thirds(body, "input3", 0);
  return heads(body, body.add("Add", {"input0", q}), body.add("Add", {"input1", k}), body.add("Add", {"input2", v}));
}

Unfused convolution(Body& body) {
  const std::string activation = body.text("activation");
  Names inputs = {"input0", "input1"};
  if (body.has(2)) inputs.emplace_back("input2");
  const std::string sum = body.sum(body.addLike("Conv", inputs, {"activation", "activation_params"}), 3);
  if (activation.empty()) return body.finish({sum});
  if (activation != "Relu" && activation != "Sigmoid" && activation != "Tanh") return std::nullopt;
  return body.finish({body.add(activation, {sum})});
}

}  // namespace

std::optional<onnx::FunctionProto> unfused(const onnx::NodeProto& call, const InputFacts& facts) {
  static const std::vector<std::pair<std::string, Unfused (*)(Body&)>> ops = {
      {"Attention", attention},
      {"BiasGelu", biasGelu},
      {"FastGelu", fastGelu},
      {"FusedConv", convolution},
      {"FusedMatMul", matMul},
      {"Gelu", gelu},
      {"MatMulNBits", matMulNBits},
      {"MultiHeadAttention", multiHeadAttention},
      {"QuickGelu", quickGelu},
      {"SimplifiedLayerNormalization", rmsNorm},
      {"SkipLayerNormalization", skipLayerNorm},
      {"SkipSimplifiedLayerNormalization", skipRmsNorm}};
  const bool simplified = call.domain().empty() && call.op_type() == "SimplifiedLayerNormalization";
  if (call.domain() != "com.microsoft" && !simplified) return std::nullopt;
  const auto op = std::ranges::find(ops, call.op_type(), &std::pair<std::string, Unfused (*)(Body&)>::first);
  if (op == ops.end()) return std::nullopt;
  Body body(call, facts);
  return op->second(body);
}

}  // namespace mpm::onnx_graph
