// SPDX-License-Identifier: Apache-2.0
// Every spelling of a ViT that exporters use, through the converter and cv::dnn, against double-precision loops.
#include <algorithm>
#include <tuple>

#include "mpm/mpm.hpp"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {

void PrintTo(const Dialect& dialect, std::ostream* out) { *out << dialect.name; }

namespace {

template <typename Change>
Dialect dialect(const std::string& name, Change change) {
  Dialect result;
  result.name = name;
  change(result);
  return result;
}

std::vector<Dialect> dialects() {
  std::vector<Dialect> all;
  const auto add = [&](const std::string& name, auto change) { all.push_back(dialect(name, change)); };
  for (const int opset : {11, 12, 13, 14, 15, 16, 17, 18, 19, 20}) {
    add("opset" + std::to_string(opset), [opset](Dialect& d) {
      d.opset = opset;
      d.norm = opset < 17 ? NormStyle::kPow : NormStyle::kOp;
      d.activation = opset < 20 ? ActivationStyle::kErfHalfLast : ActivationStyle::kErfOp;
      d.qkv = QkvStyle::kSplitSqueeze;
      d.head = HeadStyle::kMask;
    });
  }
  for (const auto& [name, style] : {std::pair("pow", NormStyle::kPow),
                                    {"mul", NormStyle::kMul},
                                    {"reciprocal", NormStyle::kReciprocal},
                                    {"powHalf", NormStyle::kPowHalf}}) {
    add(std::string("norm_") + name, [s = style](Dialect& d) { d.norm = s; });
  }
  for (const auto& [name, style] : {std::pair("erfHalfFirst", ActivationStyle::kErfHalfFirst),
                                    {"erfHalfInside", ActivationStyle::kErfHalfInside},
                                    {"erfDivided", ActivationStyle::kErfDivided},
                                    {"tanhPow", ActivationStyle::kTanhPow},
                                    {"tanhMul", ActivationStyle::kTanhMul},
                                    {"quick", ActivationStyle::kQuick},
                                    {"silu", ActivationStyle::kSilu},
                                    {"relu", ActivationStyle::kRelu}}) {
    add(std::string("activation_") + name, [s = style](Dialect& d) { d.activation = s; });
  }
  add("activation_erfOp", [](Dialect& d) { d.opset = 20, d.activation = ActivationStyle::kErfOp; });
  add("activation_tanhOp", [](Dialect& d) { d.opset = 20, d.activation = ActivationStyle::kTanhOp; });
  for (const auto& [name, style] : {std::pair("slice", QkvStyle::kSlice),
                                    {"chunk", QkvStyle::kChunk},
                                    {"separate", QkvStyle::kSeparate},
                                    {"batchedHeads", QkvStyle::kBatchedHeads},
                                    {"tokensFirst", QkvStyle::kTokensFirst},
                                    {"einsum", QkvStyle::kEinsum}}) {
    add(std::string("qkv_") + name, [s = style](Dialect& d) { d.qkv = s; });
  }
  add("qkv_attentionOp", [](Dialect& d) { d.opset = 23, d.qkv = QkvStyle::kAttentionOp; });
  for (const auto& [name, style] : {std::pair("scoresDiv", ScaleStyle::kScoresDiv),
                                    {"query", ScaleStyle::kQuery},
                                    {"both", ScaleStyle::kBoth},
                                    {"none", ScaleStyle::kNone}}) {
    add(std::string("scale_") + name, [s = style](Dialect& d) { d.scale = s; });
  }
  add("bias_absent", [](Dialect& d) { d.qkv_bias = BiasStyle::kAbsent; });
  add("bias_zero", [](Dialect& d) { d.qkv_bias = BiasStyle::kZero, d.qkv = QkvStyle::kSeparate; });
  add("bias_addedLater", [](Dialect& d) { d.qkv_bias = BiasStyle::kAddedLater, d.scale = ScaleStyle::kQuery; });
  add("linear_gemm", [](Dialect& d) { d.linear = LinearStyle::kGemm; });
  add("linear_gemmPlain", [](Dialect& d) { d.linear = LinearStyle::kGemmPlain, d.qkv_bias = BiasStyle::kAbsent; });
  add("linear_conv", [](Dialect& d) { d.linear = LinearStyle::kConv; });
  for (const auto& [name, storage] : {std::pair("half", Storage::kHalf),
                                      {"double", Storage::kDouble},
                                      {"floatField", Storage::kFloatField},
                                      {"constantNode", Storage::kConstantNode},
                                      {"identity", Storage::kIdentity},
                                      {"external", Storage::kExternal},
                                      {"shared", Storage::kShared}}) {
    add(std::string("storage_") + name, [s = storage](Dialect& d) { d.storage = s, d.head = HeadStyle::kLinear; });
  }
  for (const int special : {0, 1, 2, 5}) {
    for (const auto& [name, style] : {std::pair("afterConcat", PositionStyle::kAfterConcat),
                                      {"beforeConcat", PositionStyle::kBeforeConcat},
                                      {"registersLater", PositionStyle::kRegistersLater}}) {
      if (style == PositionStyle::kRegistersLater && special < 2) continue;
      add("tokens" + std::to_string(special) + "_" + name,
          [special, s = style](Dialect& d) { d.special = special, d.position = s; });
    }
  }
  add("layerScale", [](Dialect& d) { d.layer_scale = true; });
  add("qkNorm", [](Dialect& d) { d.qk_norm = true, d.scale = ScaleStyle::kQuery; });
  add("qkNormDecomposed", [](Dialect& d) { d.qk_norm = true, d.norm = NormStyle::kMul, d.qkv = QkvStyle::kSeparate; });
  add("qkNormOneHead", [](Dialect& d) { d.qk_norm = true, d.heads = 1, d.scale = ScaleStyle::kQuery; });
  add("qkNormOneHeadSeparate", [](Dialect& d) { d.qk_norm = true, d.heads = 1, d.qkv = QkvStyle::kSeparate; });
  add("gated", [](Dialect& d) { d.gated = true, d.activation = ActivationStyle::kSilu, d.mlp_norm = true; });
  add("gatedFused", [](Dialect& d) { d.gated = d.gated_fused = true, d.activation = ActivationStyle::kSilu; });
  add("preNorm", [](Dialect& d) { d.pre_norm = true, d.activation = ActivationStyle::kQuick; });
  add("symbolic", [](Dialect& d) { d.symbolic = true, d.head = HeadStyle::kMask; });
  add("normalises", [](Dialect& d) { d.normalises = true; });
  for (const auto& [name, style] : {std::pair("linear", HeadStyle::kLinear),
                                    {"linearConv", HeadStyle::kLinearConv},
                                    {"mlp", HeadStyle::kMlp},
                                    {"mask", HeadStyle::kMask},
                                    {"classToken", HeadStyle::kClassToken},
                                    {"classSlice", HeadStyle::kClassSlice},
                                    {"mean", HeadStyle::kMean},
                                    {"tap", HeadStyle::kTap}}) {
    add(std::string("head_") + name, [s = style](Dialect& d) { d.head = s; });
  }
  add("head_maskTwoTokens", [](Dialect& d) { d.head = HeadStyle::kMask, d.special = 2, d.layer_scale = true; });
  add("head_maskNoToken",
      [](Dialect& d) { d.head = HeadStyle::kMask, d.special = 0, d.position = PositionStyle::kBeforeConcat; });
  add("head_mlpQuick", [](Dialect& d) { d.head = HeadStyle::kMlp, d.activation = ActivationStyle::kQuick; });
  add("head_linearNoResize", [](Dialect& d) { d.head = HeadStyle::kLinear, d.resize_in_graph = false; });
  for (const auto& [name, style] :
       {std::pair("reduceL2", L2Style::kReduceL2), {"reduceL2Clip", L2Style::kReduceL2Clip}, {"lp", L2Style::kLp}}) {
    add(std::string("l2_") + name, [s = style](Dialect& d) { d.head = HeadStyle::kMask, d.l2 = s; });
  }
  add("l2_reduceL2_opset18",
      [](Dialect& d) { d.head = HeadStyle::kMask, d.l2 = L2Style::kReduceL2Clip, d.opset = 18; });
  return all;
}

class DialectTest : public ::testing::TestWithParam<Dialect> {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "model.onnx";
  const std::vector<int> shape = {1, 3, TinyVit::kHeight, TinyVit::kWidth};
};

ConvertOptions optionsFor(const Dialect& dialect, Schedule schedule) {
  ConvertOptions options;
  options.reduce = mpmBefore(schedule);
  options.output = Output::kLogits;
  if (dialect.symbolic) options.input_size = Size2{TinyVit::kHeight, TinyVit::kWidth};
  return options;
}

TEST_P(DialectTest, ConvertsToTheSameNumbers) {
  TinyVit vit(GetParam());
  vit.save(path);
  auto [net, info] = readNet(path, {.convert = optionsFor(GetParam(), {})});
  EXPECT_EQ(info.blocks, GetParam().blocks);
  EXPECT_EQ(info.heads, GetParam().heads);
  EXPECT_EQ(info.dim, TinyVit::kDim);
  EXPECT_EQ(info.special_tokens, GetParam().special);
  EXPECT_EQ(info.patch, (Size2{TinyVit::kPatch, TinyVit::kPatch}));
  EXPECT_EQ(info.grid, (Size2{TinyVit::kGridH, TinyVit::kGridW}));
  const std::vector<double> image = TinyVit::image(3);
  const auto expected = vit.evaluate(image);
  const auto found = runNet(net, image, shape, info.outputs);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LT(difference(found[i], expected[i]), 1e-4) << info.outputs[i];
}

TEST(Windows, ComputeTheSameNumbers) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  TinyVit vit(dialect("windows", [](Dialect& d) {
    d.special = 0, d.position = PositionStyle::kBeforeConcat, d.windowed = true, d.layer_scale = true;
  }));
  vit.save(path);
  auto [net, info] = readNet(path, {});
  EXPECT_EQ(info.schedule(), Schedule{}) << "what is not asked for";
  const std::vector<double> image = TinyVit::image(3);
  const auto found = runNet(net, image, {1, 3, TinyVit::kHeight, TinyVit::kWidth}, info.outputs);
  EXPECT_LT(difference(found[0], vit.evaluate(image)[0]), 1e-4);
  EXPECT_MPM_ERROR(readNet(path, {.convert = {.reduce = mpmBefore({1})}}), "is inside windows of the patch grid");
  EXPECT_MPM_ERROR(readNet(path, {.convert = {.reduce = parseReduction("tome:blocks=0:count=2")}}),
                   "its tokens cannot merge");
}

/// What of a dialect is the network; the rest is spelling.
auto networkOf(const Dialect& d) {
  const auto activation = [&] {
    switch (d.activation) {
      case ActivationStyle::kTanhOp:
      case ActivationStyle::kTanhPow:
      case ActivationStyle::kTanhMul:
        return ActivationStyle::kTanhOp;
      case ActivationStyle::kQuick:
      case ActivationStyle::kSilu:
      case ActivationStyle::kRelu:
        return d.activation;
      default:
        return ActivationStyle::kErfOp;
    }
  };
  const Storage weights = d.storage == Storage::kHalf || d.storage == Storage::kShared ? d.storage : Storage::kFloat;
  const BiasStyle bias = d.qkv_bias == BiasStyle::kAbsent ? BiasStyle::kZero : d.qkv_bias;
  const PositionStyle position = d.special > 0 ? d.position : PositionStyle::kBeforeConcat;
  const HeadStyle head = d.head == HeadStyle::kLinearConv   ? HeadStyle::kLinear
                         : d.head == HeadStyle::kClassSlice ? HeadStyle::kClassToken
                                                            : d.head;
  return std::tuple(weights, activation(), bias, position, head, d.special, d.heads, d.scale == ScaleStyle::kNone,
                    d.layer_scale, d.qk_norm, d.gated, d.mlp_norm, d.pre_norm, d.normalises, d.resize_in_graph);
}

/// With merging, every spelling of a network gives the maps and the numbers of its first spelling in the list.
TEST_P(DialectTest, MergesAsTheFirstSpellingDoes) {
  const auto merged = [&](const Dialect& dialect) {
    TinyVit(dialect).save(path);
    auto [net, info] = readNet(path, {.convert = optionsFor(dialect, {1, 2})});
    return runNet(net, TinyVit::image(3), shape, {"token_counts", "merge_map", info.outputs[0]});
  };
  const auto found = merged(GetParam());
  ASSERT_EQ(found[0].size(), 3u);
  EXPECT_EQ(found[0][0], TinyVit::kTokens);
  EXPECT_LT(found[0][1], TinyVit::kTokens);
  EXPECT_LT(found[0][2], found[0][1]);
  EXPECT_EQ(found[1].size(), 2u * TinyVit::kTokens);
  const std::vector<Dialect> all = dialects();
  const auto first =
      std::find_if(all.begin(), all.end(), [](const Dialect& d) { return networkOf(d) == networkOf(GetParam()); });
  const auto expected = merged(*first);
  EXPECT_EQ(found[0], expected[0]);
  EXPECT_EQ(found[1], expected[1]);
  EXPECT_LT(difference(found[2], expected[2]), 1e-4) << "against " << first->name;
}

std::string testName(const ::testing::TestParamInfo<Dialect>& tested) { return tested.param.name; }

INSTANTIATE_TEST_SUITE_P(Vit, DialectTest, ::testing::ValuesIn(dialects()), testName);

}  // namespace
}  // namespace mpm::test
