// SPDX-License-Identifier: Apache-2.0
// Heads: which outputs are boxes and scores, which operators a head becomes, and heads that are neither of Segmenter's.
// What operators compute: tests/worlds/graphs.
#include <algorithm>
#include <map>

#include "onnx/model/box_outputs.h"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/data_path.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

struct BoxCase {
  std::vector<std::string> names;
  std::vector<onnx_graph::Shape> shapes;
  int boxes, scores, masks;  // places; masks -1: none; boxes -1: no such head
};

TEST(BoxOutputs, AreFoundByTheirShapes) {
  const onnx_graph::Shape boxes = {1, 6, 4}, scores = {1, 6, 91}, masks = {1, 6, 8, 8};
  for (const BoxCase& one : {
           BoxCase{{"a", "b"}, {boxes, scores}, 0, 1, -1},
           BoxCase{{"a", "b"}, {scores, boxes}, 1, 0, -1},
           BoxCase{{"a", "b", "c"}, {masks, scores, boxes}, 2, 1, 0},
           BoxCase{{"logits", "pred_boxes"}, {boxes, boxes}, 1, 0, -1},
           BoxCase{{"dets", "labels"}, {boxes, boxes}, 0, 1, -1},
           BoxCase{{"dets", "labels"}, {scores, boxes}, 1, 0, -1},
           BoxCase{{"a", "b"}, {boxes, boxes}, -1, 0, 0},
           BoxCase{{"box_1", "box_2"}, {boxes, boxes}, -1, 0, 0},
           BoxCase{{"a", "b"}, {scores, scores}, -1, 0, 0},
           BoxCase{{"a", "b"}, {boxes, {1, 7, 91}}, -1, 0, 0},
           BoxCase{{"a", "b"}, {boxes, {1, 6, 91, 1}}, -1, 0, 0},
           BoxCase{{"a"}, {boxes}, -1, 0, 0},
           BoxCase{{"a", "b", "c"}, {boxes, scores, scores}, -1, 0, 0},
           BoxCase{{"a", "b", "c"}, {boxes, scores, {1, 5, 8, 8}}, -1, 0, 0},
           BoxCase{{"a", "b", "c", "d"}, {boxes, scores, masks, masks}, -1, 0, 0},
           BoxCase{{"a", "b"}, {{2, 6, 4}, {2, 6, 91}}, -1, 0, 0},
           BoxCase{{"a", "b"}, {boxes, {}}, -1, 0, 0},
       }) {
    const auto found = onnx_graph::boxOutputs(one.names, one.shapes);
    SCOPED_TRACE(::testing::Message() << one.names.front() << " of " << one.names.size() << ", "
                                      << onnx_graph::toString(one.shapes.front()));
    ASSERT_EQ(found.has_value(), one.boxes >= 0);
    if (!found) continue;
    EXPECT_EQ(found->boxes, static_cast<std::size_t>(one.boxes));
    EXPECT_EQ(found->scores, static_cast<std::size_t>(one.scores));
    EXPECT_EQ(found->masks.has_value(), one.masks >= 0);
    EXPECT_EQ(found->masks.value_or(0), static_cast<std::size_t>(std::max(one.masks, 0)));
  }
}

/// ReLU, sums, a BatchNormalization and a 1x1 convolution behind a Resize become parts of the convolutions around them.
TEST(Heads, ConvolutionsTakeInWhatStandsAroundThem) {
  GraphBuilder g(modelAt(dataPath("hf_deit_dynamo20.onnx")));
  const auto weights = [&](const std::vector<long>& sides) {
    std::size_t count = 1;
    for (const long side : sides) count *= static_cast<std::size_t>(side);
    const std::string name = "w" + std::to_string(g.model().graph().initializer_size());
    return g.weights(name, sides, std::vector<double>(count, 0.5));
  };
  const std::vector<GraphBuilder::Attribute> padded{{"pads", std::vector<long>{1, 1, 1, 1}}};
  const std::string rows = g.slice(g.model().graph().output(0).name(), 1, 2, 26);
  const std::string map = g.reshape(g.transpose(rows, {0, 2, 1}), {1, 16, 4, 6});
  const std::string stem = g.node("Conv", {map, weights({6, 16, 3, 3}), weights({6})}, padded);
  std::string y = g.node("Add", {stem, g.node("Conv", {g.node("Relu", {stem}), weights({6, 6, 3, 3})}, padded)});
  y = g.node("ConvTranspose", {y, weights({6, 5, 2, 2}), weights({5})}, {{"strides", std::vector<long>{2, 2}}});
  y = g.node("BatchNormalization", {y, weights({5}), weights({5}), weights({5}), weights({5})});
  const std::string twice = g.weights("twice", {4}, {1, 1, 2, 2});
  y = g.node("Resize", {g.node("Relu", {y}), "", twice}, {{"mode", std::string("linear")}});
  g.result(g.node("Conv", {y, weights({2, 5, 1, 1})}));
  const TemporaryFolder folder;
  g.save(folder / "model.onnx");
  const onnx::ModelProto model = convertedModel(folder / "model.onnx");
  std::map<std::string, int> ops;
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (!node.name().starts_with("backbone/")) ++ops[node.op_type()];
  }
  EXPECT_EQ(ops["HeadConvolve"], 4);
  EXPECT_EQ(ops["HeadWindow"], 2) << "of the Resize";
  for (const char* const op : {"Relu", "HeadActivate", "Add", "BatchNormalization", "Resize"})
    EXPECT_EQ(ops[op], 0) << op;
}

/// The rows of a map, its columns, and the layout by class of what the net returns.
TEST(Heads, AResizeIsOneLayerWithTheTransposeBehindIt) {
  cv::dnn::Net net = readNet(dataPath("hf_dpt_seg_dynamo18.onnx"), {.reduce = kFullModel}).net;
  std::map<std::string, int> layers;
  for (const cv::String& name : net.getLayerNames()) {
    const std::string type = net.getLayer(net.getLayerId(name))->type;
    ++layers[type.substr(type.rfind('.') + 1)];
  }
  EXPECT_EQ(layers["HeadResize"], 5);
  EXPECT_EQ(layers["HeadTranspose"], 0);
}

/// Only the first of two equal Transposes is part of the Resize before them.
TEST(Heads, ASecondTransposeBehindAResizeStays) {
  GraphBuilder g(modelAt(dataPath("hf_deit_dynamo20.onnx")));
  const std::string rows = g.slice(g.model().graph().output(0).name(), 1, 2, 26);
  const std::string map = g.transpose(g.reshape(rows, {1, 4, 6, 16}), {0, 3, 1, 2});
  const std::string twice = g.weights("twice", {4}, {1, 1, 2, 2});
  const std::string large = g.node("Resize", {map, "", twice}, {{"mode", std::string("linear")}});
  g.result(g.transpose(large, {0, 3, 1, 2}));
  const TemporaryFolder folder;
  g.save(folder / "model.onnx");
  LoadedNet loaded = readNet(folder / "model.onnx", {.reduce = kFullModel});
  loaded.net.setInput(cv::Mat(std::vector<int>{1, 3, loaded.info.input.height, loaded.info.input.width}, CV_32F, 0.5));
  const cv::Mat result = loaded.net.forward(loaded.info.outputs[0]);
  EXPECT_EQ(std::vector<int>(result.size.p, result.size.p + result.dims), (std::vector<int>{1, 12, 16, 8}));
}

/// EoMT moves the channels of a map to the end for each norm, and back. Its masks are an Einsum of a map.
TEST(Heads, NormsAndProductsTakeMapsAsConvolutionsLeaveThem) {
  const onnx::ModelProto model = convertedModel(dataPath("hf_eomt_ts17.onnx"));
  for (const onnx::NodeProto& node : model.graph().node())
    EXPECT_TRUE(node.op_type() != "Transpose" || !node.name().starts_with("head/")) << node.name();
}

constexpr int kDim = TinyVit::kDim, kTokens = TinyVit::kTokens, kH = TinyVit::kGridH, kW = TinyVit::kGridW;

class OtherHead : public InFolder {
 protected:
  std::string path = folder_ / "model.onnx";
  Dialect dialect;

  /// In the graph: the features of the grid, {1, kDim, kH, kW}.
  std::string mapOf(GraphBuilder& g) const {
    return g.reshape(g.transpose(g.slice("features", 1, dialect.special, 1L << 60), {0, 2, 1}), {1, kDim, kH, kW});
  }
  /// The head of the graph ends with the value `y`.
  void expectRefused(GraphBuilder& g, const std::string& part) {
    g.result("y");
    g.save(path);
    EXPECT_MPM_ERROR(readNet(path, {.reduce = kFullModel}), part);
  }
};

TEST_F(OtherHead, TheJsonSaysThatQueriesHaveClassesAndMasks) {
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string queries = g.node("Tanh", {"features"});
  const std::string masks = g.reshape(g.slice(queries, 2, 0, kTokens), {1, -1, kH, kW});
  g.result(masks);
  g.output(queries);
  g.save(path);
  EXPECT_EQ(readModelInfo(path, {}).head, HeadKind::kOther);
  std::ofstream(folder_ / "model.json") << R"({"task": "panoptic"})";
  const ModelInfo info = readModelInfo(path, {});
  EXPECT_EQ(info.head, HeadKind::kMaskQueries);
  EXPECT_EQ(info.classes, kDim - 1);
}

/// Such an output may be anything, and merging would move it unseen.
TEST_F(OtherHead, IsTheFullModelUnlessAsked) {
  dialect.blocks = 3;
  GraphBuilder g = TinyVit(dialect).graph();
  g.node("Tanh", {mapOf(g)}, {}, 1, "y");
  g.result("y");
  g.save(path);
  EXPECT_EQ(readModelInfo(path).head, HeadKind::kOther);
  EXPECT_EQ(readModelInfo(path).schedule(), Schedule{});
  EXPECT_EQ(readModelInfo(path, {.reduce = mpmBefore({1})}).schedule(), Schedule{1});
  std::ofstream(folder_ / "model.json") << R"({"reduce": "mpm:blocks=2"})";
  EXPECT_EQ(readModelInfo(path).schedule(), Schedule{2});
  std::ofstream(folder_ / "model.json") << R"({"task": "semantic"})";
  EXPECT_EQ(readModelInfo(path).schedule(), Schedule{2}) << "the schedule of the paper for a task";
}

TEST_F(OtherHead, IsOfOneRowInParts) {
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string row = g.reshape(g.slice("features", 1, 0, 1), {1, kDim});
  const std::string weight = g.weights("linear", {kDim, kDim}, std::vector<double>(kDim * kDim, 0.1));
  g.result(g.reshape(g.node("MatMul", {row, weight}), {1, 2, kDim / 2}));
  g.save(path);
  EXPECT_EQ(readModelInfo(path).head, HeadKind::kOther) << "no classifier, whose classes are a side of its output";
}

TEST_F(OtherHead, OfNothingBackwardsIsRefused) {
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string nothing = g.slice("features", 1, 5, 5);
  g.node("Slice", {nothing, g.ints({-1}), g.ints({-9}), g.ints({1}), g.ints({-1})}, {}, 1, "y");
  expectRefused(g, "a tensor without elements");
}

TEST_F(OtherHead, TokensPlusSomethingElseAreNoFeatures) {
  GraphBuilder g = TinyVit(dialect).graph();
  g.result(g.node("Add", {"features", g.node("Tanh", {"features"})}));
  g.save(path);
  EXPECT_EQ(readModelInfo(path).head, HeadKind::kOther);
}

/// OpenCV divides by some of these sizes, and a division by 0 would end the process.
TEST_F(OtherHead, WindowsWithSizesOutOfRange) {
  using Ints = std::vector<long>;
  const long two_31 = 1L << 31;
  const std::pair<std::string, GraphBuilder::Attribute> cases[] = {{"Conv", {"group", 0L}},
                                                                   {"Conv", {"group", Ints{0}}},
                                                                   {"Conv", {"group", 0.0}},
                                                                   {"Conv", {"group", two_31}},
                                                                   {"Conv", {"kernel_shape", Ints{3, two_31}}},
                                                                   {"Conv", {"strides", Ints{1, 0}}},
                                                                   {"Conv", {"dilations", Ints{0, 1}}},
                                                                   {"Conv", {"pads", Ints{0, 0, -1, 0}}},
                                                                   {"ConvTranspose", {"output_padding", Ints{-1, 0}}},
                                                                   {"ConvTranspose", {"output_shape", Ints{0, 4}}},
                                                                   {"MaxPool", {"kernel_shape", Ints{0, 1}}}};
  for (const auto& [op, attribute] : cases) {
    SCOPED_TRACE(op + " " + attribute.first);
    GraphBuilder g = TinyVit(dialect).graph();
    std::vector<std::string> inputs{mapOf(g)};
    if (op != "MaxPool")
      inputs.push_back(g.weights("kernel", {kDim, kDim, 1, 1}, std::vector<double>(kDim * kDim, 0.5)));
    g.node(op, inputs, {attribute}, 1, "y");
    expectRefused(g, "node 'y' (" + op + "): found " + attribute.first + " ");
  }
  // The same in a converted file.
  TinyVit(dialect).save(path);
  GraphBuilder g(convertedModel(path));
  g.node("Conv", {}, {{"group", two_31}});
  g.save(path);
  EXPECT_MPM_ERROR(readNet(path, {}), "(Conv): found group 2147483648, expected 1 to 1048576");
}

/// Weights of other groups than those that the node says.
TEST_F(OtherHead, GroupsThatDoNotFitTheirWeights) {
  for (const char* const op : {"Conv", "ConvTranspose"}) {
    for (const long group : {5L, 1L << 20}) {
      SCOPED_TRACE(std::string(op) + " " + std::to_string(group));
      GraphBuilder g = TinyVit(dialect).graph();
      const std::string kernel = g.weights("kernel", {kDim, kDim, 1, 1}, std::vector<double>(kDim * kDim, 0.5));
      g.node(op, {mapOf(g), kernel}, {{"group", group}}, 1, "y");
      expectRefused(g, "channels in " + std::to_string(group) + " groups");
    }
  }
}

// Until opset 12 a Softmax is over all axes from one on, by default from the second.
TEST_F(OtherHead, AnOldSoftmaxIsOverSeveralAxes) {
  dialect.opset = 11;
  TinyVit(dialect).save(path);
  const std::vector<double> image = TinyVit::image(5);
  const auto features = runModel(path, {.reduce = kFullModel}, image, {"features"})[0];
  std::vector<double> map;
  for (int c = 0; c < kDim; ++c)
    for (int i = 0; i < kTokens; ++i) map.push_back(features[(dialect.special + i) * kDim + c]);
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    for (const int axis : {0, 1, 2, -1}) {
      GraphBuilder g = TinyVit(dialect).graph();
      using Attributes = std::vector<GraphBuilder::Attribute>;
      g.node(op, {mapOf(g)}, axis == 1 ? Attributes{} : Attributes{{"axis", static_cast<long>(axis)}}, 1, "y");
      g.result("y");
      g.save(path);
      const int together = axis == -1 ? kW : axis == 2 ? kTokens : kDim * kTokens;
      std::vector<double> expected = map;
      for (auto row = expected.begin(); row != expected.end(); row += together) {
        double sum = 0;
        for (auto one = row; one != row + together; ++one) sum += std::exp(*one);
        for (auto one = row; one != row + together; ++one)
          *one = op == "Softmax" ? std::exp(*one) / sum : *one - std::log(sum);
      }
      EXPECT_LT(difference(runModel(path, {.reduce = kFullModel}, image, {"y"})[0], expected), 1e-4)
          << op << " " << axis;
    }
  }
}

TEST_F(OtherHead, OneTensorUnderTwoNames) {
  GraphBuilder g = TinyVit(dialect).graph();
  g.output(g.node("Identity", {"features"}, {}, 1, "again"));
  g.save(path);
  const auto found = runModel(path, {.reduce = mpmBefore({1})}, TinyVit::image(13), {"features", "again"});
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0].size(), static_cast<std::size_t>((dialect.special + kTokens) * kDim));
}

}  // namespace
}  // namespace mpm::test
