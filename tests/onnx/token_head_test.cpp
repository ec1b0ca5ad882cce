// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference.h"
#include "onnx/converter.h"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/reading.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

using Values = std::vector<double>;

constexpr int kHidden = 7, kClasses = 4;
const std::vector<int> kShape = {1, 3, TinyVit::kHeight, TinyVit::kWidth};

std::vector<float> draw(int count, unsigned& state, float offset = 0) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(offset + 0.4f * (static_cast<float>(state >> 8) * 0x1p-23f - 1));
  }
  return values;
}

TokenHead randomHead(int classes = kClasses) {
  unsigned state = 5;
  const int dim = TinyVit::kDim;
  return {dim,
          kHidden,
          classes,
          draw(dim, state, 1),
          draw(dim, state),
          draw(dim * kHidden, state),
          draw(kHidden, state),
          draw(kHidden * classes, state),
          draw(classes, state)};
}

// The matrix of a head is {in, out}.
Reference linear(const Reference& x, const std::vector<float>& weight, const std::vector<float>& bias) {
  Matrix turned(static_cast<int>(bias.size()), x.cols);
  for (int i = 0; i < x.cols; ++i)
    for (int o = 0; o < turned.rows; ++o) turned.at(o, i) = weight[i * turned.rows + o];
  return linear(x, {turned.view(), bias.data()});
}

Values scores(const TokenHead& head, const Values& tokens) {
  Reference x(static_cast<int>(tokens.size()) / head.dim, head.dim);
  x.values = tokens;
  const Reference normed = norm(x, {head.norm_weight.data(), head.norm_bias.data(), TokenHead::kNormEps});
  Reference hidden = linear(normed, head.hidden_weight, head.hidden_bias);
  for (double& value : hidden.values) value = activated(Activation::kGeluErf, value);
  return linear(hidden, head.score_weight, head.score_bias).values;
}

class TokenHeadTest : public InFolder {
 protected:
  const std::string model_ = folder_ / "model.onnx", taught_ = folder_ / "taught.onnx";

  void write(const std::string& bytes) const { std::ofstream(taught_, std::ios::binary) << bytes; }
};

class TokenHeadOfADialect : public TokenHeadTest, public ::testing::WithParamInterface<Dialect> {};

// The scores of the new model are those of the head on the tokens that the model itself has behind its last block.
TEST_P(TokenHeadOfADialect, ScoresTheTokensBehindTheLastBlock) {
  const Dialect& dialect = GetParam();
  TinyVit(dialect).save(model_);
  ConvertOptions options{.reduce = kFullModel};
  if (dialect.symbolic) {
    std::ofstream(folder_ / "model.json") << R"({"input": {"height": 12, "width": 20}})";
    std::ofstream(folder_ / "taught.json") << R"({"input": {"height": 12, "width": 20}})";
  }
  const Values image = TinyVit::image(3);
  ReadOptions of_encoder = reading(options);
  of_encoder.outputs = {"backbone/block2"};
  cv::dnn::Net encoder = readNet(model_, of_encoder).net;
  const Values tokens = runNet(encoder, image, kShape, {"backbone/block2"})[0];
  const TokenHead head = randomHead();
  const Values expected = scores(head, {tokens.begin() + dialect.special * TinyVit::kDim, tokens.end()});

  write(onnx_graph::withTokenHead(model_, head));
  options.scores = true;
  auto [net, info] = readNet(taught_, reading(options));
  EXPECT_EQ(info.head, HeadKind::kLinear);
  EXPECT_EQ(info.classes, kClasses);
  EXPECT_TRUE(info.hasPixelClasses());
  EXPECT_LT(difference(runNet(net, image, kShape, {"scores"})[0], expected), 1e-4);

  // The head of a taught model is replaced by the next one. Nothing is left of it.
  const std::string once = onnx_graph::withTokenHead(taught_, randomHead(2));
  write(once);
  EXPECT_EQ(readModelInfo(taught_).classes, 2);
  const std::string twice = onnx_graph::withTokenHead(taught_, randomHead(2));
  EXPECT_EQ(once.size(), twice.size());
}

const Dialect kTaught[] = {
    {.name = "features"},
    {.name = "mask", .head = HeadStyle::kMask},
    {.name = "opset11", .opset = 11, .norm = NormStyle::kPow, .head = HeadStyle::kLinear},
    {.name = "opset20", .opset = 20},
    {.name = "noSpecialToken", .special = 0},
    {.name = "registers", .head = HeadStyle::kClassToken, .special = 5},
    {.name = "half", .storage = Storage::kHalf},
    {.name = "external", .storage = Storage::kExternal},
    {.name = "symbolic", .symbolic = true},
};

INSTANTIATE_TEST_SUITE_P(Vit, TokenHeadOfADialect, ::testing::ValuesIn(kTaught),
                         [](const auto& tested) { return tested.param.name; });

TEST_F(TokenHeadTest, RefusesAConvertedModel) {
  TinyVit(Dialect{}).save(model_);
  convertFile(model_, taught_);
  EXPECT_MPM_ERROR(onnx_graph::withTokenHead(taught_, randomHead()), taught_ + ": is a converted model");
  EXPECT_MPM_ERROR(onnx_graph::requireTokenHeadFits(taught_), taught_ + ": is a converted model");
  EXPECT_EQ(onnx_graph::requireTokenHeadFits(model_), (Size2{TinyVit::kHeight, TinyVit::kWidth}));
}

// What mpm teach writes into MODEL.json.
TEST_F(TokenHeadTest, TheJsonSaysHowTokensMergeByDefault) {
  TinyVit(Dialect{}).save(model_);
  const auto json = [&](const std::string& text) { std::ofstream(folder_ / "model.json") << text; };
  json(R"({"reduce": "mpm:blocks=1"})");
  EXPECT_EQ(readModelInfo(model_, {.reduce = parseReduction("none")}).schedule(), Schedule{});
  json(R"({"reduce": "none"})");
  EXPECT_EQ(readModelInfo(model_).schedule(), Schedule{});
  json(R"({"reduce": "some"})");
  EXPECT_MPM_ERROR(readModelInfo(model_), (folder_ / "model.json") + "': reduce: ");
  json(R"({"reduce": "mpm:blocks=7"})");
  EXPECT_MPM_ERROR(readModelInfo(model_), "block 7 does not exist");
}

TEST_F(TokenHeadTest, AClassNeedsNoColour) {
  TinyVit({.head = HeadStyle::kLinear}).save(model_);
  write(onnx_graph::withTokenHead(model_, randomHead(2)));
  std::ofstream(folder_ / "taught.json") << R"({"classes": [{"name": "a"}, {"name": "b", "color": "#010203"}]})";
  convertFile(taught_, folder_ / "converted.onnx");
  for (const std::string& path : {taught_, folder_ / "converted.onnx"}) {
    const auto classes = readModelInfo(path).facts.classes;
    ASSERT_EQ(classes.size(), 2u);
    EXPECT_FALSE(classes[0].rgb.has_value()) << path;
    EXPECT_EQ(classes[1].rgb, (std::array<std::uint8_t, 3>{1, 2, 3})) << path;
  }
}

}  // namespace
}  // namespace mpm::test
