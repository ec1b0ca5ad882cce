// SPDX-License-Identifier: Apache-2.0
// Heads that are neither of Segmenter's. heads_test.cpp has what their operators compute.

#include <algorithm>
#include <numeric>

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
  /// A Resize to whole multiples of the sides of `x`, which repeats its elements.
  static std::string repeated(GraphBuilder& g, const std::string& x, const std::vector<long>& sides) {
    return g.node("Resize", {x, "", "", g.ints(sides)},
                  {{"mode", std::string("nearest")},
                   {"coordinate_transformation_mode", std::string("asymmetric")},
                   {"nearest_mode", std::string("floor")}});
  }
  std::vector<double> run(GraphBuilder& g, const std::string& output, const std::vector<double>& image,
                          Schedule schedule = {}) {
    g.result(output);
    g.save(path);
    auto [net, info] = readNet(path, {.reduce = mpmBefore(schedule)});
    EXPECT_EQ(info.head, HeadKind::kOther);
    EXPECT_EQ(info.outputs, std::vector<std::string>{output});
    return runNet(net, image, {1, 3, TinyVit::kHeight, TinyVit::kWidth}, {output})[0];
  }
};

TEST_F(OtherHead, TokensPlusSomethingElseAreNoFeatures) {
  const auto image = TinyVit::image(9);
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string y = g.node("Add", {"features", g.node("Tanh", {"features"})}, {}, 1, "y");
  std::vector<double> expected = TinyVit(dialect).evaluate(image)[0];
  for (double& value : expected) value += std::tanh(value);
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
}

/// All tokens of a graph whose special tokens stand behind the patches: merged, restored and brought into its order.
TEST_F(OtherHead, TokensInFrontOfTheSpecialOnes) {
  dialect.special = 2;
  std::vector<double> images = TinyVit::image(9);
  const std::vector<double> second = TinyVit::image(10);
  images.insert(images.end(), second.begin(), second.end());
  for (const Schedule& schedule : {Schedule{}, Schedule{1, 2}}) {
    const auto run = [&](PositionStyle position) {
      dialect.position = position;
      TinyVit(dialect).save(path);
      auto [net, info] = readNet(path, {.reduce = mpmBefore(schedule)});
      return runNet(net, images, {2, 3, TinyVit::kHeight, TinyVit::kWidth}, {info.outputs[0], "token_counts"});
    };
    auto expected = run(PositionStyle::kBeforeConcat);
    const auto rows = std::ssize(expected[0]) / 2;
    for (const auto first : {expected[0].begin(), expected[0].begin() + rows})
      std::rotate(first, first + 2 * kDim, first + rows);
    EXPECT_EQ(run(PositionStyle::kBehind), expected);
    EXPECT_EQ(expected[1].back() < kTokens, !schedule.empty());
  }
}

/// The places of RF-DETR's best tokens, as its authors export them: elements of a constant by indices of a TopK.
TEST_F(OtherHead, ElementsOfAConstantByComputedIndices) {
  constexpr long kRows = 1 + kH * kW, kBest = 4;
  const auto image = TinyVit::image(9);
  GraphBuilder g = TinyVit(dialect).graph();
  std::vector<double> table(kRows * 3);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = 0.5 * static_cast<double>(i);
  const std::string best = g.node("TopK", {g.reduceMean("features", 2, false), g.ints({kBest})}, {{"axis", 1L}}, 2);
  const std::string indices = g.node("Expand", {g.unsqueeze(GraphBuilder::other(best, 1), 2), g.ints({1, kBest, 3})});
  const std::string y =
      g.node("GatherElements", {g.weights("table", {1, kRows, 3}, table), indices}, {{"axis", 1L}}, 1, "y");

  const std::vector<double> features = TinyVit(dialect).evaluate(image)[0];
  std::vector<std::pair<double, long>> means;
  for (long row = 0; row < kRows; ++row) {
    const auto first = features.begin() + row * kDim;
    means.emplace_back(-std::accumulate(first, first + kDim, 0.0), row);
  }
  std::sort(means.begin(), means.end());
  std::vector<double> expected;
  for (long i = 0; i < kBest; ++i)
    for (long column = 0; column < 3; ++column) expected.push_back(table[means[i].second * 3 + column]);
  EXPECT_EQ(run(g, y, image), expected);

  auto [net, info] = readNet(path, {.reduce = kFullModel});
  net.setInput(cv::Mat(std::vector<int>{2, 3, TinyVit::kHeight, TinyVit::kWidth}, CV_32F, cv::Scalar(1)));
  EXPECT_CV_ERROR(net.forward("y"), "give it one image at a time");
}

/// The self-attention of a decoder of joined features, such as that of RF-DETR, is a part of the head.
TEST_F(OtherHead, ADecodersAttentionRunsNodeByNode) {
  const auto image = TinyVit::image(9);
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string rows = g.node("Concat", {"features", g.node("Relu", {"features"})}, {{"axis", 2L}});
  const std::string scores = g.node("MatMul", {rows, g.transpose(rows, {0, 2, 1})});
  const std::string y = g.node("MatMul", {g.node("Softmax", {scores}, {{"axis", -1L}}), rows}, {}, 1, "y");
  const std::vector<double> features = TinyVit(dialect).evaluate(image)[0];
  const std::size_t count = features.size() / kDim;
  const auto at = [&](std::size_t row, std::size_t column) {
    const double value = features[row * kDim + column % kDim];
    return column < kDim ? value : std::max(value, 0.0);
  };
  std::vector<double> expected(2 * features.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> share(count);
    double sum = 0;
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t c = 0; c < 2 * kDim; ++c) share[j] += at(i, c) * at(j, c);
      sum += share[j] = std::exp(share[j]);
    }
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t c = 0; c < 2 * kDim; ++c) expected[i * 2 * kDim + c] += share[j] / sum * at(j, c);
  }
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
}

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

/// OpenCV divides by some of these sizes, and a division by 0 would end the process.
TEST_F(OtherHead, WindowsWithSizesOutOfRange) {
  using Ints = std::vector<long>;
  const long two_31 = 1L << 31;
  const std::vector<std::pair<const char*, std::vector<GraphBuilder::Attribute>>> cases = {
      {"Conv",
       {{"group", 0L},
        {"group", Ints{0}},
        {"group", 0.0},
        {"group", -1L},
        {"group", two_31},
        {"group", 2 * two_31},
        {"kernel_shape", Ints{0, 3}},
        {"kernel_shape", Ints{3, two_31}},
        {"strides", Ints{1, 0}},
        {"strides", 0L},
        {"dilations", Ints{0, 1}},
        {"pads", Ints{0, 0, -1, 0}},
        {"pads", Ints{0, two_31, 0, 0}}}},
      {"ConvTranspose",
       {{"group", 0L},
        {"group", two_31},
        {"kernel_shape", Ints{0, 0}},
        {"strides", Ints{two_31, 1}},
        {"output_padding", Ints{-1, 0}},
        {"output_shape", Ints{0, 4}}}},
      {"MaxPool", {{"kernel_shape", Ints{0, 1}}, {"strides", Ints{0, 1}}}},
      {"AveragePool", {{"kernel_shape", Ints{two_31, 1}}, {"pads", Ints{-1, 0, 0, 0}}}}};
  for (const auto& [op, attributes] : cases) {
    for (const GraphBuilder::Attribute& attribute : attributes) {
      SCOPED_TRACE(std::string(op) + " " + attribute.first);
      GraphBuilder g = TinyVit(dialect).graph();
      std::vector<std::string> inputs{mapOf(g)};
      std::vector<GraphBuilder::Attribute> all{attribute};
      if (std::string(op).starts_with("Conv"))
        inputs.push_back(g.weights("kernel", {kDim, kDim, 1, 1}, std::vector<double>(kDim * kDim, 0.5)));
      else if (std::string(attribute.first) != "kernel_shape")
        all.emplace_back("kernel_shape", Ints{2, 2});
      g.node(op, inputs, all, 1, "y");
      EXPECT_MPM_ERROR(run(g, "y", TinyVit::image(9)),
                       "node 'y' (" + std::string(op) + "): found " + attribute.first + " ");
    }
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
      EXPECT_MPM_ERROR(run(g, "y", TinyVit::image(9)), "channels in " + std::to_string(group) + " groups");
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

/// The tokens, channels first, as several maps that hold parts of different channels: they are no rows of pixels.
TEST_F(OtherHead, ChannelsCutIntoSeveralMapsBeforeAConvolution) {
  const auto image = TinyVit::image(9);
  const std::vector<double> features = TinyVit(dialect).evaluate(image)[0];
  std::vector<double> turned, kernel, expected;  // {kDim, kTokens}
  for (int c = 0; c < kDim; ++c)
    for (int t = 0; t < kTokens; ++t) turned.push_back(features[(dialect.special + t) * kDim + c]);
  for (int i = 0; i < 2 * kDim; ++i) kernel.push_back(0.05 * (i % 7 - 3));
  for (int map = 0; map < kW; ++map)
    for (int o = 0; o < 2; ++o)
      for (int y = 0; y < kH; ++y) {
        double sum = 0;
        for (int c = 0; c < kDim; ++c) sum += kernel[o * kDim + c] * turned[(map * kDim + c) * kH + y];
        expected.push_back(sum);
      }
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string maps =
      g.reshape(g.transpose(g.slice("features", 1, dialect.special, 1L << 60), {0, 2, 1}), {kW, kDim, kH, 1});
  g.node("Conv", {maps, g.weights("kernel", {2, kDim, 1, 1}, kernel)}, {}, 1, "y");
  EXPECT_LT(difference(run(g, "y", image), expected), 1e-4);
}

/// A Resize of the channels, too, is no resize of pixels: a convolution behind it cannot run before it.
TEST_F(OtherHead, AConvolutionBehindAResizeOfChannels) {
  const auto image = TinyVit::image(9);
  const std::vector<double> features = TinyVit(dialect).evaluate(image)[0];
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string narrow =
      g.node("Conv", {mapOf(g), g.weights("first", {2, kDim, 1, 1}, std::vector<double>(2 * kDim, 0.1))});
  const std::string large = repeated(g, narrow, {1, 4, 2 * kH, kW});
  g.node("Conv", {large, g.weights("second", {1, 4, 1, 1}, {1, -2, 3, 5})}, {}, 1, "y");
  std::vector<double> expected;
  for (int y = 0; y < 2 * kH; ++y)
    for (int x = 0; x < kW; ++x) {
      double sum = 0;
      for (int c = 0; c < kDim; ++c) sum += 0.1 * features[(dialect.special + y / 2 * kW + x) * kDim + c];
      expected.push_back(sum * (1 - 2 + 3 + 5));
    }
  EXPECT_LT(difference(run(g, "y", image), expected), 1e-4);
}

/// A number that a softmax would not see.
TEST_F(OtherHead, ProductsOfTokensPlusANumber) {
  const auto image = TinyVit::image(9);
  const std::vector<double> features = TinyVit(dialect).evaluate(image)[0];
  const int rows = dialect.special + kTokens;
  std::vector<double> expected;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < rows; ++j) {
      double sum = 3;
      for (int c = 0; c < kDim; ++c) sum += features[i * kDim + c] * features[j * kDim + c];
      expected.push_back(sum);
    }
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string product = g.node("MatMul", {"features", g.transpose("features", {0, 2, 1})});
  g.node("Relu", {g.node("Add", {product, g.number(3)})}, {}, 1, "y");
  for (double& value : expected) value = std::max(value, 0.0);
  EXPECT_LT(difference(run(g, "y", image), expected), 1e-4);
}

/// Attention pooling of the features by learned queries, without projections: query q is 0.05 (1 + q) everywhere.
TEST_F(OtherHead, LearnedQueriesPoolTheFeatures) {
  const auto image = TinyVit::image(21);
  const std::vector<double> features = TinyVit(dialect).evaluate(image)[0];
  for (const int queries : {1, 3}) {
    GraphBuilder g = TinyVit(dialect).graph();
    std::vector<double> latents, expected;
    for (int i = 0; i < queries * kDim; ++i) latents.push_back(0.05 * (1 + i / kDim));
    const std::string scores =
        g.node("MatMul", {g.weights("latents", {1, queries, kDim}, latents), g.transpose("features", {0, 2, 1})});
    g.node("MatMul", {g.node("Softmax", {scores}, {{"axis", -1L}}), "features"}, {}, 1, "y");
    for (int q = 0; q < queries; ++q) {
      double total = 0;
      std::vector<double> sums(kDim, 0.0);
      for (auto row = features.begin(); row != features.end(); row += kDim) {
        double logit = 0;
        for (int c = 0; c < kDim; ++c) logit += 0.05 * (1 + q) * row[c];
        total += std::exp(logit);
        for (int c = 0; c < kDim; ++c) sums[c] += std::exp(logit) * row[c];
      }
      for (const double sum : sums) expected.push_back(sum / total);
    }
    EXPECT_LT(difference(run(g, "y", image), expected), 1e-4) << queries;
  }
}

}  // namespace
}  // namespace mpm::test
