// SPDX-License-Identifier: Apache-2.0
// Heads that are neither of Segmenter's. What their operators compute: tests/worlds/graphs.

#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

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
