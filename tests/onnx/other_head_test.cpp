// SPDX-License-Identifier: Apache-2.0
// Heads that are neither of Segmenter's: their stock nodes stay, and OpenCV must compute them as ONNX means them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mpm/mpm.hpp"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/temporary_folder.h"

namespace mpm::test {
namespace {

constexpr int kDim = TinyVit::kDim, kTokens = TinyVit::kTokens, kH = TinyVit::kGridH, kW = TinyVit::kGridW;

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
    options.schedule = std::move(schedule);
    ModelInfo info;
    cv::dnn::Net net = readNet(path, options, &info);
    EXPECT_EQ(info.head, "other");
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

/// A resize that Segmenter's head would not be computed with stays a stock node.
TEST_F(OtherHead, ResizeWithAlignedCorners) {
  const auto image = TinyVit::image(11);
  GraphBuilder g = TinyVit(dialect).graph();
  const long out_h = 7, out_w = 9;
  const std::string y = g.node(
      "Resize", {mapOf(g), "", "", g.ints({1, kDim, out_h, out_w})},
      {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("align_corners")}}, 1, "y");
  const std::vector<double> in = map(image);
  std::vector<double> expected;
  for (int c = 0; c < kDim; ++c) {
    for (int row = 0; row < out_h; ++row) {
      for (int column = 0; column < out_w; ++column) {
        const double sy = row * (kH - 1) / (out_h - 1.0), sx = column * (kW - 1) / (out_w - 1.0);
        const int y0 = std::min(static_cast<int>(sy), kH - 2), x0 = std::min(static_cast<int>(sx), kW - 2);
        const auto at = [&](int r, int k) { return in[static_cast<std::size_t>(c * kTokens + r * kW + k)]; };
        expected.push_back((at(y0, x0) * (1 - sx + x0) + at(y0, x0 + 1) * (sx - x0)) * (1 - sy + y0) +
                           (at(y0 + 1, x0) * (1 - sx + x0) + at(y0 + 1, x0 + 1) * (sx - x0)) * (sy - y0));
      }
    }
  }
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
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

TEST_F(OtherHead, MeanOverChannels) {
  const auto image = TinyVit::image(14);
  GraphBuilder g = TinyVit(dialect).graph();
  const std::string y = g.node("ReduceMean", {mapOf(g)}, {{"axes", std::vector<long>{1}}, {"keepdims", 1L}}, 1, "y");
  const std::vector<double> in = map(image);
  std::vector<double> expected(kTokens, 0.0);
  for (std::size_t i = 0; i < in.size(); ++i) expected[i % kTokens] += in[i] / kDim;
  EXPECT_LT(difference(run(g, y, image), expected), 1e-4);
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
  options.schedule = Schedule{1};
  cv::dnn::Net net = readNet(path, options);
  const auto found = runNet(net, TinyVit::image(13), {1, 3, TinyVit::kHeight, TinyVit::kWidth}, {"features", "again"});
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0].size(), static_cast<std::size_t>((dialect.special + kTokens) * kDim));
}

}  // namespace
}  // namespace mpm::test
