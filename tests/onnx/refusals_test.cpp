// SPDX-License-Identifier: Apache-2.0
// Graphs that are almost a plain ViT: the first node that does not fit is named, and what was expected there.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <tuple>

#include "mpm/mpm.hpp"
#include "onnx/tiny_vit.h"
#include "support/data_path.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

/// Makes all readers of `from` read `to`.
void reroute(onnx::GraphProto& graph, const std::string& from, const std::string& to) {
  for (auto& each : *graph.mutable_node()) {
    for (auto& input : *each.mutable_input()) {
      if (input == from) input = to;
    }
  }
}

/// The n-th node of that op.
onnx::NodeProto& node(onnx::GraphProto& graph, const char* op, int n = 0) {
  for (auto& candidate : *graph.mutable_node()) {
    if (candidate.op_type() == op && n-- == 0) return candidate;
  }
  throw std::runtime_error(std::string("no node ") + op);
}

/// The node that was added last becomes the n-th.
onnx::NodeProto& moveLastTo(onnx::GraphProto& graph, int position) {
  for (int i = graph.node_size() - 1; i > position; --i) graph.mutable_node()->SwapElements(i, i - 1);
  return *graph.mutable_node(position);
}

void addInts(onnx::NodeProto& node, const char* name, const std::vector<long>& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const long value : values) attribute.add_ints(value);
}

void addInteger(onnx::NodeProto& node, const char* name, long value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void addText(onnx::NodeProto& node, const char* name, const std::string& text) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(text);
}

/// Puts a node behind the first output of `before`: its readers read the new node's output.
onnx::NodeProto& insertBehind(onnx::GraphProto& graph, const std::string before, const std::string& op) {
  int position = 0;
  while (graph.node(position).output(0) != before) ++position;
  reroute(graph, before, "inserted");
  onnx::NodeProto& made = *graph.add_node();
  made.set_op_type(op);
  made.set_name("inserted");
  made.add_input(before);
  made.add_output("inserted");
  return moveLastTo(graph, position + 1);
}

std::string constant(onnx::GraphProto& graph, const std::vector<long>& shape, float value) {
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

class Refusal : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "model.onnx";
  Dialect dialect;
  ConvertOptions options;

  Refusal() { options.reduce = kFullModel; }

  void expect(const std::function<void(onnx::GraphProto&)>& change, const std::string& name, const std::string& part) {
    GraphBuilder builder = TinyVit(dialect).graph();
    change(*builder.model().mutable_graph());
    expect(builder, name, part);
  }
  std::string convertedHead() const { return toString(readModelInfo(path, options).head); }
  void expect(GraphBuilder& builder, const std::string& name, const std::string& part) {
    builder.save(path);
    EXPECT_MPM_ERROR(convertModel(path, options), "node '" + name);
    EXPECT_MPM_ERROR(convertModel(path, options), part);
  }
};

TEST_F(Refusal, FactorsOnTheLogits) {
  expect(
      [](onnx::GraphProto& graph) {
        const std::string scores = node(graph, "Softmax").input(0);
        insertBehind(graph, scores, "Mul").add_input(constant(graph, {16, 16}, 0.5f));
      },
      "inserted' (Mul)", "attention logits times a constant matrix (mask)");
}

/// A bias that an unknown operator makes of constants: the sum is to blame, not that operator.
TEST_F(Refusal, BiasThatCannotBeFolded) {
  expect(
      [](onnx::GraphProto& graph) {
        const std::string scores = node(graph, "Softmax").input(0);
        onnx::NodeProto& add = insertBehind(graph, scores, "Add");
        onnx::NodeProto& layer = *graph.add_node();
        layer.set_op_type("Hardmax");
        layer.set_name("layer");
        layer.add_input(constant(graph, {16, 16}, 0.5f));
        layer.add_output("bias");
        add.add_input("bias");
        moveLastTo(graph, 0);
      },
      "inserted' (Add)", "mask, relative position bias");
}

/// A branch reads tensors that are none of its inputs.
TEST_F(Refusal, BranchOfConstants) {
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string branch = g.node("If", {g.number(1)}, {}, 1, "branch");
  g.model().mutable_graph()->mutable_output(0)->set_name(branch);
  expect(g, "branch' (If)", "found the op If");
}

TEST_F(Refusal, BranchesThatDoNotFit) {
  const auto withBranch = [](onnx::NodeProto& choice, const onnx::GraphProto& body) {
    onnx::AttributeProto& branch = *choice.add_attribute();
    branch.set_name("then_branch");
    branch.set_type(onnx::AttributeProto::GRAPH);
    *branch.mutable_g() = body;
  };
  onnx::GraphProto two, again;
  for (onnx::GraphProto* body : {&two, &again}) body->add_output()->set_name("features");
  two.add_output()->set_name("features");
  *again.add_initializer() = TinyVit(dialect).graph().model().graph().initializer(0);
  const std::pair<const onnx::GraphProto*, const char*> cases[] = {{&two, "a branch with 2 results"},
                                                                   {&again, "again"}};
  for (const auto& [body, found] : cases) {
    GraphBuilder g = TinyVit(dialect).graph();
    g.weights("condition", {}, {1});
    g.node("If", {"condition"}, {}, 1, "branch");
    withBranch(*g.model().mutable_graph()->mutable_node()->rbegin(), *body);
    g.model().mutable_graph()->mutable_output(0)->set_name("branch");
    expect(g, "branch' (If)", found);
  }
}

/// A Gather that leaves a patch out and repeats another one.
TEST_F(Refusal, PatchesLeftOut) {
  expect(
      [](onnx::GraphProto& graph) {
        onnx::NodeProto& gather = insertBehind(graph, node(graph, "Concat").output(0), "Gather");
        gather.add_input("rows");
        onnx::TensorProto& rows = *graph.add_initializer();
        rows.set_name("rows");
        rows.set_data_type(onnx::TensorProto::INT64);
        rows.add_dims(16);
        for (int i = 0; i < 16; ++i) rows.add_int64_data(i == 5 ? 6 : i);
        addInteger(gather, "axis", 1);
      },
      "", "found patches left out or repeated");
}

TEST_F(Refusal, QueriesTimesAMask) {
  dialect.qkv = QkvStyle::kSeparate;
  expect(
      [](onnx::GraphProto& graph) {
        const std::string q = node(graph, "MatMul", 3).input(0);
        insertBehind(graph, q, "Mul").add_input(constant(graph, {1, 1, 16, 12}, 0.5f));
      },
      "MatMul_29' (MatMul)",
      "times a constant that differs from token to token (mask), expected rotary positions on q and k");
}

TEST_F(Refusal, UnknownActivation) {
  dialect.activation = ActivationStyle::kRelu;
  expect([](onnx::GraphProto& graph) { node(graph, "Relu", 1).set_op_type("Softplus"); }, "Relu", "the op Softplus");
}

TEST_F(Refusal, SoftmaxOverQueries) {
  expect([](onnx::GraphProto& graph) { node(graph, "Softmax", 1).mutable_attribute(0)->set_i(2); }, "Softmax",
         "another axis than the last");
}

TEST_F(Refusal, LongNodeNameIsCut) {
  expect(
      [](onnx::GraphProto& graph) {
        onnx::NodeProto& softmax = node(graph, "Softmax", 1);
        softmax.set_name(std::string(400, 'x') + "/end");
        softmax.mutable_attribute(0)->set_i(2);
      },
      "..." + std::string(76, 'x') + "/end' (Softmax)", "another axis than the last");
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

/// Windows that overlap, as in no partition of the grid.
TEST_F(Refusal, WindowsThatShareTokens) {
  dialect.special = 0;
  dialect.windowed = true;
  expect(
      [](onnx::GraphProto& graph) {
        for (onnx::NodeProto& each : *graph.mutable_node()) {
          if (each.op_type() != "LayerNormalization") continue;
          onnx::NodeProto& take = insertBehind(graph, each.output(0), "Gather");
          auto& rows = *graph.add_initializer();
          rows.set_name("rows");
          rows.set_data_type(onnx::TensorProto::INT64);
          rows.add_dims(TinyVit::kTokens);
          for (int i = 0; i < TinyVit::kTokens; ++i) rows.add_int64_data(i / 2);
          take.add_input("rows");
          addInteger(take, "axis", 1);
          return;
        }
      },
      "", "hierarchical or windowed");
}

TEST_F(Refusal, BiasInsideWindows) {
  dialect.special = 0;
  dialect.windowed = true;
  expect(
      [](onnx::GraphProto& graph) {
        const std::string scores = node(graph, "Softmax").input(0);
        insertBehind(graph, scores, "Add").add_input(constant(graph, {TinyVit::kGridH, TinyVit::kGridH}, 0.5f));
      },
      "inserted' (Add)", "hierarchical or windowed");
}

/// A graph of samvit with one change.
class WindowRefusal : public ::testing::Test {
 protected:
  void expect(const std::function<void(onnx::GraphProto&)>& change, const std::string& found) {
    const TemporaryFolder folder;
    const std::string path = folder / "model.onnx";
    onnx::ModelProto model;
    std::ifstream file(dataPath("samvit_224_dynamo18.onnx"), std::ios::binary);
    ASSERT_TRUE(model.ParseFromIstream(&file));
    change(*model.mutable_graph());
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    EXPECT_MPM_ERROR(convertModel(path, {}), "found " + found);
  }
};

TEST_F(WindowRefusal, PositionsOfQueryRowAndKeyColumn) {
  expect(
      [](onnx::GraphProto& graph) {
        onnx::AttributeProto& equation = *node(graph, "Einsum", 1).mutable_attribute(0);
        ASSERT_EQ(equation.s(), "bhwc,wkc->bhwk");
        equation.set_s("bhwc,hkc->bhwk");
      },
      "products of tokens and constants added to logits");
}

TEST_F(WindowRefusal, PositionsThatAreNotRelative) {
  expect(
      [](onnx::GraphProto& graph) {
        for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
          if (tensor.name() == node(graph, "Einsum").input(1)) tensor.mutable_raw_data()->back() ^= 1;
        }
      },
      "products of tokens and constants added to logits");
}

TEST_F(WindowRefusal, PaddingWithOtherThanZeros) {
  expect([](onnx::GraphProto& graph) { node(graph, "Pad").add_input(constant(graph, {}, 1)); },
         "a padded grid of tokens");
}

void addPads(onnx::NodeProto& conv) { addInts(conv, "pads", {1, 1, 1, 1}); }

TEST_F(Refusal, SecondConvolution) {
  expect(
      [](onnx::GraphProto& graph) {
        onnx::NodeProto& conv = insertBehind(graph, node(graph, "Conv").output(0), "Conv");
        conv.add_input(constant(graph, {24, 24, 3, 3}, 0.1f));
        addPads(conv);
      },
      "inserted' (Conv)", "hierarchical or convolutional backbone");
}

/// A transpose of the last two axes in front of the n-th node.
void transposeAt(onnx::GraphProto& graph, int position, const std::string& from, const std::string& to) {
  onnx::NodeProto& turn = *graph.add_node();
  turn.set_op_type("Transpose");
  turn.add_input(from);
  turn.add_output(to);
  addInts(turn, "perm", {0, 2, 1});
  moveLastTo(graph, position);
}

/// ONNX Runtime's optimiser moves a transpose into the first norm.
TEST_F(Refusal, NormOfTransposedTokens) {
  dialect.norm = NormStyle::kPow;
  expect(
      [](onnx::GraphProto& graph) {
        const auto position = [&](const char* op) {
          int i = 0;
          while (graph.node(i).op_type() != op) ++i;
          return i;
        };
        const std::string tokens = node(graph, "ReduceMean").input(0), centred = node(graph, "Sub").output(0);
        node(graph, "Sub").set_output(0, "turned and centred");
        transposeAt(graph, position("Sub") + 1, "turned and centred", centred);
        node(graph, "Sub").set_input(0, "turned");
        onnx::NodeProto& mean = node(graph, "ReduceMean");
        mean.set_input(0, "turned");
        for (auto& attribute : *mean.mutable_attribute())
          if (attribute.name() == "axes") attribute.set_ints(0, 1);
        transposeAt(graph, position("ReduceMean"), tokens, "turned");
      },
      "", "as ONNX Runtime's optimiser leaves them");
}

TEST_F(Refusal, ConvolutionsOfAHeadAreNotToBlame) {
  onnx::ModelProto model;
  std::ifstream file(dataPath("dpt_ts16.onnx"), std::ios::binary);
  ASSERT_TRUE(model.ParseFromIstream(&file));
  node(*model.mutable_graph(), "Erf").set_op_type("Softplus");
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  EXPECT_MPM_ERROR(convertModel(path, options), "found the op Softplus, expected a plain pre-norm ViT");
}

TEST_F(Refusal, PaddedEmbedding) {
  expect([](onnx::GraphProto& graph) { addInts(node(graph, "Conv"), "pads", {0, 0, 1, 1}); }, "Conv", "padding");
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

TEST_F(Refusal, ImageWithChannelsLast) {
  GraphBuilder builder = TinyVit(dialect).graph();
  auto& shape =
      *builder.model().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const long side : {12, 224}) {
    shape.mutable_dim(1)->set_dim_value(side);
    shape.mutable_dim(2)->set_dim_value(side);
    shape.mutable_dim(3)->set_dim_value(3);
    const std::string sides = std::to_string(side) + "x" + std::to_string(side);
    builder.save(path);
    EXPECT_MPM_ERROR(convertModel(path, options),
                     "graph input 'image': found shape 1x" + sides +
                         "x3, expected batch x channels x height x width (this looks like channels last)");
  }
}

TEST_F(Refusal, SidesBeyondAllModels) {
  for (const auto& [axis, side, part] : {std::tuple(0, 257, "a batch of 257 images"),
                                         {1, 65, "65 channels"},
                                         {2, 1 << 20, "expected at most"},
                                         {3, 1 << 20, "expected at most"}}) {
    GraphBuilder builder = TinyVit(dialect).graph();
    builder.model()
        .mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(axis)
        ->set_dim_value(side);
    builder.save(path);
    EXPECT_MPM_ERROR(convertModel(path, options), part);
  }
}

/// The products of q and k in a graph that writes them as Einsum.
TEST_F(Refusal, EinsumsThatAreNoAttention) {
  dialect.qkv = QkvStyle::kEinsum;
  for (const char* equation : {"bqhd", "bqhd->bhqk", "bqhd,bkhd", "bqh,bkhd->bhqk", "bqhd,bkh->bhqk", "bqhd,bkhd->bhq",
                               "bqhd,bkhd->bqk", "bqhd,bqhd->bqhd", "bqhd,bkhe->bhqk", "bqhd,bkhd->bhkq"}) {
    SCOPED_TRACE(equation);
    expect([&](onnx::GraphProto& graph) { node(graph, "Einsum").mutable_attribute(0)->set_s(equation); }, "Einsum",
           "(Einsum): found");
  }
}

TEST_F(Refusal, ScheduleOutsideTheBlocks) {
  TinyVit(dialect).save(path);
  options.reduce = mpmBefore({1, 7});
  EXPECT_MPM_ERROR(convertModel(path, options),
                   "reduction 'mpm:blocks=1,7': block 7 does not exist, the model has 3 blocks");
  EXPECT_MPM_ERROR(readModelInfo(path, options),
                   "reduction 'mpm:blocks=1,7': block 7 does not exist, the model has 3 blocks");
  options.reduce = mpmBefore({2, 1});
  EXPECT_MPM_ERROR(convertModel(path, options), "strictly increasing");
  options.reduce = mpmBefore({-1});
  EXPECT_MPM_ERROR(convertModel(path, options), "0 or more");
}

TEST_F(Refusal, InputSize) {
  TinyVit(dialect).save(path);
  options.input_size = Size2{18, 20};
  EXPECT_MPM_ERROR(convertModel(path, options),
                   "input size 18x20 (height x width) is not a multiple of the patch, 4x4 px");
  for (const Size2 size : {Size2{12, 18}, {2, 20}, {12, 2}}) {
    options.input_size = size;
    EXPECT_MPM_ERROR(convertModel(path, options), "is not a multiple of the patch");
  }
  for (const Size2 size : {Size2{1 << 20, 20}, {12, 1 << 20}}) {
    options.input_size = size;
    EXPECT_MPM_ERROR(convertModel(path, options), "is larger than");
  }
  options.input_size = Size2{0, 20};
  EXPECT_MPM_ERROR(convertModel(path, options), "both sides must be positive");
}

TEST_F(Refusal, WindowsOfAnotherSize) {
  dialect.special = 0;
  dialect.windowed = true;
  TinyVit(dialect).save(path);
  options.input_size = Size2{16, 40};
  EXPECT_MPM_ERROR(convertModel(path, options), "its windows or relative positions are for 12x20 px");
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

/// Between two blocks, the rows from `first` on get tanh of themselves added.
void interact(onnx::GraphProto& graph, int first) {
  const std::string x = node(graph, "LayerNormalization", 2).input(0);
  int position = 0;
  while (graph.node(position).output(0) != x) ++position;
  reroute(graph, x, "joined");
  const auto number = [&](long value) {
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name("number" + std::to_string(graph.initializer_size()));
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(1);
    tensor.add_int64_data(value);
    return tensor.name();
  };
  const auto insert = [&](const char* op, const std::vector<std::string>& inputs, const std::string& output) -> auto& {
    onnx::NodeProto& made = *graph.add_node();
    made.set_op_type(op);
    made.set_name(output);
    for (const std::string& input : inputs) made.add_input(input);
    made.add_output(output);
    return moveLastTo(graph, ++position);
  };
  insert("Slice", {x, number(first), number(1L << 60), number(1)}, "part");
  insert("Tanh", {"part"}, "foreign");
  insert("Add", {"part", "foreign"}, "sum");
  insert("Slice", {x, number(0), number(first), number(1)}, "rest");
  addInteger(insert("Concat", {"rest", "sum"}, "joined"), "axis", 1);
}

TEST_F(Refusal, InteractionsOfSomePatches) {
  GraphBuilder builder = TinyVit(dialect).graph();
  interact(*builder.model().mutable_graph(), dialect.special);
  builder.save(path);
  options.reduce = mpmBefore({1});
  EXPECT_EQ(readModelInfo(path, options).blocks, 3);
  expect([&](onnx::GraphProto& graph) { interact(graph, dialect.special + 1); }, "sum' (Add)",
         "an addition to 14 tokens of a grid of 15");
}

TEST_F(Refusal, ConvertedModelAskedForSomethingElse) {
  dialect.head = HeadStyle::kLinear;
  TinyVit(dialect).save(path);
  const std::string converted = folder / "converted.onnx";
  options.reduce = mpmBefore({1});
  convertFile(path, converted, options);
  EXPECT_NO_THROW(convertModel(converted, options));
  EXPECT_NO_THROW(convertModel(converted));
  options.reduce = mpmBefore({2});
  EXPECT_MPM_ERROR(convertModel(converted, options),
                   "was converted with reduction mpm:blocks=1 and cannot be given reduction mpm:blocks=2");
  options.reduce = kFullModel;
  EXPECT_MPM_ERROR(convertModel(converted, options), "mpm:blocks=1 and cannot be given reduction none");
  options.reduce.reset();
  options.output = Output::kLogits;
  EXPECT_MPM_ERROR(convertModel(converted, options), "output labels");
  options.output = Output::kLabels;
  options.reduce = mpmBefore({1}, Attention::kProportional);
  EXPECT_MPM_ERROR(convertModel(converted, options), "cannot be given reduction mpm:blocks=1:attention=proportional");
  options.reduce = mpmBefore({1}, Attention::kPlain);
  options.input_size = Size2{16, 16};
  EXPECT_MPM_ERROR(convertModel(converted, options), "input size 12x20");
  options.input_size.reset();
  options.precision = Precision::kBf16;
  EXPECT_MPM_ERROR(convertModel(converted, options), "precision fp32 and cannot be given precision bf16");
  options.precision = Precision::kFp32;
  options.scores = true;
  EXPECT_MPM_ERROR(convertModel(converted, options), "was converted with no output 'scores' and cannot be given one");
}

TEST_F(Refusal, ConvertedModelWithoutItsMetadata) {
  TinyVit(dialect).save(path);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(convertModel(path, options).bytes));
  onnx::ModelProto other = model, without = model;
  for (auto& entry : *other.mutable_metadata_props())
    if (entry.key() == "mpm.format") entry.set_value("2");
  for (auto& entry : *without.mutable_metadata_props())
    if (entry.key() == "mpm.info") entry.set_key("info");
  model.clear_metadata_props();
  for (const onnx::ModelProto* each : {&model, &other, &without}) {
    std::ofstream(path, std::ios::binary) << each->SerializeAsString();
    EXPECT_MPM_ERROR(convertModel(path, options), "not the metadata mpm.format = 1 and mpm.info");
  }
}

TEST_F(Refusal, SizeThatNothingTells) {
  dialect.symbolic = true;
  GraphBuilder builder = TinyVit(dialect).graph();
  for (auto& tensor : *builder.model().mutable_graph()->mutable_initializer()) {
    if (tensor.name() != "position") continue;
    tensor.clear_dims();  // {tokens, dim} does the same, and is not what a position embedding looks like
    for (const long side : {TinyVit::kTokens + 1, TinyVit::kDim}) tensor.add_dims(side);
  }
  builder.save(path);
  EXPECT_MPM_ERROR(convertModel(path, options), "does not say how large its image is: give an input size");
  options.input_size = Size2{TinyVit::kHeight, TinyVit::kWidth};
  EXPECT_NO_THROW(convertModel(path, options));
}

TEST_F(Refusal, GraphsWithoutWhatAGraphHas) {
  const auto expectWhole = [&](const std::function<void(onnx::GraphProto&)>& change, const std::string& part) {
    GraphBuilder builder = TinyVit(dialect).graph();
    change(*builder.model().mutable_graph());
    builder.save(path);
    EXPECT_MPM_ERROR(convertModel(path, options), part);
  };
  expectWhole([](onnx::GraphProto& graph) { graph.add_sparse_initializer(); }, "sparse initialisers");
  expectWhole([](onnx::GraphProto& graph) { graph.clear_input(); }, "the graph has no input, expected an image");
  expectWhole([](onnx::GraphProto& graph) { graph.clear_output(); }, "the graph has no output");
  expectWhole([](onnx::GraphProto& graph) { graph.add_output()->set_name(constant(graph, {2}, 1)); },
              "does not depend on the image");
  expectWhole(
      [](onnx::GraphProto& graph) {
        onnx::NodeProto& dropout = insertBehind(graph, "features", "Dropout");
        *dropout.add_output() = "mask";
        graph.add_output()->set_name("mask");
      },
      "output 'mask' is made by nothing that runs at inference");
  expectWhole(
      [](onnx::GraphProto& graph) {
        graph.mutable_node(graph.node_size() - 1)->set_output(0, "merge_map");
        graph.mutable_output(0)->set_name("merge_map");
      },
      "output 'merge_map', a name that the converted net needs itself");
}

TEST_F(Refusal, ClassScoresOfAnotherSize) {
  for (const HeadStyle head : {HeadStyle::kLinear, HeadStyle::kMask}) {
    dialect.head = head;
    expect(
        [](onnx::GraphProto& graph) {
          const std::string sizes = node(graph, "Resize").input(3);
          for (auto& tensor : *graph.mutable_initializer()) {
            if (tensor.name() == sizes) tensor.set_int64_data(2, 7);
          }
        },
        "Resize",
        "found class scores resized to 7x20, expected the size of the input, 12x20, or of the patch grid, 3x5");
  }
}

/// By 4.1 of 3 px is 12 px, but not those of a Resize to 12 px.
/// They are no label map of the size of the input, but OpenCV or our operators compute them.
TEST_F(Refusal, NoneOfClassScoresResizedToAFractionOfAPixel) {
  dialect.head = HeadStyle::kLinear;
  for (const double scale : {4.0, 4.1}) {
    GraphBuilder g = TinyVit(dialect).graph();
    onnx::NodeProto& resize = node(*g.model().mutable_graph(), "Resize");
    resize.mutable_input()->RemoveLast();
    resize.set_input(2, g.weights("scales", {4}, {1, 1, scale, 4}));
    g.save(path);
    EXPECT_EQ(convertedHead(), scale == 4 ? "linear" : "other");
  }
}

TEST_F(Refusal, OutputListedTwice) {
  GraphBuilder builder = TinyVit(dialect).graph();
  builder.output("features");
  builder.save(path);
  EXPECT_MPM_ERROR(convertModel(path, options), "graph output 'features' is listed twice, expected every name once");
}

TEST_F(Refusal, DecoderOfSomethingElseThanTokens) {
  dialect.head = HeadStyle::kMask;
  GraphBuilder builder = TinyVit(dialect).graph();
  onnx::GraphProto& graph = *builder.model().mutable_graph();
  insertBehind(graph, node(graph, "Concat", 1).input(0), "Abs");
  builder.save(path);
  EXPECT_MPM_ERROR(convertModel(path, options), "'inserted' (Abs)");
}

struct Case {
  const char* name;
  std::function<void(Dialect&)> dialect;
  std::function<void(onnx::GraphProto&)> change;
  const char* node;   ///< the first that does not fit
  const char* found;  ///< what is wrong with it
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.found; }

class RefusedEncoder : public Refusal, public ::testing::WithParamInterface<Case> {};

TEST_P(RefusedEncoder, IsNamed) {
  GetParam().dialect(dialect);
  expect(GetParam().change, GetParam().node, GetParam().found);
}

void attentionOp(Dialect& dialect) {
  dialect.opset = 23;
  dialect.qkv = QkvStyle::kAttentionOp;
}

void qkNorm(Dialect& dialect) { dialect.qk_norm = true; }

/// One integer as a list.
std::string integer(onnx::GraphProto& graph, long value) {
  auto& tensor = *graph.add_initializer();
  tensor.set_name("integer" + std::to_string(graph.initializer_size()));
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(1);
  tensor.add_int64_data(value);
  return tensor.name();
}

onnx::NodeProto& maker(onnx::GraphProto& graph, const std::string& value) {
  for (auto& candidate : *graph.mutable_node()) {
    if (candidate.output(0) == value) return candidate;
  }
  throw std::runtime_error("nothing makes " + value);
}

/// Cuts the kernels of the patch embedding to so many channels each.
void cutEmbedding(onnx::GraphProto& graph, long channels) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (tensor.name() != node(graph, "Conv").input(1)) continue;
    tensor.set_dims(1, channels);
    tensor.mutable_raw_data()->resize(
        static_cast<std::size_t>(TinyVit::kDim * channels * TinyVit::kPatch * TinyVit::kPatch) * sizeof(float));
  }
}

onnx::NodeProto& reader(onnx::GraphProto& graph, const std::string& value) {
  for (auto& candidate : *graph.mutable_node()) {
    if (candidate.input_size() > 0 && candidate.input(0) == value) return candidate;
  }
  throw std::runtime_error("nothing reads " + value);
}

/// The operator Attention gets {1, tokens, heads * head_dim}, from before the heads are taken apart.
void takeHeadsByNumber(onnx::GraphProto& graph, long queries, long keys) {
  onnx::NodeProto& attention = node(graph, "Attention");
  for (int i = 0; i < 3; ++i) attention.set_input(i, maker(graph, maker(graph, attention.input(i)).input(0)).input(0));
  addInteger(attention, "q_num_heads", queries);
  addInteger(attention, "kv_num_heads", keys);
  onnx::NodeProto& behind = reader(graph, attention.output(0));  // heads stay behind tokens
  behind.set_op_type("Identity");
  behind.clear_attribute();
}

const Case kEncoders[] = {
    {"DilatedEmbeddingThatIsNotPadded", [](Dialect&) {},
     [](onnx::GraphProto& graph) {
       onnx::NodeProto& conv = node(graph, "Conv");
       conv.mutable_attribute()->RemoveLast();
       addInts(conv, "strides", {2, 4});  // as many patches as before
       addInts(conv, "dilations", {2, 1});
       addText(conv, "auto_pad", "VALID");
     },
     "Conv", "padding, groups or dilation"},
    {"EmbeddingOfEachChannelAlone", [](Dialect&) {},
     [](onnx::GraphProto& graph) {
       cutEmbedding(graph, 1);
       addInteger(node(graph, "Conv"), "group", 3);
     },
     "Conv", "padding, groups or dilation"},
    {"EmbeddingOfTwoChannels", [](Dialect&) {}, [](onnx::GraphProto& graph) { cutEmbedding(graph, 2); }, "Conv",
     "found weights 24x2x4x4 for 3 channels"},
    {"EmbeddingWithABiasForHalfOfTheFeatures", [](Dialect&) {},
     [](onnx::GraphProto& graph) { node(graph, "Conv").set_input(2, constant(graph, {TinyVit::kDim / 2}, 1)); }, "Conv",
     "a bias that is not constant"},
    {"SharedKeys", attentionOp, [](onnx::GraphProto& graph) { takeHeadsByNumber(graph, Dialect{}.heads, 1); },
     "Attention", "keys shared by several heads"},
    {"HeadsThatDoNotDivideTheFeatures", attentionOp, [](onnx::GraphProto& graph) { takeHeadsByNumber(graph, 5, 5); },
     "Attention", "keys shared by several heads"},
    {"KeysOfAnotherShape", attentionOp,
     [](onnx::GraphProto& graph) {
       onnx::NodeProto& attention = node(graph, "Attention");
       attention.set_input(1, maker(graph, attention.input(1)).input(0));  // tokens before heads
     },
     "Attention", "q, k and v of different shapes"},
    {"MaskedAttention", attentionOp,
     [](onnx::GraphProto& graph) {
       onnx::NodeProto& attention = node(graph, "Attention");
       attention.add_input("");
       attention.add_input(constant(graph, {1, 2, 3, 12}, 0.5f));
     },
     "Attention", "attention with a mask or a cache"},
    {"CausalAttention", attentionOp,
     [](onnx::GraphProto& graph) { addInteger(node(graph, "Attention"), "is_causal", 1); }, "Attention",
     "causal or capped attention"},
    {"CappedAttention", attentionOp,
     [](onnx::GraphProto& graph) {
       onnx::AttributeProto& cap = *node(graph, "Attention").add_attribute();
       cap.set_name("softcap");
       cap.set_type(onnx::AttributeProto::FLOAT);
       cap.set_f(20);
     },
     "Attention", "causal or capped attention"},
    {"ChoiceBehindTheSoftmax", [](Dialect&) {},
     [](onnx::GraphProto& graph) {
       onnx::NodeProto& where = insertBehind(graph, node(graph, "Softmax").output(0), "Where");
       const std::string scores = where.input(0);
       where.clear_input();
       for (const std::string& input : {constant(graph, {1}, 1), constant(graph, {1}, 0), scores})
         where.add_input(input);
     },
     "inserted", "a choice between tensors (mask)"},
    {"OnlyQueriesNormalised", qkNorm,
     [](onnx::GraphProto& graph) {
       const onnx::NodeProto& k_norm = node(graph, "LayerNormalization", 2);
       reroute(graph, k_norm.output(0), k_norm.input(0));
     },
     "MatMul", "found attention, expected q and k normalised both, or neither"},
    {"TwoEpsilons", qkNorm,
     [](onnx::GraphProto& graph) { node(graph, "LayerNormalization", 2).mutable_attribute(1)->set_f(1e-3f); }, "MatMul",
     "found attention, expected one epsilon for q and k"},
    {"NoActivation", [](Dialect& dialect) { dialect.activation = ActivationStyle::kRelu; },
     [](onnx::GraphProto& graph) {
       const onnx::NodeProto& relu = node(graph, "Relu");
       reroute(graph, relu.output(0), relu.input(0));
     },
     "", "found a linear layer, expected GELU, SiLU or ReLU between two linear layers"},
    {"EveryQueryToTheKeysOfEveryHead", [](Dialect& dialect) { dialect.qkv = QkvStyle::kSeparate; },
     [](onnx::GraphProto& graph) {
       onnx::NodeProto& turn =
           maker(graph, maker(graph, maker(graph, node(graph, "Softmax").input(0)).input(0)).input(1));
       turn.clear_attribute();
       addInts(turn, "perm", {1, 0, 3, 2});  // heads by their side of 1
       onnx::NodeProto& slice = insertBehind(graph, reader(graph, node(graph, "Softmax").output(0)).output(0), "Slice");
       for (const long value : {0, 1, 0}) slice.add_input(integer(graph, value));
     },
     "MatMul", "found q and k of shapes 1x2x16x12 and 2x1x16x12"},
    {"EveryHeadToTheValuesOfEveryHead", [](Dialect& dialect) { dialect.qkv = QkvStyle::kSeparate; },
     [](onnx::GraphProto& graph) {
       const onnx::NodeProto& context = reader(graph, node(graph, "Softmax").output(0));
       onnx::NodeProto& turn = maker(graph, context.input(1));
       turn.clear_attribute();
       addInts(turn, "perm", {2, 0, 1, 3});
       onnx::NodeProto& slice = insertBehind(graph, context.output(0), "Slice");
       for (const long value : {0, 1, 0}) slice.add_input(integer(graph, value));
     },
     "MatMul", "found a result repeated by broadcasting"},
    {"WeightsOfAttentionTimesAConstant", [](Dialect&) {},
     [](onnx::GraphProto& graph) {
       insertBehind(graph, node(graph, "Softmax").output(0), "Mul").add_input(constant(graph, {1}, 0.5f));
     },
     "inserted", "attention weights plus or times a constant"},
    {"ASoftmaxOfTokens", [](Dialect&) {},
     [](onnx::GraphProto& graph) { insertBehind(graph, node(graph, "Concat").output(0), "Softmax"); }, "inserted",
     "a Softmax of something else than q k^T"},
    {"TokensDividedByZero", [](Dialect&) {},
     [](onnx::GraphProto& graph) {
       insertBehind(graph, node(graph, "LayerNormalization").output(0), "Div").add_input(constant(graph, {1}, 0));
     },
     "inserted", "a factor that is not finite"},
    {"AConstantMinusTokens", [](Dialect&) {},
     [](onnx::GraphProto& graph) {
       onnx::NodeProto& sub = insertBehind(graph, node(graph, "LayerNormalization").output(0), "Sub");
       const std::string tokens = sub.input(0);
       sub.set_input(0, constant(graph, {1}, 1));
       sub.add_input(tokens);
     },
     "inserted", "a constant minus or divided by tokens"},
    {"LastBlockWithoutMlp", [](Dialect&) {},
     [](onnx::GraphProto& graph) {
       onnx::NodeProto& last = node(graph, "LayerNormalization", 6);
       last.set_input(0, maker(graph, last.input(0)).input(1));
     },
     "Add", "found no MLP behind the attention, expected a pre-norm block"},
};

/// Rotary positions on q and k of the first block (kSeparate); the special token turns by `special`, in radians.
void rotateFirstBlock(GraphBuilder& g, double special) {
  onnx::GraphProto& graph = *g.model().mutable_graph();
  constexpr long kRows = 1 + TinyVit::kTokens, kWidth = TinyVit::kDim / 2;
  std::vector<double> cosines, sines;
  for (long i = 0; i < kRows * kWidth; ++i) {
    const long row = i / kWidth, pair = i % (kWidth / 2);
    const double angle = row == 0 ? special : 0.1 * static_cast<double>(row * (pair + 1));
    cosines.push_back(std::cos(angle));
    sines.push_back(std::sin(angle));
  }
  const std::string cosine = g.weights("cosines", {kRows, kWidth}, cosines);
  const std::string sine = g.weights("sines", {kRows, kWidth}, sines);
  const std::string q = node(graph, "MatMul", 3).input(0);
  const std::string k = maker(graph, node(graph, "MatMul", 3).input(1)).input(0);
  for (const std::string& x : {q, k}) {
    const int before = graph.node_size();
    const std::string right = g.node("Neg", {g.slice(x, 3, kWidth / 2, kWidth)});
    const std::string swapped = g.node("Concat", {right, g.slice(x, 3, 0, kWidth / 2)}, {{"axis", -1L}});
    const std::string turned = g.node("Add", {g.node("Mul", {x, cosine}), g.node("Mul", {swapped, sine})});
    const int added = graph.node_size() - before;
    int position = 0;
    for (int i = 0; i < before; ++i) {
      if (graph.node(i).output(0) == x) position = i + 1;
      for (std::string& input : *graph.mutable_node(i)->mutable_input())
        if (input == x) input = turned;
    }
    for (int i = 0; i < added; ++i) moveLastTo(graph, position);
  }
}

TEST_F(Refusal, RotaryPositionsOfQueriesAlone) {
  dialect.qkv = QkvStyle::kSeparate;
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string q = node(*g.model().mutable_graph(), "MatMul", 3).input(0);
  rotateFirstBlock(g, 0);
  node(*g.model().mutable_graph(), "MatMul", 3).set_input(0, q);
  g.save(path);
  EXPECT_MPM_ERROR(convertModel(path, options), "rotary positions on v, or other ones on q than on k");
}

TEST_F(Refusal, RotatedSpecialTokens) {
  dialect.qkv = QkvStyle::kSeparate;
  GraphBuilder plain = TinyVit(dialect).graph(), turned = TinyVit(dialect).graph();
  rotateFirstBlock(plain, 0);
  plain.save(path);
  EXPECT_NO_THROW(convertModel(path, options));
  rotateFirstBlock(turned, 0.3);
  turned.save(path);
  EXPECT_MPM_ERROR(convertModel(path, options), "rotary positions on special tokens");
}

/// A LayerNorm taken apart, with a constant that repeats its result.
std::string repeatedNorm(GraphBuilder& g, long times, const std::string& name) {
  const std::string centred = g.node("Sub", {"features", g.reduceMean("features", -1)});
  const std::string eps =
      g.weights("eps", {times, 1, 1, 1}, std::vector<double>(static_cast<std::size_t>(times), 1e-6));
  const std::string square = g.reduceMean(g.node("Pow", {centred, g.number(2)}), -1);
  return g.node("Div", {centred, g.node("Sqrt", {g.node("Add", {square, eps})})}, {}, 1, name);
}

/// Moved as if there were as many elements as the graph says, it would be read far beyond its end.
TEST_F(Refusal, RepeatedResultThatIsMoved) {
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string turned = g.transpose(repeatedNorm(g, 20000, "norm"), {0, 1, 3, 2});
  g.model().mutable_graph()->mutable_output(0)->set_name(g.slice(turned, 0, 0, 1));
  expect(g, "norm'", "found a result repeated by broadcasting");
}

const auto caseName = [](const auto& tested) { return std::string(tested.param.name); };
INSTANTIATE_TEST_SUITE_P(Vit, RefusedEncoder, ::testing::ValuesIn(kEncoders), caseName);

/// A node "odd" behind the encoder's features {1, 16, 24}, where nothing is known but what every OpenCV computes right.
struct HeadCase {
  const char* name;
  std::function<void(GraphBuilder&)> odd;
  const char* found;
  int opset = 17;
};

void PrintTo(const HeadCase& tested, std::ostream* out) { *out << tested.found; }

class RefusedHead : public Refusal, public ::testing::WithParamInterface<HeadCase> {};

TEST_P(RefusedHead, IsNamed) {
  dialect.opset = GetParam().opset;
  if (dialect.opset < 17) dialect.norm = NormStyle::kPow;
  GraphBuilder g = TinyVit(dialect).graph();
  GetParam().odd(g);
  g.model().mutable_graph()->mutable_output(0)->set_name("odd");
  expect(g, "odd'", GetParam().found);
}

void odd(GraphBuilder& g, const std::string& op, const std::vector<std::string>& inputs,
         const std::vector<GraphBuilder::Attribute>& attributes = {}, int outputs = 1) {
  g.node(op, inputs, attributes, outputs, "odd");
}

/// The features as {1, 24, 3, 5}.
std::string mapOf(GraphBuilder& g) {
  return g.reshape(g.transpose(g.slice("features", 1, 1, 1L << 60), {0, 2, 1}),
                   {1, TinyVit::kDim, TinyVit::kGridH, TinyVit::kGridW});
}

/// A GELU taken apart, with a constant that repeats its result.
void repeatedGelu(GraphBuilder& g, const std::vector<long>& shape, const std::vector<double>& ones) {
  const std::string inner = g.node("Erf", {g.node("Div", {"features", g.number(std::sqrt(2.0))})});
  const std::string y = g.node("Mul", {"features", g.node("Add", {inner, g.weights("ones", shape, ones)})});
  odd(g, "Mul", {y, g.number(0.5)});
}

/// Operands of a node "odd" that is made later, and that node.
using Operand = std::function<std::string(GraphBuilder&)>;
using Make = std::function<void(GraphBuilder&)>;
using Longs = std::vector<long>;

std::string features(GraphBuilder& /*g*/) { return "features"; }
std::string absent(GraphBuilder& /*g*/) { return ""; }
Operand ints(const Longs& values) {
  return [=](GraphBuilder& g) { return g.ints(values); };
}
Operand scalar(long value) {
  return [=](GraphBuilder& g) { return g.intScalar(value); };
}
Operand number(double value) {
  return [=](GraphBuilder& g) { return g.number(value); };
}
Operand weights(const Longs& shape, const std::vector<double>& values) {
  return [=](GraphBuilder& g) { return g.weights("w", shape, values); };
}
Make of(const char* op, const std::vector<Operand>& operands,
        const std::vector<GraphBuilder::Attribute>& attributes = {}, int outputs = 1) {
  return [=](GraphBuilder& g) {
    std::vector<std::string> inputs;
    for (const Operand& operand : operands) inputs.push_back(operand(g));
    odd(g, op, inputs, attributes, outputs);
  };
}

Make reshape(const Longs& shape) { return of("Reshape", {features, ints(shape)}); }
Make unsqueeze(const Longs& axes) { return of("Unsqueeze", {features, ints(axes)}); }
Make transpose(const Longs& order) { return of("Transpose", {features}, {{"perm", order}}); }
Make slice(const Longs& from, const Longs& to, const Longs& axes, const Longs& steps) {
  return of("Slice", {features, ints(from), ints(to), ints(axes), ints(steps)});
}
Make split(const Longs& sizes) { return of("Split", {features, ints(sizes)}, {{"axis", 2L}}, 2); }
Make tile(const Longs& repeats) { return of("Tile", {features, ints(repeats)}); }
Make gather(const char* op, const Longs& shape, double index, long axis, const char* attribute = "axis") {
  long count = 1;
  for (const long side : shape) count *= side;
  const auto indices = [=](GraphBuilder& g) {
    return g.node("Cast", {g.weights("indices", shape, std::vector<double>(count, index))},
                  {{"to", static_cast<long>(onnx::TensorProto::INT64)}});
  };
  return of(op, {features, indices}, {{attribute, axis}});
}
Make pool(const Longs& kernel, const Longs& strides, const Longs& pads) {
  return of("MaxPool", {mapOf}, {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}});
}
Make conv(const Longs& strides, const Longs& pads) {
  const std::vector<double> halves(4 * TinyVit::kDim, 0.5);
  return of("Conv", {mapOf, weights({1, TinyVit::kDim, 2, 2}, halves)}, {{"strides", strides}, {"pads", pads}});
}

const Longs kThree = {3, 3};

const HeadCase kHeads[] = {
    {"OtherDomain",
     [](GraphBuilder& g) {
       odd(g, "FusedHead", {"features"});
       g.model().mutable_graph()->mutable_node()->rbegin()->set_domain("com.microsoft");
     },
     "an op of domain 'com.microsoft'"},
    {"UnknownShape", of("Det", {features}), "a tensor of unknown shape"},
    {"ConstantsAlone",
     [](GraphBuilder& g) {
       odd(g, "Elu", {g.weights("w", {1, 2}, {0.5, -0.5})});
       g.output("features");
     },
     "constants alone"},
    {"PoolBesideTheMap",
     [](GraphBuilder& g) {
       odd(g, "MaxPool", {mapOf(g)},
           {{"kernel_shape", std::vector<long>{2, 1}}, {"strides", std::vector<long>{1, 3}}, {"ceil_mode", 1L}});
     },
     "a pool whose last window lies beside the map"},
    {"CastLikeIntegers", of("CastLike", {features, ints({1})}), "a tensor of unknown shape"},
    {"ResizeBetweenCornersToAFractionOfAPixel",
     [](GraphBuilder& g) {
       odd(g, "Resize", {mapOf(g), "", g.weights("scales", {4}, {1, 1, 1, 1.9})},
           {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("align_corners")}});
     },
     "scales that end within a pixel"},
    {"AntialiasedByPixelsOutside",
     [](GraphBuilder& g) {
       odd(g, "Resize", {mapOf(g), "", "", g.ints({1, TinyVit::kDim, 2, 2})},
           {{"mode", std::string("linear")}, {"antialias", 1L}});
     },
     "an antialiasing Resize without exclude_outside", 18},
    {"ResizeOfAPart",
     [](GraphBuilder& g) {
       const std::string part = g.weights("part", {8}, {0, 0, 0, 0.25, 1, 1, 1, 0.75});
       odd(g, "Resize", {mapOf(g), part, "", g.ints({1, TinyVit::kDim, 3, 5})},
           {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("tf_crop_and_resize")}});
     },
     "a Resize with mode linear and coordinates tf_crop_and_resize"},
    {"DivisionOfPlaces",
     [](GraphBuilder& g) {
       const auto largest = [&](long axis) {
         return g.node("ArgMax", {"features"}, {{"axis", axis}, {"keepdims", 0L}});
       };
       odd(g, "Div", {largest(2), g.node("Add", {largest(2), g.ints({1})})});
     },
     "a division of what may be whole numbers"},
    {"PadByATensor",
     [](GraphBuilder& g) {
       const std::string value = g.node("ReduceMax", {"features"});
       odd(g, "Pad", {mapOf(g), g.ints({0, 0, 1, 1, 0, 0, 1, 1}), value});
     },
     "the op Pad"},
    {"ScaleOfTheImage",
     [](GraphBuilder& g) {
       const std::string mean = g.reshape(g.node("GlobalAveragePool", {mapOf(g)}), {TinyVit::kDim});
       odd(g, "InstanceNormalization", {mapOf(g), mean, mean});
     },
     "the op InstanceNormalization"},
    {"ResizeThatKeepsTheAspectRatio",
     [](GraphBuilder& g) {
       odd(g, "Resize", {mapOf(g), "", "", g.ints({6, 6})},
           {{"mode", std::string("linear")},
            {"axes", std::vector<long>{2, 3}},
            {"keep_aspect_ratio_policy", std::string("not_larger")}});
     },
     "a tensor of unknown shape", 18},
    {"SoftmaxOverSeveralAxes", of("Softmax", {features}), "a Softmax over several axes", 12},
    {"WeightsOfTheImage",
     [](GraphBuilder& g) {
       const std::string map = mapOf(g);
       odd(g, "Conv", {map, map}, {{"kernel_shape", std::vector<long>{TinyVit::kGridH, TinyVit::kGridW}}});
     },
     "weights that are not constant"},
    {"MaskOfADropout",
     [](GraphBuilder& g) {
       const std::string mask = GraphBuilder::other(g.node("Dropout", {"features"}, {}, 2), 1);
       const std::string weight =
           g.weights("w", {2, TinyVit::kDim, 3, 3}, std::vector<double>(2 * TinyVit::kDim * 9, 1));
       odd(g, "Conv", {mapOf(g), weight, mask}, {{"kernel_shape", kThree}});
     },
     "an input that nothing makes"},
    {"OtherOp", of("Trilu", {features}), "the op Trilu"},
    {"NormRepeatedByItsEpsilon", [](GraphBuilder& g) { repeatedNorm(g, 2, "odd"); },
     "a result repeated by broadcasting"},
    {"ActivationRepeated",
     [](GraphBuilder& g) {
       repeatedGelu(g, {2, 1, 1, 1}, {1, 1});
     },
     "a result repeated by broadcasting"},
};

INSTANTIATE_TEST_SUITE_P(Vit, RefusedHead, ::testing::ValuesIn(kHeads), caseName);

/// Nodes whose inputs do not fit each other: read as they are written, they would reach beyond their tensors.
const Longs kOnes = {1, 1}, kNoPads = {0, 0, 0, 0};

// features are {1, 16, 24}
const HeadCase kMisfits[] = {
    {"ReshapeToMore", reshape({1, 17, 24}), "turned into 1x17x24"},
    {"ReshapeToFewer", reshape({1, 15, 24}), "turned into 1x15x24"},
    {"ReshapeOfTwoOpenSides", reshape({-1, -1}), "one -1"},
    {"ReshapeToANegativeSide", reshape({1, -2, 24}), "one -1"},
    {"ReshapeOfASideThatIsNotThere", reshape({1, 16, 24, 0}), "a copied side beyond the rank"},
    {"ReshapeThatLeavesARest", reshape({-1, 7}), "a multiple of 7 elements"},
    {"FlattenBehindTheLastAxis",
     of("Flatten", {features}, {{"axis", 4L}}),
     "an axis beyond the rank"},
    {"ReshapeOfNothing", of("Reshape", {features, ints({-1, 0})}, {{"allowzero", 1L}}), "a multiple of 0 elements"},
    {"ConcatBeforeTheFirstAxis", of("Concat", {features, features}, {{"axis", -4L}}), "axis -4"},
    {"UnsqueezeTwice", unsqueeze({1, 1}), "one axis twice"},
    {"TransposeOfOneAxisTwice", transpose({0, 2, 2}), "one axis twice"},
    {"TransposeOfTwoAxes", transpose({1, 0}), "a permutation of 2 axes"},
    {"SliceWithoutAnEnd", slice({0, 0}, {1}, {1, 2}, {1, 1}), "of different lengths"},
    {"SliceWithoutAnAxis", slice({0, 0}, {1, 1}, {1}, {1, 1}), "of different lengths"},
    {"SliceWithoutAStep", slice({0, 0}, {1, 1}, {1, 2}, {1}), "of different lengths"},
    {"SliceWithTheLargestStep", slice({0}, {9}, {1}, {std::numeric_limits<long>::min()}),
     "a step of 0 or an axis twice"},
    {"PlacesBeforeTheFirstAxis", gather("GatherND", {1, 2, 1}, 0, -1, "batch_dims"), "indices within the rank"},
    {"PlacesBehindTheIndices", gather("GatherND", {1, 2, 1}, 0, 3, "batch_dims"), "indices within the rank"},
    {"PlacesOfFourAxes", gather("GatherND", {1, 4}, 0, 0, "batch_dims"), "indices within the rank"},
    {"PlacesOfTwoImages", gather("GatherND", {2, 1, 1}, 0, 1, "batch_dims"), "indices within the rank"},
    {"SliceWithAStepOfZero", slice({0}, {9}, {1}, {0}), "a step of 0 or an axis twice"},
    {"SliceOfOneAxisTwice", slice({0, 1}, {9, 9}, {1, 1}, {1, 1}), "a step of 0 or an axis twice"},
    {"GatherBehindTheLast", gather("Gather", {2}, 16, 1), "one below 16"},
    {"GatherBeforeTheFirst", gather("Gather", {2}, -17, 1), "one below 16"},
    {"GatherAlongAFourthAxis", gather("Gather", {2}, 0, 3), "one within rank 3"},
    {"ElementsOfMoreTokens", gather("GatherElements", {1, 17, 2}, 0, 2), "no larger sides"},
    {"ElementsOfAnotherRank", gather("GatherElements", {16, 2}, 0, 2), "no larger sides"},
    {"SplitIntoMoreThanOutputs", split({8, 8, 8}), "one per output"},
    {"SplitBeyondTheSide", split({10, 15}), "parts beyond the side"},
    {"SplitIntoANegativePart", split({25, -1}), "parts beyond the side"},
    {"SplitThatLeavesARest", split({10, 13}), "parts that leave a rest"},
    {"ConcatOfOtherSides",
     of("Concat", {features, weights({1, 2, 23}, std::vector<double>(46, 0.5))}, {{"axis", 1L}}),
     "equal sides beside the axis"},
    {"TileOfTwoAxes", tile({1, 2}), "repeats of another rank"},
    {"TileLessThanNever", tile({1, -1, 1}), "a negative repeat"},
    {"PoolWithoutAStride", pool({2, 2}, {0, 1}, kNoPads), " to 1048576"},
    {"PoolWithoutAKernel", pool({0, 2}, kOnes, kNoPads), " to 1048576"},
    {"PoolWithNegativePads", pool({2, 2}, kOnes, {0, -1, 0, 0}), " to 1048576"},
    {"PoolLargerThanItsMap", pool({4, 2}, kOnes, kNoPads), "at least one kernel"},
    {"ConvWithoutAStride", conv({1, 0}, kNoPads), " to 1048576"},
    {"ConvWithNegativePads", conv(kOnes, {0, 0, -1, 0}), " to 1048576"},
    {"PadByAMillion",
     of("Pad", {features, ints({0, 0, 0, 0, 0, 2000000})}),
     "a huge padding"},
    {"ResizeToNothing",
     of("Resize", {mapOf, absent, weights({4}, {1, 1, 0, 1})}),
     "a scale that leaves nothing"},
    {"IntegersByZero",
     of("Div", {ints({4, 2}), ints({2, 0})}),
     "a division by zero"},
    {"RangeWithoutAnEnd", of("Range", {number(0), number(1e30), number(1)}), "a range without end"},
    {"ScalesOfOtherSlices", of("DequantizeLinear", {ints({1, 2, 3, 4}), weights({3}, {1, 1, 1})}, {{"axis", 0L}}),
     "scales of shape 3"},
    {"RangeWithoutAStep",
     of("Range", {scalar(0), scalar(4), scalar(0)}),
     "a range without end"},
    {"ScatterOfTooFew",
     of("ScatterND", {weights({4, 2}, std::vector<double>(8, 1)), ints({1}), number(1)}),
     "updates of another size"},
    {"ScatterBehindTheLast",
     [](GraphBuilder& g) {
       odd(g, "ScatterND",
                   {g.weights("w", {4, 2}, std::vector<double>(8, 1)), g.ints({4}), g.weights("u", {2}, {1, 2})});
     },
     "an index outside the tensor"},
    {"ConstantsOfOtherShapes",
     of("Add", {ints({4, 2}), ints({1, 2, 3})}),
     "do not fit each other"},
};

INSTANTIATE_TEST_SUITE_P(Misfit, RefusedHead, ::testing::ValuesIn(kMisfits), caseName);

}  // namespace
}  // namespace mpm::test
