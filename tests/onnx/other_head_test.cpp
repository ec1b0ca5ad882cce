// SPDX-License-Identifier: Apache-2.0
// Heads that are neither of Segmenter's: their stock nodes stay, and OpenCV must compute them as ONNX means them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

#include "mpm/mpm.hpp"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

constexpr int kDim = TinyVit::kDim, kTokens = TinyVit::kTokens, kH = TinyVit::kGridH, kW = TinyVit::kGridW;

/// A square kernel that slides over the map, which is padded until the result has a side per `stride`.
struct Window {
  int side, stride, dilation;
  bool lower;  ///< SAME_LOWER: the odd pixel of padding comes first

  int out(int in) const { return (in + stride - 1) / stride; }
  int before(int in) const {
    const int padding = std::max((out(in) - 1) * stride + (side - 1) * dilation + 1 - in, 0);
    return lower ? padding - padding / 2 : padding / 2;
  }
  /// Calls `visit` with places in the kernel and in the map where they meet for pixel (row, column) of the result.
  template <typename Visit>
  void at(int row, int column, const Visit& visit) const {
    for (int dy = 0; dy < side; ++dy) {
      for (int dx = 0; dx < side; ++dx) {
        const int y = row * stride - before(kH) + dy * dilation, x = column * stride - before(kW) + dx * dilation;
        if (y >= 0 && y < kH && x >= 0 && x < kW) visit(dy * side + dx, y * kW + x);
      }
    }
  }
  std::vector<GraphBuilder::Attribute> attributes() const {
    return {{"strides", std::vector<long>{stride, stride}},
            {"auto_pad", std::string(lower ? "SAME_LOWER" : "SAME_UPPER")}};
  }
};

std::ostream& operator<<(std::ostream& out, const Window& window) {
  return out << window.side << " px, stride " << window.stride << ", dilation " << window.dilation
             << (window.lower ? ", SAME_LOWER" : ", SAME_UPPER");
}

class OtherHead : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "model.onnx";
  Dialect dialect;

  /// Features of the grid, {kDim, kTokens}.
  std::vector<double> map(const std::vector<double>& image) const {
    const std::vector<double> features = TinyVit(dialect).evaluate(image)[0];
    std::vector<double> result(static_cast<std::size_t>(kDim * kTokens));
    for (int c = 0; c < kDim; ++c) {
      for (int i = 0; i < kTokens; ++i) {
        result[static_cast<std::size_t>(c * kTokens + i)] =
            features[static_cast<std::size_t>((dialect.special + i) * kDim + c)];
      }
    }
    return result;
  }
  /// In the graph: the same map, {1, kDim, kH, kW}.
  std::string mapOf(GraphBuilder& g) const {
    return g.reshape(g.transpose(g.slice("features", 1, dialect.special, 1L << 60), {0, 2, 1}), {1, kDim, kH, kW});
  }
  std::vector<double> run(GraphBuilder& g, const std::string& output, const std::vector<double>& image,
                          Schedule schedule = {}) {
    g.model().mutable_graph()->mutable_output(0)->set_name(output);
    g.save(path);
    ConvertOptions options;
    options.reduce = mpmBefore(schedule);
    auto [net, info] = readNet(path, {.convert = options});
    EXPECT_EQ(info.head, HeadKind::kOther);
    EXPECT_EQ(info.outputs, std::vector<std::string>{output});
    return runNet(net, image, {1, 3, TinyVit::kHeight, TinyVit::kWidth}, {output})[0];
  }
};

TEST_F(OtherHead, ElementwiseOnAMap) {
  const auto image = TinyVit::image(9);
  GraphBuilder g = TinyVit(dialect).graph();
  std::vector<double> factors, offsets;
  for (int c = 0; c < kDim; ++c) {
    factors.push_back(0.5 + 0.125 * c);
    offsets.push_back(1 - 0.25 * c);
  }
  std::string x = g.node("Mul", {mapOf(g), g.weights("factors", {1, kDim, 1, 1}, factors)});
  x = g.node("Add", {g.weights("offsets", {kDim, 1, 1}, offsets), x});
  x = g.node("Mul", {x, g.number(0.375)});
  x = g.node("Sub", {x, g.number(0.25)});
  x = g.node("Div", {x, g.number(1.5)});
  const std::string y = g.node("Mul", {x, g.node("Sigmoid", {x})}, {}, 1, "y");
  std::vector<double> expected = map(image);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = ((expected[i] * factors[i / kTokens] + offsets[i / kTokens]) * 0.375 - 0.25) / 1.5;
    expected[i] = value / (1 + std::exp(-value));
  }
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
}

TEST_F(OtherHead, TokensPlusSomethingElseAreNoFeatures) {
  const auto image = TinyVit::image(9);
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string y = g.node("Add", {"features", g.node("Tanh", {"features"})}, {}, 1, "y");
  std::vector<double> expected = TinyVit(dialect).evaluate(image)[0];
  for (double& value : expected) value += std::tanh(value);
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
}

/// Attention that is no block: its keys and values are maps that a convolution made, its queries are learned.
TEST_F(OtherHead, LearnedQueriesReadMaps) {
  const auto image = TinyVit::image(13);
  const int queries = 4;
  dialect.opset = 17;
  GraphBuilder g = TinyVit(dialect).graph();
  const auto numbers = [](int count, int step) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(0.125 * (i * step % 17) - 1);
    return values;
  };
  const auto learned = numbers(queries * kDim, 5), weight = numbers(kDim * kDim, 3), scale = numbers(kDim, 7);
  std::string q = g.node("LayerNormalization",
                         {g.weights("learned", {queries, kDim}, learned), g.weights("scale", {kDim}, scale),
                          g.weights("shift", {kDim}, scale)},
                         {{"axis", -1L}, {"epsilon", 1e-5}});
  q = g.node("Gemm", {q, g.weights("weight", {kDim, kDim}, weight), g.weights("bias", {kDim}, scale)},
             {{"transB", 1L}});
  const std::string map =
      g.node("Conv", {mapOf(g), g.weights("kernel", {kDim, 1, 3, 3}, std::vector<double>(9 * kDim, 0.125))},
             {{"group", static_cast<long>(kDim)}, {"pads", std::vector<long>{1, 1, 1, 1}}});
  const std::string keys = g.reshape(map, {1, kDim, kTokens});
  const std::string shares = g.node("Softmax", {g.node("MatMul", {g.unsqueeze(q, 0), keys})}, {{"axis", -1L}});
  const std::string y = g.node("MatMul", {shares, g.transpose(keys, {0, 2, 1})}, {}, 1, "y");

  const std::vector<double> before = this->map(image);
  std::vector<double> k(before.size()), expected;
  const Window window{3, 1, 1, false};
  for (int c = 0; c < kDim; ++c)
    for (int i = 0; i < kTokens; ++i)
      window.at(i / kW, i % kW, [&](int, int from) { k[c * kTokens + i] += 0.125 * before[c * kTokens + from]; });
  for (int row = 0; row < queries; ++row) {
    const double* const x = learned.data() + row * kDim;
    double mean = 0, variance = 0, total = 0;
    for (int c = 0; c < kDim; ++c) mean += x[c] / kDim;
    for (int c = 0; c < kDim; ++c) variance += (x[c] - mean) * (x[c] - mean) / kDim;
    std::vector<double> query(scale), share(kTokens), result(kDim);
    for (int c = 0; c < kDim; ++c)
      for (int j = 0; j < kDim; ++j)
        query[c] += weight[c * kDim + j] * ((x[j] - mean) / std::sqrt(variance + 1e-5) * scale[j] + scale[j]);
    for (int i = 0; i < kTokens; ++i) {
      double logit = 0;
      for (int c = 0; c < kDim; ++c) logit += query[c] * k[c * kTokens + i];
      total += share[i] = std::exp(logit);
    }
    for (int c = 0; c < kDim; ++c)
      for (int i = 0; i < kTokens; ++i) result[c] += share[i] / total * k[c * kTokens + i];
    expected.insert(expected.end(), result.begin(), result.end());
  }
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
}

TEST_F(OtherHead, RmsNormDoesNotSubtractTheMean) {
  const auto image = TinyVit::image(9);
  dialect.opset = 23;
  GraphBuilder g = TinyVit(dialect).graph();
  const std::vector<double> weight(kDim, 1.5);
  const std::string y = g.node("RMSNormalization", {g.node("Exp", {"features"}), g.weights("weight", {kDim}, weight)},
                               {{"axis", -1L}, {"epsilon", 1e-5}}, 1, "y");
  std::vector<double> expected = TinyVit(dialect).evaluate(image)[0];
  for (double& value : expected) value = std::exp(value);
  for (std::size_t row = 0; row < expected.size(); row += kDim) {
    double squares = 0;
    for (int c = 0; c < kDim; ++c) squares += expected[row + c] * expected[row + c] / kDim;
    for (int c = 0; c < kDim; ++c) expected[row + c] *= 1.5 / std::sqrt(squares + 1e-5);
  }
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
}

TEST_F(OtherHead, TheJsonSaysThatQueriesHaveClassesAndMasks) {
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string queries = g.node("Tanh", {"features"});
  const std::string masks = g.reshape(g.slice(queries, 2, 0, kTokens), {1, -1, kH, kW});
  g.model().mutable_graph()->mutable_output(0)->set_name(masks);
  g.output(queries);
  g.save(path);
  EXPECT_EQ(readModelInfo(path, {}).head, HeadKind::kOther);
  std::ofstream(folder / "model.json") << R"({"task": "panoptic"})";
  const ModelInfo info = readModelInfo(path, {});
  EXPECT_EQ(info.head, HeadKind::kMaskQueries);
  EXPECT_EQ(info.classes, kDim - 1);
}

TEST_F(OtherHead, ConvolutionPoolSoftmax) {
  const auto image = TinyVit::image(10);
  GraphBuilder g = TinyVit(dialect).graph();
  std::vector<double> kernel;
  for (int i = 0; i < 4 * kDim * 9; ++i) kernel.push_back(std::sin(i) * 0.2);
  std::string x = g.node("Conv", {mapOf(g), g.weights("kernel", {4, kDim, 3, 3}, kernel)},
                         {{"kernel_shape", std::vector<long>{3, 3}}, {"pads", std::vector<long>{1, 1, 1, 1}}});
  x = g.node("Relu", {x});
  x = g.node("Concat", {x, g.node("Tanh", {x})}, {{"axis", 1L}});
  x = g.node("Flatten", {g.node("GlobalAveragePool", {x})});
  const std::string y = g.node("Softmax", {x}, {{"axis", 1L}}, 1, "y");
  const std::vector<double> in = map(image);
  std::vector<double> means(8, 0.0);
  for (int o = 0; o < 4; ++o) {
    for (int row = 0; row < kH; ++row) {
      for (int column = 0; column < kW; ++column) {
        double sum = 0;
        for (int c = 0; c < kDim; ++c) {
          for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
              if (row + dy < 0 || row + dy >= kH || column + dx < 0 || column + dx >= kW) continue;
              sum += in[static_cast<std::size_t>(c * kTokens + (row + dy) * kW + column + dx)] *
                     kernel[static_cast<std::size_t>((o * kDim + c) * 9 + (dy + 1) * 3 + dx + 1)];
            }
          }
        }
        means[static_cast<std::size_t>(o)] += std::max(sum, 0.0) / kTokens;
        means[static_cast<std::size_t>(o + 4)] += std::tanh(std::max(sum, 0.0)) / kTokens;
      }
    }
  }
  double total = 0;
  for (double& value : means) total += value = std::exp(value);
  for (double& value : means) value /= total;
  EXPECT_LT(difference(run(g, y, image), means), 1e-4);
}

/// ONNX may leave out the sides of the kernel and choose the padding itself. OpenCV needs both as numbers.
TEST_F(OtherHead, ConvolutionPaddedAutomatically) {
  const auto image = TinyVit::image(17);
  const std::vector<double> in = map(image);
  for (const Window& window : {Window{2, 1, 1, true},
                               {3, 2, 1, true},
                               {4, 1, 1, true},
                               {4, 2, 1, true},
                               {5, 2, 1, true},
                               {1, 3, 1, true},
                               {2, 1, 2, true},
                               {4, 1, 1, false},
                               {3, 1, 2, false}}) {
    GraphBuilder g = TinyVit(dialect).graph();
    const int area = window.side * window.side;
    std::vector<double> kernel;
    for (int i = 0; i < 2 * kDim * area; ++i) kernel.push_back(std::sin(i) * 0.2);
    auto attributes = window.attributes();
    attributes.emplace_back("dilations", std::vector<long>{window.dilation, window.dilation});
    const std::string weight = g.weights("kernel", {2, kDim, window.side, window.side}, kernel);
    const std::string y = g.node("Conv", {mapOf(g), weight}, attributes, 1, "y");
    std::vector<double> expected;
    for (int o = 0; o < 2; ++o) {
      for (int row = 0; row < window.out(kH); ++row) {
        for (int column = 0; column < window.out(kW); ++column) {
          double sum = 0;
          for (int c = 0; c < kDim; ++c) {
            window.at(row, column, [&](int k, int pixel) {
              sum += in[static_cast<std::size_t>(c * kTokens + pixel)] *
                     kernel[static_cast<std::size_t>((o * kDim + c) * area + k)];
            });
          }
          expected.push_back(sum);
        }
      }
    }
    EXPECT_LT(difference(run(g, y, image), expected), 1e-4) << window;
  }
}

/// Such an output may be anything, and merging would move it unseen.
TEST_F(OtherHead, IsTheFullModelUnlessAsked) {
  dialect.blocks = 3;
  GraphBuilder g = TinyVit(dialect).graph();
  g.node("Tanh", {mapOf(g)}, {}, 1, "y");
  g.model().mutable_graph()->mutable_output(0)->set_name("y");
  g.save(path);
  EXPECT_EQ(readModelInfo(path).head, HeadKind::kOther);
  EXPECT_EQ(readModelInfo(path).schedule(), Schedule{});
  EXPECT_EQ(readModelInfo(path, {.reduce = mpmBefore({1})}).schedule(), Schedule{1});
  std::ofstream(folder / "model.json") << R"({"reduce": "mpm:blocks=2"})";
  EXPECT_EQ(readModelInfo(path).schedule(), Schedule{2});
  std::ofstream(folder / "model.json") << R"({"task": "semantic"})";
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
  GraphBuilder g = TinyVit(dialect).graph();
  g.node("Conv", {mapOf(g), g.weights("kernel", {2, kDim, 3, 3}, std::vector<double>(18 * kDim, 0.5))}, {{"group", 1L}},
         1, "y");
  run(g, "y", TinyVit::image(9));
  convertFile(path, path + ".converted", {});
  onnx::ModelProto model;
  {
    std::ifstream in(path + ".converted", std::ios::binary);
    ASSERT_TRUE(model.ParseFromIstream(&in));
  }
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node())
    for (onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.name() == "group") attribute.set_i(two_31);
  std::ofstream(path + ".converted", std::ios::binary) << model.SerializeAsString();
  EXPECT_MPM_ERROR(readNet(path + ".converted", {}), "(Conv): found group 2147483648, expected 1 to 1048576");
}

/// Weights of other groups than those that the node says.
TEST_F(OtherHead, GroupsThatDoNotFitTheirWeights) {
  for (const char* const op : {"Conv", "ConvTranspose"}) {
    for (const long group : {5L, 1L << 20}) {
      SCOPED_TRACE(std::string(op) + " " + std::to_string(group));
      GraphBuilder g = TinyVit(dialect).graph();
      const std::string kernel = g.weights("kernel", {kDim, kDim, 1, 1}, std::vector<double>(kDim * kDim, 0.5));
      g.node(op, {mapOf(g), kernel}, {{"group", group}}, 1, "y");
      EXPECT_MPM_ERROR(run(g, "y", TinyVit::image(9)), "y");
    }
  }
}

TEST_F(OtherHead, PoolPaddedAutomatically) {
  const auto image = TinyVit::image(18);
  const std::vector<double> in = map(image);
  for (const Window& window :
       {Window{2, 1, 1, true}, {3, 2, 1, true}, {4, 2, 1, true}, {2, 3, 1, true}, {2, 1, 1, false}, {4, 2, 1, false}}) {
    GraphBuilder g = TinyVit(dialect).graph();
    auto attributes = window.attributes();
    attributes.emplace_back("kernel_shape", std::vector<long>{window.side, window.side});
    attributes.emplace_back("ceil_mode", 1L);
    const std::string y = g.node("MaxPool", {mapOf(g)}, attributes, 1, "y");
    std::vector<double> expected;
    for (int c = 0; c < kDim; ++c) {
      for (int row = 0; row < window.out(kH); ++row) {
        for (int column = 0; column < window.out(kW); ++column) {
          double most = -1e9;
          window.at(row, column,
                    [&](int, int pixel) { most = std::max(most, in[static_cast<std::size_t>(c * kTokens + pixel)]); });
          expected.push_back(most);
        }
      }
    }
    EXPECT_LT(difference(run(g, y, image), expected), 1e-4) << window;
  }
}

/// Layers over the last axis of any rank run on our ops, restored or not.
TEST_F(OtherHead, LayersOnRestoredTokens) {
  const auto image = TinyVit::image(12);
  GraphBuilder g = TinyVit(dialect).graph();
  std::vector<double> weight;
  for (int i = 0; i < kDim * 3; ++i) weight.push_back(std::cos(i) * 0.3);
  const std::string grid = g.reshape(g.slice("features", 1, dialect.special, 1L << 60), {1, kH, kW, kDim});
  std::string x = g.node("Tanh", {grid});
  const std::string y = g.node("MatMul", {x, g.weights("w", {kDim, 3}, weight)}, {}, 1, "y");
  const std::vector<double> features = TinyVit(dialect).evaluate(image)[0];
  std::vector<double> expected;
  for (int i = 0; i < kTokens; ++i) {
    for (int o = 0; o < 3; ++o) {
      double sum = 0;
      for (int j = 0; j < kDim; ++j) {
        sum += std::tanh(features[static_cast<std::size_t>((dialect.special + i) * kDim + j)]) *
               weight[static_cast<std::size_t>(j * 3 + o)];
      }
      expected.push_back(sum);
    }
  }
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
  EXPECT_EQ(run(g, y, image, {1}).size(), expected.size());
}

TEST_F(OtherHead, OneTokenOneChannelOneRow) {
  const auto image = TinyVit::image(15);
  const std::vector<double> features = TinyVit(dialect).evaluate(image)[0], in = map(image);
  const auto pick = [](GraphBuilder& g, const std::string& x, long axis, long index) {
    return g.node("Gather", {x, g.intScalar(index)}, {{"axis", axis}}, 1, "y");
  };
  GraphBuilder token = TinyVit(dialect).graph(), channel = TinyVit(dialect).graph(), row = TinyVit(dialect).graph();
  EXPECT_LT(difference(run(token, pick(token, "features", 1, -1), image), {features.end() - kDim, features.end()}),
            1e-4);
  EXPECT_LT(difference(run(channel, pick(channel, mapOf(channel), 1, 3), image),
                       {in.begin() + 3 * kTokens, in.begin() + 4 * kTokens}),
            1e-4);
  std::vector<double> last;
  for (int c = 0; c < kDim; ++c)
    last.insert(last.end(), in.begin() + (c + 1) * kTokens - kW, in.begin() + (c + 1) * kTokens);
  EXPECT_LT(difference(run(row, pick(row, mapOf(row), 2, -1), image), last), 1e-4);
}

/// As exporters without an optimiser write a number that meets a tensor.
TEST_F(OtherHead, CastLikeAFloat) {
  const auto image = TinyVit::image(16);
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string two = g.node("CastLike", {g.intScalar(2), g.node("Tanh", {"features"})});
  const std::string y = g.node("Mul", {g.node("CastLike", {"features", two}), two}, {}, 1, "y");
  std::vector<double> expected = TinyVit(dialect).evaluate(image)[0];
  for (double& value : expected) value *= 2;
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
}

TEST_F(OtherHead, OneTensorUnderTwoNames) {
  GraphBuilder g = TinyVit(dialect).graph();
  g.output(g.node("Identity", {"features"}, {}, 1, "again"));
  g.save(path);
  ConvertOptions options;
  options.reduce = mpmBefore({1});
  cv::dnn::Net net = readNet(path, {.convert = options}).net;
  const auto found = runNet(net, TinyVit::image(13), {1, 3, TinyVit::kHeight, TinyVit::kWidth}, {"features", "again"});
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0].size(), static_cast<std::size_t>((dialect.special + kTokens) * kDim));
}

/// A node "y" that OpenCV lacks or computes wrong, behind the features {1, 16, 24} or their map, and what it gives.
struct OwnCase {
  const char* name;
  std::function<void(GraphBuilder&, const std::string& map)> node;
  /// From the features {1 + kTokens, kDim} and the map {kDim, kTokens}.
  std::function<std::vector<double>(const std::vector<double>& features, const std::vector<double>& map)> expected;
  int opset = 17;
};

void PrintTo(const OwnCase& tested, std::ostream* out) { *out << tested.name; }

class OwnOperator : public OtherHead, public ::testing::WithParamInterface<OwnCase> {};

void makeY(GraphBuilder& g, const std::string& op, const std::vector<std::string>& inputs,
           const std::vector<GraphBuilder::Attribute>& attributes = {}, int outputs = 1) {
  g.node(op, inputs, attributes, outputs, "y");
}

std::vector<double> each(std::vector<double> values, const std::function<double(double)>& function) {
  for (double& value : values) value = function(value);
  return values;
}

/// Elements of the features, by token and column.
std::vector<double> picked(const std::vector<double>& features, const std::vector<int>& tokens,
                           const std::vector<int>& columns) {
  std::vector<double> result;
  for (const int token : tokens)
    for (const int column : columns) result.push_back(features[static_cast<std::size_t>(token * kDim + column)]);
  return result;
}

std::vector<int> counting(int begin, int end, int step = 1) {
  std::vector<int> result;
  for (int i = begin; i < end; i += step) result.push_back(i);
  return result;
}

std::string ramp(GraphBuilder& g, const std::vector<long>& shape) {
  long count = 1;
  for (const long side : shape) count *= side;
  std::vector<double> values;
  for (long i = 0; i < count; ++i) values.push_back(0.5 + 0.125 * static_cast<double>(i));
  return g.weights("ramp", shape, values);
}

/// tanh of the first three tokens times tanh of the map.
std::vector<double> maskProduct(const std::vector<double>& features, const std::vector<double>& map) {
  std::vector<double> y;
  for (int q = 0; q < 3; ++q) {
    for (int i = 0; i < kTokens; ++i) {
      double sum = 0;
      for (int c = 0; c < kDim; ++c)
        sum += std::tanh(features[static_cast<std::size_t>(q * kDim + c)]) *
               std::tanh(map[static_cast<std::size_t>(c * kTokens + i)]);
      y.push_back(sum);
    }
  }
  return y;
}

/// Attention pooling of the features by learned queries, without projections: query q is 0.05 (1 + q) everywhere.
OwnCase poolingBy(const char* name, int queries) {
  return {name,
          [=](GraphBuilder& g, const std::string&) {
            std::vector<double> latents;
            for (int i = 0; i < queries * kDim; ++i) latents.push_back(0.05 * (1 + i / kDim));
            const std::string scores = g.node(
                "MatMul", {g.weights("latents", {1, queries, kDim}, latents), g.transpose("features", {0, 2, 1})});
            makeY(g, "MatMul", {g.node("Softmax", {scores}, {{"axis", -1L}}), "features"});
          },
          [=](const auto& features, const auto&) {
            std::vector<double> y;
            for (int q = 0; q < queries; ++q) {
              double total = 0;
              std::vector<double> sums(kDim, 0.0);
              for (auto row = features.begin(); row != features.end(); row += kDim) {
                double logit = 0;
                for (int c = 0; c < kDim; ++c) logit += 0.05 * (1 + q) * row[c];
                total += std::exp(logit);
                for (int c = 0; c < kDim; ++c) sums[static_cast<std::size_t>(c)] += std::exp(logit) * row[c];
              }
              for (const double sum : sums) y.push_back(sum / total);
            }
            return y;
          }};
}

const OwnCase kOwn[] = {
    poolingBy("AttentionPooling", 1),
    poolingBy("AttentionPoolingByThree", 3),
    {"TensorsOfTwoShapes",
     [](GraphBuilder& g, const std::string& map) {
       const std::string x = g.node("Tanh", {map});
       makeY(g, "Mul", {x, g.node("GlobalAveragePool", {x})});
     },
     [](const auto&, const auto& map) {
       std::vector<double> y = each(map, [](double x) { return std::tanh(x); }), means(kDim, 0.0);
       for (std::size_t i = 0; i < y.size(); ++i) means[i / kTokens] += y[i] / kTokens;
       for (std::size_t i = 0; i < y.size(); ++i) y[i] *= means[i / kTokens];
       return y;
     }},
    {"Difference",
     [](GraphBuilder& g, const std::string&) {
       makeY(g, "Sub", {g.node("Tanh", {"features"}), g.node("Sigmoid", {"features"})});
     },
     [](const auto& features, const auto&) {
       return each(features, [](double x) { return std::tanh(x) - 1 / (1 + std::exp(-x)); });
     }},
    {"ConstantMinusTensor",
     [](GraphBuilder& g, const std::string&) {
       makeY(g, "Sub", {g.number(1), g.node("Tanh", {"features"})});
     },
     [](const auto& features, const auto&) { return each(features, [](double x) { return 1 - std::tanh(x); }); }},
    {"ConstantOverTensor",
     [](GraphBuilder& g, const std::string&) {
       makeY(g, "Div", {g.number(1), g.node("Sigmoid", {"features"})});
     },
     [](const auto& features, const auto&) { return each(features, [](double x) { return 1 + std::exp(-x); }); }},
    {"ConstantPerFeature",
     [](GraphBuilder& g, const std::string&) {
       makeY(g, "Mul", {g.node("Tanh", {"features"}), ramp(g, {kDim})});
     },
     [](const auto& features, const auto&) {
       std::vector<double> y = each(features, [](double x) { return std::tanh(x); });
       for (std::size_t i = 0; i < y.size(); ++i) y[i] *= 0.5 + 0.125 * static_cast<double>(i % kDim);
       return y;
     }},
    {"TensorRepeatedByAConstant",
     [](GraphBuilder& g, const std::string& map) {
       const std::string mean = g.node("ReduceMean", {map}, {{"axes", std::vector<long>{1}}, {"keepdims", 1L}});
       makeY(g, "Mul", {mean, ramp(g, {1, kDim, 1, 1})});
     },
     [](const auto&, const auto& map) {
       std::vector<double> means(kTokens, 0.0), y;
       for (std::size_t i = 0; i < map.size(); ++i) means[i % kTokens] += map[i] / kDim;
       for (int c = 0; c < kDim; ++c)
         for (const double mean : means) y.push_back(mean * (0.5 + 0.125 * c));
       return y;
     }},
    {"SliceWithSteps",
     [](GraphBuilder& g, const std::string&) {
       makeY(g, "Slice", {"features", g.ints({1}), g.ints({24}), g.ints({2}), g.ints({2})});
     },
     [](const auto& features, const auto&) {
       return picked(features, counting(0, 1 + kTokens), counting(1, kDim, 2));
     }},
    {"SliceBackwards",
     [](GraphBuilder& g, const std::string&) {
       makeY(g, "Slice", {"features", g.ints({2, -1}), g.ints({9, -25}), g.ints({1, 2}), g.ints({3, -1})});
     },
     [](const auto& features, const auto&) {
       std::vector<int> columns = counting(0, kDim);
       std::reverse(columns.begin(), columns.end());
       return picked(features, {2, 5, 8}, columns);
     }},
    {"GatherOfSeveral",
     [](GraphBuilder& g, const std::string&) {
       makeY(g, "Gather", {"features", g.ints({3, 0, -1})}, {{"axis", 2L}});
     },
     [](const auto& features, const auto&) {
       return picked(features, counting(0, 1 + kTokens), {3, 0, kDim - 1});
     }},
    {"Tile",
     [](GraphBuilder& g, const std::string&) {
       makeY(g, "Tile", {g.slice("features", 2, 0, 2), g.ints({1, 2, 2})});
     },
     [](const auto& features, const auto&) {
       std::vector<int> rows = counting(0, 1 + kTokens);
       const std::vector<int> once = rows;
       rows.insert(rows.end(), once.begin(), once.end());
       return picked(features, rows, {0, 1, 0, 1});
     }},
    {"UnitTokens",
     [](GraphBuilder& g, const std::string&) {
       makeY(g, "LpNormalization", {g.node("Tanh", {"features"})}, {{"axis", -1L}});
     },
     [](const auto& features, const auto&) {
       std::vector<double> squares(1 + kTokens, 0.0), y = each(features, [](double x) { return std::tanh(x); });
       for (std::size_t i = 0; i < y.size(); ++i) squares[i / kDim] += y[i] * y[i];
       for (std::size_t i = 0; i < y.size(); ++i) y[i] /= std::sqrt(squares[i / kDim]);
       return y;
     }},
    {"MaskProduct",
     [](GraphBuilder& g, const std::string& map) {
       const std::string queries = g.node("Tanh", {g.slice("features", 1, 0, 3)});
       makeY(g, "Einsum", {queries, g.node("Tanh", {map})}, {{"equation", std::string("bqc,bchw->bqhw")}});
     },
     [](const auto& features, const auto& map) { return maskProduct(features, map); }},
    {"MatrixOfTokens",
     [](GraphBuilder& g, const std::string& map) {
       const std::string tokens = g.node("Tanh", {g.slice("features", 1, 0, 3)});
       makeY(g, "MatMul", {tokens, g.reshape(g.node("Tanh", {map}), {1, kDim, kTokens})});
     },
     [](const auto& features, const auto& map) { return maskProduct(features, map); }},
};

TEST_P(OwnOperator, ComputesWhatOnnxMeans) {
  dialect.opset = GetParam().opset;
  const auto image = TinyVit::image(21);
  GraphBuilder g = TinyVit(dialect).graph();
  GetParam().node(g, mapOf(g));
  const std::vector<double> features = TinyVit(dialect).evaluate(image)[0];
  EXPECT_LT(difference(run(g, "y", image), GetParam().expected(features, map(image))), 1e-4);
  // Three images: each as alone.
  ConvertOptions options;
  options.reduce = mpmBefore({1});
  cv::dnn::Net net = readNet(path, {.convert = options}).net;
  std::vector<double> images, alone;
  for (const unsigned seed : {21u, 22u, 23u}) {
    const auto one = TinyVit::image(seed);
    images.insert(images.end(), one.begin(), one.end());
    const auto y = runNet(net, one, {1, 3, TinyVit::kHeight, TinyVit::kWidth}, {"y"})[0];
    alone.insert(alone.end(), y.begin(), y.end());
  }
  EXPECT_LT(difference(runNet(net, images, {3, 3, TinyVit::kHeight, TinyVit::kWidth}, {"y"})[0], alone), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Vit, OwnOperator, ::testing::ValuesIn(kOwn),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace mpm::test
