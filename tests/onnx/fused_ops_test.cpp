// SPDX-License-Identifier: Apache-2.0
// Graphs as ONNX Runtime's optimizers and its fp16 converter leave them: operators of com.microsoft, and Casts.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <tuple>

#include "onnx/graph_builder.h"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

// Writes operators of com.microsoft in place of those of a graph.
class Fuser {
 public:
  explicit Fuser(onnx::GraphProto& graph) : graph_(graph) {}

  onnx::NodeProto* maker(const std::string& value) const {
    for (onnx::NodeProto& node : *graph_.mutable_node())
      for (const std::string& made : node.output())
        if (made == value) return &node;
    return nullptr;
  }
  onnx::NodeProto* maker(const std::string& value, const std::string& op) const {
    onnx::NodeProto* const node = maker(value);
    return node != nullptr && node->op_type() == op ? node : nullptr;
  }
  onnx::NodeProto* reader(const std::string& value, const std::string& op) const {
    for (onnx::NodeProto& node : *graph_.mutable_node())
      if (node.op_type() == op && std::ranges::find(node.input(), value) != node.input().end()) return &node;
    return nullptr;
  }
  onnx::TensorProto* weights(const std::string& name) const {
    for (onnx::TensorProto& tensor : *graph_.mutable_initializer())
      if (tensor.name() == name) return &tensor;
    return nullptr;
  }

  // Of x + bias: {x, bias}; of anything else {value, ""}.
  std::pair<std::string, std::string> withoutBias(const std::string& value) const {
    if (const onnx::NodeProto* const add = maker(value, "Add"))
      for (const int bias : {0, 1})
        if (const onnx::TensorProto* const one = weights(add->input(bias)); one != nullptr && one->dims_size() == 1)
          return {add->input(1 - bias), one->name()};
    return {value, ""};
  }

  // The node becomes another one of the same outputs, and more.
  static void become(onnx::NodeProto& node, const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<GraphBuilder::Attribute>& attributes = {},
                     const std::vector<std::string>& more_outputs = {}, const char* domain = "com.microsoft") {
    node.set_op_type(op);
    node.set_domain(domain);
    node.clear_input();
    for (const std::string& input : inputs) node.add_input(input);
    while (!node.input().empty() && node.input().rbegin()->empty()) node.mutable_input()->RemoveLast();
    node.clear_attribute();
    for (const GraphBuilder::Attribute& one : attributes) *node.add_attribute() = GraphBuilder::attribute(one);
    for (const std::string& output : more_outputs) node.add_output(output);
  }

  // A sum and the norm behind it.
  // `turned`: the optimizer writes the linear layer first.
  void skipNorms(bool with_bias, bool turned = false) const {
    std::set<std::string> gone;
    for (onnx::NodeProto& node : *graph_.mutable_node()) {
      const onnx::NodeProto* const sum = node.op_type() == "LayerNormalization" ? maker(node.input(0), "Add") : nullptr;
      if (sum == nullptr || maker(sum->input(0)) == nullptr || maker(sum->input(1)) == nullptr) continue;
      std::string residual = sum->input(0), added = sum->input(1), bias;
      for (const int branch : {0, 1})
        if (const auto [value, found] = withoutBias(sum->input(branch)); with_bias && !found.empty())
          residual = sum->input(1 - branch), added = value, bias = found;
      gone.insert(sum->output(0));
      if (turned) std::swap(residual, added);
      become(node, "SkipLayerNormalization", {residual, added, node.input(1), node.input(2), bias},
             {{"epsilon", findEpsilon(node)}}, {"", "", sum->output(0)});
    }
    auto& nodes = *graph_.mutable_node();
    for (int i = nodes.size() - 1; i >= 0; --i)
      if (nodes[i].op_type() == "Add" && gone.contains(nodes[i].output(0))) nodes.DeleteSubrange(i, 1);
  }

  void gelus(const std::string& op) const {
    for (onnx::NodeProto& node : *graph_.mutable_node()) {
      if (node.op_type() != "Gelu") continue;
      const auto [x, bias] = withoutBias(node.input(0));
      become(node, op, {x, bias});
    }
  }

  void quickGelus() const {
    for (onnx::NodeProto& node : *graph_.mutable_node()) {
      const onnx::NodeProto* const gate = node.op_type() == "Mul" ? maker(node.input(1), "Sigmoid") : nullptr;
      if (gate != nullptr) become(node, "QuickGelu", {node.input(0)}, {{"alpha", 1.702}});
    }
  }

  // As the fp16 converter of ONNX Runtime leaves a graph.
  void moveCastsToTheEnd() const {
    std::vector<onnx::NodeProto> nodes(graph_.node().begin(), graph_.node().end());
    std::ranges::stable_partition(nodes, [](const onnx::NodeProto& node) { return node.op_type() != "Cast"; });
    graph_.clear_node();
    for (onnx::NodeProto& node : nodes) *graph_.add_node() = std::move(node);
  }

  // What is around each Softmax of separate q, k and v. `write`: the last node, and q, k and v of all heads.
  void attentions(const std::function<void(onnx::NodeProto& last, const std::vector<std::string>& qkv)>& write) const {
    for (int i = 0; i < graph_.node_size(); ++i) {
      const onnx::NodeProto& softmax = graph_.node(i);
      if (softmax.op_type() != "Softmax") continue;
      const onnx::NodeProto *const scores = maker(maker(softmax.input(0), "Mul")->input(0), "MatMul"),
                                   *const mixed = reader(softmax.output(0), "MatMul");
      const auto rows = [&](const std::string& by_head) {
        return maker(maker(by_head)->input(0), "Reshape")->input(0);
      };
      const std::vector<std::string> qkv = {
          rows(scores->input(0)), rows(maker(scores->input(1), "Transpose")->input(0)), rows(mixed->input(1))};
      write(*reader(reader(mixed->output(0), "Transpose")->output(0), "Reshape"), qkv);
    }
  }

  // The parts side by side, along the last axis.
  std::string joined(const std::vector<std::string>& names) const {
    onnx::TensorProto all = *weights(names[0]);
    const int axis = all.dims_size() - 1;
    const std::size_t row = static_cast<std::size_t>(all.dims(axis)) * sizeof(float);
    all.set_name(names[0] + ".all");
    all.set_dims(axis, all.dims(axis) * static_cast<long>(names.size()));
    const std::size_t rows = all.raw_data().size() / row;
    all.clear_raw_data();
    for (std::size_t r = 0; r < rows; ++r)
      for (const std::string& name : names) all.mutable_raw_data()->append(weights(name)->raw_data(), r * row, row);
    *graph_.add_initializer() = all;
    return all.name();
  }

  void multiHeadAttentions(bool with_bias) const {
    attentions([&](onnx::NodeProto& last, std::vector<std::string> inputs) {
      std::vector<std::string> biases;
      if (with_bias)
        for (std::string& one : inputs) std::tie(one, biases.emplace_back()) = withoutBias(one);
      if (with_bias) inputs.push_back(joined(biases));
      become(last, "MultiHeadAttention", inputs, {{"num_heads", 2L}});
    });
  }

  // Linear layers of q, k and v with the attention behind them.
  void wholeAttentions() const {
    attentions([&](onnx::NodeProto& last, const std::vector<std::string>& qkv) {
      std::vector<std::string> weights, biases;
      std::string x;
      for (const std::string& one : qkv) {
        const auto [product, bias] = withoutBias(one);
        x = maker(product, "MatMul")->input(0);
        weights.push_back(maker(product)->input(1));
        biases.push_back(bias);
      }
      become(last, "Attention", {x, joined(weights), joined(biases)}, {{"num_heads", 2L}});
    });
  }

  // q k^T with its factor.
  void products() const {
    for (onnx::NodeProto& node : *graph_.mutable_node()) {
      const onnx::NodeProto* const product = node.op_type() == "Mul" ? maker(node.input(0), "MatMul") : nullptr;
      const onnx::NodeProto* const turned = product != nullptr ? maker(product->input(1), "Transpose") : nullptr;
      if (turned == nullptr) continue;
      const double factor = 1 / std::sqrt(static_cast<double>(TinyVit::kDim) / 2);
      become(node, "FusedMatMul", {product->input(0), turned->input(0)}, {{"transB", 1L}, {"alpha", factor}});
    }
  }

  // All floats between two nodes are fp16 and fp32 again; so are the image and the result.
  void casts() const {
    std::vector<onnx::NodeProto> nodes(graph_.node().begin(), graph_.node().end());
    graph_.clear_node();
    const std::string image = graph_.input(0).name(), result = graph_.output(0).name();
    graph_.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT16);
    const auto cast = [&](const std::string& from, const std::string& to, onnx::TensorProto::DataType type) {
      onnx::NodeProto& node = *graph_.add_node();
      node.add_input(from);
      node.set_name(to);
      become(node, "Cast", {from}, {{"to", static_cast<long>(type)}}, {to}, "");
    };
    cast(image, image + ".cast", onnx::TensorProto::FLOAT);
    std::set<std::string> floats;
    for (onnx::NodeProto& node : nodes) {
      for (std::string& input : *node.mutable_input())
        if (input == image || floats.contains(input)) input += ".cast";
      const std::vector<std::string> made(node.output().begin(), node.output().end());
      *graph_.add_node() = std::move(node);
      for (const std::string& one : made) {
        if (one.empty() || maker(one)->op_type() == "Constant") continue;
        floats.insert(one);
        cast(one, one + ".half", onnx::TensorProto::FLOAT16);
        cast(one + ".half", one + ".cast", onnx::TensorProto::FLOAT);
      }
    }
    graph_.mutable_output(0)->set_name(result + ".cast");
  }

 private:
  static double findEpsilon(const onnx::NodeProto& node) {
    for (const onnx::AttributeProto& one : node.attribute())
      if (one.name() == "epsilon") return one.f();
    return 1e-5;
  }

  onnx::GraphProto& graph_;
};

// How linear layers are quantized.
struct Packing {
  long bits = 4, block = 16;
  enum class Zero { kMiddle, kPacked, kFloats } zero = Zero::kMiddle;
};

// Replaces each product with constant weights by MatMulNBits. In `plain` the same products get the weights that the
// packed ones stand for.
void quantize(onnx::GraphProto& graph, onnx::GraphProto& plain, const Packing& how) {
  const Fuser fused(graph), whole(plain);
  const int most = (1 << how.bits) - 1, per_byte = static_cast<int>(8 / how.bits);
  const auto packed = [&](const std::vector<int>& numbers) {  // of one row, the lowest bits first
    std::string bytes((numbers.size() + per_byte - 1) / per_byte, '\0');
    for (std::size_t i = 0; i < numbers.size(); ++i)
      bytes[i / per_byte] = static_cast<char>(bytes[i / per_byte] | numbers[i] << (i % per_byte * how.bits));
    return bytes;
  };
  const auto add = [&](const std::string& name, onnx::TensorProto::DataType type, const std::vector<long>& shape,
                       const std::string& bytes) {
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const long side : shape) tensor.add_dims(side);
    tensor.set_raw_data(bytes);
    return name;
  };
  int count = 0;
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    const onnx::TensorProto* const matrix = node.op_type() == "MatMul" ? fused.weights(node.input(1)) : nullptr;
    if (matrix == nullptr) continue;
    const long inputs = matrix->dims(0), outputs = matrix->dims(1), blocks = (inputs + how.block - 1) / how.block;
    std::vector<float> weights(static_cast<std::size_t>(inputs * outputs)), scales;
    std::memcpy(weights.data(), matrix->raw_data().data(), weights.size() * sizeof(float));
    std::string bytes, zero_bytes;
    std::vector<float> zero_floats;
    for (long n = 0; n < outputs; ++n) {
      std::vector<int> zeros;
      for (long b = 0; b < blocks; ++b) {
        const auto at = [&](long i) -> float& { return weights[static_cast<std::size_t>(i * outputs + n)]; };
        const long begin = b * how.block, end = std::min(inputs, begin + how.block);
        float largest = 0;
        for (long i = begin; i < end; ++i) largest = std::max(largest, std::abs(at(i)));
        const float scale = 2 * largest / static_cast<float>(most);
        const int middle = 1 << (how.bits - 1),
                  zero = how.zero == Packing::Zero::kMiddle ? middle : middle - (n + b) % 2;
        const float shown_zero =
            how.zero == Packing::Zero::kFloats ? static_cast<float>(zero) + 0.25f : static_cast<float>(zero);
        std::vector<int> numbers(static_cast<std::size_t>(how.block),
                                 1);  // what lies behind the last input says nothing
        for (long i = begin; i < end; ++i) {
          const int number = std::clamp(static_cast<int>(std::lround(at(i) / scale + shown_zero)), 0, most);
          numbers[static_cast<std::size_t>(i - begin)] = number;
          at(i) = (static_cast<float>(number) - shown_zero) * scale;
        }
        bytes += packed(numbers);
        scales.push_back(scale);
        zeros.push_back(zero);
        zero_floats.push_back(shown_zero);
      }
      zero_bytes += packed(zeros);
    }
    const auto floatBytes = [](const std::vector<float>& values) {
      return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    };
    whole.weights(node.input(1))->set_raw_data(floatBytes(weights));
    const std::string name = "packed" + std::to_string(count++);
    std::vector<std::string> all = {
        node.input(0), add(name, onnx::TensorProto::UINT8, {outputs, blocks, how.block * how.bits / 8}, bytes),
        add(name + ".scales", onnx::TensorProto::FLOAT, {outputs * blocks}, floatBytes(scales))};
    if (how.zero == Packing::Zero::kPacked)
      all.push_back(add(name + ".zeros", onnx::TensorProto::UINT8, {static_cast<long>(zero_bytes.size())}, zero_bytes));
    if (how.zero == Packing::Zero::kFloats)
      all.push_back(add(name + ".zeros", onnx::TensorProto::FLOAT, {outputs * blocks}, floatBytes(zero_floats)));
    Fuser::become(node, "MatMulNBits", all,
                  {{"K", inputs}, {"N", outputs}, {"bits", how.bits}, {"block_size", how.block}});
  }
  ASSERT_GE(count, 4);
}

struct Fused {
  std::string name;
  Dialect dialect;
  std::function<void(const Fuser&)> fuse;
  std::string op;  // that the graph has then
};

void PrintTo(const Fused& one, std::ostream* out) { *out << one.name; }

const Dialect kSeparate{.qkv = QkvStyle::kSeparate};

std::vector<Fused> fusedGraphs() {
  const Dialect erf{.opset = 20, .activation = ActivationStyle::kErfOp},
      tanh{.opset = 20, .activation = ActivationStyle::kTanhOp};
  return {
      {"SkipNorms", {}, [](const Fuser& g) { g.skipNorms(false); }, "SkipLayerNormalization"},
      {"SkipNormsWithBias", {}, [](const Fuser& g) { g.skipNorms(true); }, "SkipLayerNormalization"},
      {"SkipNormsTurned", {}, [](const Fuser& g) { g.skipNorms(true, true); }, "SkipLayerNormalization"},
      {"CastsAtTheEnd", {}, [](const Fuser& g) { g.casts(), g.moveCastsToTheEnd(); }, "Cast"},
      {"SkipNormsOfAMask",
       {.head = HeadStyle::kMask},
       [](const Fuser& g) { g.skipNorms(true); },
       "SkipLayerNormalization"},
      {"BiasGelus", erf, [](const Fuser& g) { g.gelus("BiasGelu"); }, "BiasGelu"},
      {"FastGelus", tanh, [](const Fuser& g) { g.gelus("FastGelu"); }, "FastGelu"},
      {"QuickGelus", {.activation = ActivationStyle::kQuick}, [](const Fuser& g) { g.quickGelus(); }, "QuickGelu"},
      {"MultiHead", kSeparate, [](const Fuser& g) { g.multiHeadAttentions(false); }, "MultiHeadAttention"},
      {"MultiHeadWithBias", kSeparate, [](const Fuser& g) { g.multiHeadAttentions(true); }, "MultiHeadAttention"},
      {"Attention", kSeparate, [](const Fuser& g) { g.wholeAttentions(); }, "Attention"},
      {"Products", kSeparate, [](const Fuser& g) { g.products(); }, "FusedMatMul"},
      {"All",
       {.opset = 20, .activation = ActivationStyle::kErfOp, .qkv = QkvStyle::kSeparate, .head = HeadStyle::kMask},
       [](const Fuser& g) {
         g.wholeAttentions();
         g.gelus("BiasGelu");
         g.skipNorms(true);
         g.casts();
       },
       "Attention"},
      {"Casts", {}, [](const Fuser& g) { g.casts(); }, "Cast"},
      {"CastsInNorms", {.norm = NormStyle::kPow}, [](const Fuser& g) { g.casts(); }, "Cast"},
      {"CastsInSoftmax", {.softmax = SoftmaxStyle::kByHand}, [](const Fuser& g) { g.casts(); }, "Cast"},
  };
}

class FusedOps : public InFolder, public ::testing::WithParamInterface<Fused> {};

TEST_P(FusedOps, AreTheSameNetwork) {
  const Fused& one = GetParam();
  TinyVit vit(one.dialect);
  GraphBuilder graph = vit.graph();
  const std::string plain = folder_ / "plain.onnx", fused = folder_ / "fused.onnx";
  GraphBuilder(graph.model()).save(plain);
  one.fuse(Fuser(*graph.model().mutable_graph()));
  const auto& nodes = graph.model().graph().node();
  ASSERT_GE(std::ranges::count(nodes, one.op, [](const auto& node) { return node.op_type(); }), one.dialect.blocks);
  graph.save(fused);
  const std::vector<double> image = TinyVit::image(3);
  const ConvertOptions whole{.reduce = kFullModel, .output = Output::kLogits};
  EXPECT_LT(difference(runModel(fused, whole, image)[0], vit.evaluate(image)[0]), 1e-4);
  const ConvertOptions merging{.reduce = mpmBefore({1, 2}), .output = Output::kLogits};
  EXPECT_EQ(runModel(fused, merging, image, {"merge_map"}), runModel(plain, merging, image, {"merge_map"}));
}

INSTANTIATE_TEST_SUITE_P(OnnxRuntime, FusedOps, ::testing::ValuesIn(fusedGraphs()),
                         [](const auto& tested) { return tested.param.name; });

using PackedWeights = InFolder;

TEST_F(PackedWeights, AreTheNumbersThatTheyStandFor) {
  using enum Packing::Zero;
  const std::vector<double> image = TinyVit::image(3);
  for (const Packing& how :
       {Packing{4, 16, kMiddle}, Packing{4, 16, kPacked}, Packing{4, 32, kPacked}, Packing{4, 8, kPacked},
        Packing{4, 16, kFloats}, Packing{8, 16, kPacked}, Packing{2, 16, kMiddle}}) {
    SCOPED_TRACE(std::to_string(how.bits) + " bits, blocks of " + std::to_string(how.block));
    GraphBuilder graph = TinyVit(kSeparate).graph(), plain(graph.model());
    quantize(*graph.model().mutable_graph(), *plain.model().mutable_graph(), how);
    graph.save(folder_ / "packed.onnx");
    plain.save(folder_ / "plain.onnx");
    for (const ConvertOptions& options : {ConvertOptions{.reduce = kFullModel, .output = Output::kLogits},
                                          ConvertOptions{.reduce = mpmBefore({1, 2}), .output = Output::kLogits}})
      EXPECT_LT(difference(runModel(folder_ / "packed.onnx", options, image)[0],
                           runModel(folder_ / "plain.onnx", options, image)[0]),
                1e-5);
  }
}

using RefusedFusedOps = InFolder;

TEST_F(RefusedFusedOps, WeightsThatAreNotUnderstood) {
  const auto expect = [&](const std::function<void(onnx::NodeProto&)>& change) {
    GraphBuilder graph = TinyVit(kSeparate).graph(), plain(graph.model());
    quantize(*graph.model().mutable_graph(), *plain.model().mutable_graph(), {});
    auto& nodes = *graph.model().mutable_graph()->mutable_node();
    change(*std::ranges::find(nodes, "MatMulNBits", [](const auto& node) { return node.op_type(); }));
    graph.save(folder_ / "model.onnx");
    EXPECT_MPM_ERROR(readModelInfo(folder_ / "model.onnx"), "(MatMulNBits): found the op com.microsoft.MatMulNBits");
  };
  const auto set = [](onnx::NodeProto& node, const std::string& name, long value) {
    for (onnx::AttributeProto& one : *node.mutable_attribute())
      if (one.name() == name) one.set_i(value);
  };
  expect([&](onnx::NodeProto& node) { set(node, "bits", 3); });
  expect([&](onnx::NodeProto& node) { set(node, "K", 0); });
  expect([&](onnx::NodeProto& node) { set(node, "block_size", 1L << 62); });
  expect([](onnx::NodeProto& node) { node.set_input(1, node.input(2)); });  // no bytes
  expect([](onnx::NodeProto& node) {                                        // the order of the inputs
    node.add_input("");
    node.add_input(node.input(1));
  });
}

TEST_F(RefusedFusedOps, AreNamed) {
  const auto expect = [&](const std::function<void(onnx::NodeProto&)>& change) {
    GraphBuilder graph = TinyVit(kSeparate).graph();
    const Fuser fuser(*graph.model().mutable_graph());
    fuser.wholeAttentions();
    onnx::NodeProto* attention = nullptr;
    for (onnx::NodeProto& node : *graph.model().mutable_graph()->mutable_node())
      if (node.op_type() == "Attention") attention = &node;
    change(*attention);
    const std::string path = folder_ / "model.onnx";
    graph.save(path);
    EXPECT_MPM_ERROR(readModelInfo(path), "(Attention): found an op of domain 'com.microsoft'");
  };
  expect([](onnx::NodeProto& node) { node.add_input(node.input(2)); });  // a mask
  expect([](onnx::NodeProto& node) { node.add_output("present"); });
  expect([](onnx::NodeProto& node) { *node.add_attribute() = GraphBuilder::attribute({"unidirectional", 1L}); });
  expect([](onnx::NodeProto& node) {
    *node.add_attribute() = GraphBuilder::attribute({"qkv_hidden_sizes", std::vector<long>{24, 24, 24}});
  });
}

}  // namespace
}  // namespace mpm::test
