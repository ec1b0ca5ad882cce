// SPDX-License-Identifier: Apache-2.0
// Graphs that are almost a plain ViT: the first node that does not fit is named, and what was expected there.
#include <gtest/gtest.h>

#include <functional>

#include "mpm/mpm.hpp"
#include "onnx/tiny_vit.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

class Refusal : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "model.onnx";
  Dialect dialect;
  ConvertOptions options;

  Refusal() { options.schedule = Schedule{}; }

  /// The n-th node of that op.
  static onnx::NodeProto& node(onnx::GraphProto& graph, const std::string& op, int n = 0) {
    for (auto& candidate : *graph.mutable_node()) {
      if (candidate.op_type() == op && n-- == 0) return candidate;
    }
    throw std::runtime_error("no node " + op);
  }
  /// Puts a node behind the first output of `before`: whoever read that reads the new node's output.
  static onnx::NodeProto& insertBehind(onnx::GraphProto& graph, const std::string& before, const std::string& op) {
    int position = 0;
    while (graph.node(position).output(0) != before) ++position;
    for (auto& each : *graph.mutable_node()) {
      for (auto& input : *each.mutable_input()) {
        if (input == before) input = "inserted";
      }
    }
    onnx::NodeProto& made = *graph.add_node();
    made.set_op_type(op);
    made.set_name("inserted");
    made.add_input(before);
    made.add_output("inserted");
    for (int i = graph.node_size() - 1; i > position + 1; --i) graph.mutable_node()->SwapElements(i, i - 1);
    return *graph.mutable_node(position + 1);
  }
  static std::string constant(onnx::GraphProto& graph, const std::vector<long>& shape, float value) {
    auto& tensor = *graph.add_initializer();
    tensor.set_name("constant" + std::to_string(graph.initializer_size()));
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    long count = 1;
    for (const long side : shape) {
      tensor.add_dims(side);
      count *= side;
    }
    for (long i = 0; i < count; ++i) tensor.add_float_data(value + 0.01f * static_cast<float>(i));
    return tensor.name();
  }
  void expect(const std::function<void(onnx::GraphProto&)>& change, const std::string& name, const std::string& part) {
    GraphBuilder builder = TinyVit(dialect).graph();
    change(*builder.model().mutable_graph());
    builder.save(path);
    EXPECT_MPM_ERROR(convertModel(path, options), "node '" + name);
    EXPECT_MPM_ERROR(convertModel(path, options), part);
  }
};

TEST_F(Refusal, MaskOnTheLogits) {
  expect(
      [](onnx::GraphProto& graph) {
        const std::string scores = node(graph, "Softmax").input(0);
        insertBehind(graph, scores, "Add").add_input(constant(graph, {16, 16}, 0.5f));
      },
      "inserted' (Add)", "mask, relative position bias");
}

TEST_F(Refusal, RotaryEmbedding) {
  dialect.qkv = QkvStyle::kSeparate;
  expect(
      [](onnx::GraphProto& graph) {
        const std::string q = node(graph, "MatMul", 3).input(0);
        insertBehind(graph, q, "Mul").add_input(constant(graph, {1, 1, 16, 12}, 0.5f));
      },
      "inserted' (Mul)", "rotary position embedding");
}

TEST_F(Refusal, UnknownActivation) {
  dialect.activation = ActivationStyle::kRelu;
  expect([](onnx::GraphProto& graph) { node(graph, "Relu", 1).set_op_type("Softplus"); }, "Relu", "the op Softplus");
}

TEST_F(Refusal, SoftmaxOverQueries) {
  expect([](onnx::GraphProto& graph) { node(graph, "Softmax", 1).mutable_attribute(0)->set_i(2); }, "Softmax",
         "another axis than the last");
}

TEST_F(Refusal, OldSoftmaxOverSeveralAxes) {
  dialect.opset = 12;
  dialect.norm = NormStyle::kPow;
  expect([](onnx::GraphProto& graph) { node(graph, "Softmax").clear_attribute(); }, "Softmax",
         "another axis than the last");
}

TEST_F(Refusal, KeysOfAnotherNorm) {
  dialect.qkv = QkvStyle::kSeparate;
  expect(
      [](onnx::GraphProto& graph) {
        const std::string normed = node(graph, "MatMul", 0).input(0);
        onnx::NodeProto& k = node(graph, "MatMul", 1);
        k.set_input(0, node(graph, "LayerNormalization", 0).input(0));  // the stream itself
      },
      "", "pre-norm");
}

TEST_F(Refusal, WindowsOfTokens) {
  dialect.special = 0;
  dialect.position = PositionStyle::kBeforeConcat;
  dialect.qkv = QkvStyle::kSeparate;
  // Heads and tokens reshaped to windows of five tokens, as windowed attention does.
  expect(
      [](onnx::GraphProto& graph) {
        for (auto& tensor : *graph.mutable_initializer()) {
          const auto& v = tensor.int64_data();
          if (v.size() == 4 && v[0] == 1 && v[1] == 15 && v[2] == 2) {
            tensor.set_int64_data(0, 3);
            tensor.set_int64_data(1, 5);
          }
        }
      },
      "MatMul", "hierarchical or windowed");
}

static void addPads(onnx::NodeProto& conv) {
  onnx::AttributeProto& pads = *conv.add_attribute();
  pads.set_name("pads");
  pads.set_type(onnx::AttributeProto::INTS);
  for (int i = 0; i < 4; ++i) pads.add_ints(1);
}

TEST_F(Refusal, SecondConvolution) {
  expect(
      [](onnx::GraphProto& graph) {
        onnx::NodeProto& conv = insertBehind(graph, node(graph, "Conv").output(0), "Conv");
        conv.add_input(constant(graph, {24, 24, 3, 3}, 0.1f));
        addPads(conv);
      },
      "inserted' (Conv)", "hierarchical or convolutional backbone");
}

TEST_F(Refusal, PaddedEmbedding) {
  expect([](onnx::GraphProto& graph) { addPads(node(graph, "Conv")); }, "Conv", "padding");
}

TEST_F(Refusal, HeadThatOpenCvComputesWrong) {
  expect(
      [](onnx::GraphProto& graph) {
        onnx::NodeProto& norm = insertBehind(graph, node(graph, "LayerNormalization", 6).output(0), "LpNormalization");
        (void)norm;
      },
      "inserted' (LpNormalization)", "which OpenCV takes over the whole image");
}

TEST_F(Refusal, HeadWithAnUnknownOp) {
  expect([](onnx::GraphProto& graph) { insertBehind(graph, node(graph, "LayerNormalization", 6).output(0), "Det"); },
         "inserted' (Det)", "");
}

TEST_F(Refusal, SecondInput) {
  GraphBuilder builder = TinyVit(dialect).graph();
  builder.input("mask", {1, 16});
  builder.save(path);
  EXPECT_MPM_ERROR(convertModel(path, options), "graph input 'mask': found a second input, expected the image alone");
}

TEST_F(Refusal, ImageOfOtherRank) {
  GraphBuilder builder = TinyVit(dialect).graph();
  builder.model()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->add_dim()
      ->set_dim_value(2);
  builder.save(path);
  EXPECT_MPM_ERROR(convertModel(path, options), "graph input 'image': found rank 5");
}

TEST_F(Refusal, ScheduleOutsideTheBlocks) {
  TinyVit(dialect).save(path);
  options.schedule = Schedule{1, 7};
  EXPECT_MPM_ERROR(convertModel(path, options), "schedule 1,7: block 7 does not exist, the model has 3 blocks");
  options.schedule.reset();
  EXPECT_MPM_ERROR(convertModel(path, options), "schedule 2,5 (the default): block 5 does not exist");
  EXPECT_NO_THROW(readModelInfo(path, options));
  options.schedule = Schedule{2, 1};
  EXPECT_MPM_ERROR(convertModel(path, options), "strictly increasing");
  options.schedule = Schedule{-1};
  EXPECT_MPM_ERROR(convertModel(path, options), "0 or more");
}

TEST_F(Refusal, InputSize) {
  TinyVit(dialect).save(path);
  options.input_size = Size2{18, 20};
  EXPECT_MPM_ERROR(convertModel(path, options), "input size 18x20 is not a multiple of the patch, 4x4 px");
  options.input_size = Size2{0, 20};
  EXPECT_MPM_ERROR(convertModel(path, options), "both sides must be positive");
}

TEST_F(Refusal, HeadMadeForOneSize) {
  dialect.head = HeadStyle::kFeatures;
  GraphBuilder builder = TinyVit(dialect).graph();
  insertBehind(*builder.model().mutable_graph(),
               node(*builder.model().mutable_graph(), "LayerNormalization", 6).output(0), "Sigmoid");
  builder.save(path);
  EXPECT_NO_THROW(convertModel(path, options));
  options.input_size = Size2{16, 24};
  EXPECT_MPM_ERROR(convertModel(path, options), "a head made for one size of input");
}

TEST_F(Refusal, ConvertedModelAskedForSomethingElse) {
  dialect.head = HeadStyle::kLinear;
  TinyVit(dialect).save(path);
  const std::string converted = folder / "converted.onnx";
  options.schedule = Schedule{1};
  convertFile(path, converted, options);
  EXPECT_NO_THROW(convertModel(converted, options));
  EXPECT_NO_THROW(convertModel(converted));
  options.schedule = Schedule{2};
  EXPECT_MPM_ERROR(convertModel(converted, options), "was converted with schedule 1 and cannot be given schedule 2");
  options.schedule = Schedule{};
  EXPECT_MPM_ERROR(convertModel(converted, options), "schedule 1 and cannot be given schedule none");
  options.schedule.reset();
  options.output = Output::kLogits;
  EXPECT_MPM_ERROR(convertModel(converted, options), "output labels");
  options.output = Output::kLabels;
  options.attention = Attention::kProportional;
  EXPECT_MPM_ERROR(convertModel(converted, options), "attention plain");
  options.attention = Attention::kPlain;
  options.input_size = Size2{16, 16};
  EXPECT_MPM_ERROR(convertModel(converted, options), "input size 12x20");
}

}  // namespace
}  // namespace mpm::test
