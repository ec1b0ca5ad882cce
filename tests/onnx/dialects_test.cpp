// SPDX-License-Identifier: Apache-2.0
// Every spelling of a ViT that exporters use, through the converter and cv::dnn, against double-precision loops.
#include <array>
#include <fstream>
#include <tuple>

#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/reading.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {

void PrintTo(const Dialect& dialect, std::ostream* out) { *out << dialect.name; }

namespace {

std::vector<Dialect> dialects() {
  std::vector<Dialect> all;
  for (const int opset : {11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    all.push_back({.name = "opset" + std::to_string(opset),
                   .opset = opset,
                   .norm = opset < 17 ? NormStyle::kPow : NormStyle::kOp,
                   .activation = opset < 20 ? ActivationStyle::kErfHalfLast : ActivationStyle::kErfOp,
                   .qkv = QkvStyle::kSplitSqueeze,
                   .head = HeadStyle::kMask});
  const Dialect one_by_one[] = {
      {.name = "norm_pow", .norm = NormStyle::kPow},
      {.name = "norm_mul", .norm = NormStyle::kMul},
      {.name = "norm_reciprocal", .norm = NormStyle::kReciprocal},
      {.name = "norm_powHalf", .norm = NormStyle::kPowHalf},
      {.name = "norm_meanBySum", .norm = NormStyle::kMeanBySum},
      {.name = "norm_meanOfSquares", .norm = NormStyle::kMeanOfSquares},
      {.name = "norm_folded", .norm = NormStyle::kFolded},
      {.name = "activation_siluDivided", .activation = ActivationStyle::kSiluDivided},
      {.name = "activation_reluSquared", .activation = ActivationStyle::kReluSquared},
      {.name = "activation_reluPow", .activation = ActivationStyle::kReluPow},
      {.name = "activation_elu", .activation = ActivationStyle::kElu},
      {.name = "activation_mishOp", .opset = 18, .activation = ActivationStyle::kMishOp},
      {.name = "activation_mish", .activation = ActivationStyle::kMish},
      {.name = "activation_hardSwishOp", .activation = ActivationStyle::kHardSwishOp},
      {.name = "activation_hardSwishSigmoid", .activation = ActivationStyle::kHardSwishSigmoid},
      {.name = "activation_hardSwishClip", .activation = ActivationStyle::kHardSwishClip},
      {.name = "softmax_byHand", .softmax = SoftmaxStyle::kByHand},
      {.name = "softmax_byHandOpset11", .opset = 11, .norm = NormStyle::kPow, .softmax = SoftmaxStyle::kByHand},
      {.name = "softmax_byHandReciprocal", .softmax = SoftmaxStyle::kByHandReciprocal},
      {.name = "softmax_byHandWithoutMaximum", .softmax = SoftmaxStyle::kByHandWithoutMaximum},
      {.name = "softmax_log", .softmax = SoftmaxStyle::kLog},
      {.name = "mask_zeros", .mask = MaskStyle::kZeros},
      {.name = "mask_where", .mask = MaskStyle::kWhere},
      {.name = "mask_whereNot", .mask = MaskStyle::kWhereNot},
      {.name = "qkv_einsumDense", .qkv = QkvStyle::kEinsumDense},
      {.name = "qkv_turned", .qkv = QkvStyle::kTurned},
      {.name = "linear_einsum", .linear = LinearStyle::kEinsum},
      {.name = "linear_einsumTurned", .linear = LinearStyle::kEinsumTurned},
      {.name = "linear_onTheLeft", .linear = LinearStyle::kOnTheLeft},
      {.name = "linear_convAlongTokens", .linear = LinearStyle::kConvAlongTokens},
      {.name = "scale_key", .scale = ScaleStyle::kKey},
      {.name = "cosine", .cosine = true},
      {.name = "cosineOfOneHead", .heads = 1, .cosine = true},
      {.name = "cosineByOp",
       .qkv = QkvStyle::kSeparate,
       .scale = ScaleStyle::kQuery,
       .l2 = L2Style::kLp,
       .cosine = true},
      {.name = "cosineClipped", .l2 = L2Style::kReduceL2Clip, .cosine = true},
      {.name = "rotary", .scale = ScaleStyle::kQuery, .rotary_tables = 1},
      {.name = "rotaryScaledKeys", .scale = ScaleStyle::kKey, .rotary_tables = 1},
      {.name = "rotaryScaledBoth", .qkv = QkvStyle::kSeparate, .scale = ScaleStyle::kBoth, .rotary_tables = 1},
      {.name = "rotaryPerHead", .scale = ScaleStyle::kKey, .rotary_tables = 2},
      {.name = "rotaryOfNormalised", .scale = ScaleStyle::kQuery, .qk_norm = true, .rotary_tables = 2},
      {.name = "rotaryInFrontOfSpecials",
       .position = PositionStyle::kBehind,
       .head = HeadStyle::kLinear,
       .special = 3,
       .rotary_tables = 1},
      {.name = "rotaryPerHeadInFrontOfSpecials",
       .scale = ScaleStyle::kKey,
       .position = PositionStyle::kBehind,
       .head = HeadStyle::kLinear,
       .special = 2,
       .rotary_tables = 2},
      {.name = "specialsBehind", .position = PositionStyle::kBehind, .head = HeadStyle::kLinear, .special = 2},
      {.name = "parallel", .blocks_are = BlockStyle::kParallel},
      {.name = "parallelOneByOne", .blocks_are = BlockStyle::kParallelOneByOne},
      {.name = "parallelLayerScale", .blocks_are = BlockStyle::kParallel, .layer_scale = true},
      {.name = "activation_erfHalfFirst", .activation = ActivationStyle::kErfHalfFirst},
      {.name = "activation_erfHalfInside", .activation = ActivationStyle::kErfHalfInside},
      {.name = "activation_erfDivided", .activation = ActivationStyle::kErfDivided},
      {.name = "activation_tanhPow", .activation = ActivationStyle::kTanhPow},
      {.name = "activation_tanhMul", .activation = ActivationStyle::kTanhMul},
      {.name = "activation_quick", .activation = ActivationStyle::kQuick},
      {.name = "activation_silu", .activation = ActivationStyle::kSilu},
      {.name = "activation_relu", .activation = ActivationStyle::kRelu},
      {.name = "activation_erfOp", .opset = 20, .activation = ActivationStyle::kErfOp},
      {.name = "activation_tanhOp", .opset = 20, .activation = ActivationStyle::kTanhOp},
      {.name = "qkv_slice", .qkv = QkvStyle::kSlice},
      {.name = "qkv_chunk", .qkv = QkvStyle::kChunk},
      {.name = "qkv_separate", .qkv = QkvStyle::kSeparate},
      {.name = "qkv_batchedHeads", .qkv = QkvStyle::kBatchedHeads},
      {.name = "qkv_tokensFirst", .qkv = QkvStyle::kTokensFirst},
      {.name = "qkv_einsum", .qkv = QkvStyle::kEinsum},
      {.name = "qkv_attentionOp", .opset = 23, .qkv = QkvStyle::kAttentionOp},
      {.name = "qkv_oneKeyHead", .qkv = QkvStyle::kOneKeyHead},
      {.name = "qkv_attentionOpOne", .opset = 23, .qkv = QkvStyle::kAttentionOpOne},
      {.name = "image_last", .image = ImageStyle::kLast},
      {.name = "image_lastSymbolic", .symbolic = true, .image = ImageStyle::kLast},
      {.name = "image_bytesLast", .head = HeadStyle::kMask, .image = ImageStyle::kBytesLast, .normalises = true},
      {.name = "image_bgrGather", .image = ImageStyle::kBgrGather, .normalises = true},
      {.name = "image_bgrFlip", .image = ImageStyle::kBgrFlip},
      {.name = "image_bgrSplit", .image = ImageStyle::kBgrSplit, .normalises = true},
      {.name = "image_lastBgrFlip", .image = ImageStyle::kLastBgrFlip, .normalises = true},
      {.name = "patches_padded", .patches = PatchStyle::kPadded},
      {.name = "patches_paddedNormalised", .patches = PatchStyle::kPadded, .normalises = true},
      {.name = "patches_paddedNormalisedBgr",
       .head = HeadStyle::kMask,
       .image = ImageStyle::kBgrSplit,
       .patches = PatchStyle::kPadded,
       .normalises = true},
      {.name = "patches_linear", .patches = PatchStyle::kLinear, .normalises = true},
      {.name = "patches_linearByPixel", .head = HeadStyle::kMask, .patches = PatchStyle::kLinearByPixel},
      {.name = "patches_linearColumns", .patches = PatchStyle::kLinearColumns},
      {.name = "patches_linearOfBgrLast",
       .image = ImageStyle::kLastBgrFlip,
       .patches = PatchStyle::kLinearByPixel,
       .normalises = true},
      {.name = "scale_scoresDiv", .scale = ScaleStyle::kScoresDiv},
      {.name = "scale_query", .scale = ScaleStyle::kQuery},
      {.name = "scale_both", .scale = ScaleStyle::kBoth},
      {.name = "scale_none", .scale = ScaleStyle::kNone},
      {.name = "bias_absent", .qkv_bias = BiasStyle::kAbsent},
      {.name = "bias_zero", .qkv = QkvStyle::kSeparate, .qkv_bias = BiasStyle::kZero},
      {.name = "bias_addedLater", .scale = ScaleStyle::kQuery, .qkv_bias = BiasStyle::kAddedLater},
      {.name = "linear_gemm", .linear = LinearStyle::kGemm},
      {.name = "linear_gemmPlain", .qkv_bias = BiasStyle::kAbsent, .linear = LinearStyle::kGemmPlain},
      {.name = "linear_conv", .linear = LinearStyle::kConv},
      {.name = "storage_half", .storage = Storage::kHalf, .head = HeadStyle::kLinear},
      {.name = "storage_double", .storage = Storage::kDouble, .head = HeadStyle::kLinear},
      {.name = "storage_floatField", .storage = Storage::kFloatField, .head = HeadStyle::kLinear},
      {.name = "storage_constantNode", .storage = Storage::kConstantNode, .head = HeadStyle::kLinear},
      {.name = "storage_identity", .storage = Storage::kIdentity, .head = HeadStyle::kLinear},
      {.name = "storage_external", .storage = Storage::kExternal, .head = HeadStyle::kLinear},
      {.name = "storage_shared", .storage = Storage::kShared, .head = HeadStyle::kLinear},
      {.name = "layerScale", .layer_scale = true},
      {.name = "qkNorm", .scale = ScaleStyle::kQuery, .qk_norm = true},
      {.name = "qkNormDecomposed", .norm = NormStyle::kMul, .qkv = QkvStyle::kSeparate, .qk_norm = true},
      {.name = "qkNormOneHead", .scale = ScaleStyle::kQuery, .heads = 1, .qk_norm = true},
      {.name = "qkNormOneHeadSeparate", .qkv = QkvStyle::kSeparate, .heads = 1, .qk_norm = true},
      {.name = "gated", .activation = ActivationStyle::kSilu, .gated = true, .mlp_norm = true},
      {.name = "gatedFused", .activation = ActivationStyle::kSilu, .gated = true, .gated_fused = true},
      {.name = "preNorm", .activation = ActivationStyle::kQuick, .pre_norm = true},
      {.name = "symbolic", .head = HeadStyle::kMask, .symbolic = true},
      {.name = "normalises", .normalises = true},
      {.name = "head_linear", .head = HeadStyle::kLinear},
      {.name = "head_linearConv", .head = HeadStyle::kLinearConv},
      {.name = "head_mlp", .head = HeadStyle::kMlp},
      {.name = "head_mask", .head = HeadStyle::kMask},
      {.name = "head_classToken", .head = HeadStyle::kClassToken},
      {.name = "head_classSlice", .head = HeadStyle::kClassSlice},
      {.name = "head_mean", .head = HeadStyle::kMean},
      {.name = "head_tap", .head = HeadStyle::kTap},
      {.name = "head_maskTwoTokens", .head = HeadStyle::kMask, .special = 2, .layer_scale = true},
      {.name = "head_maskNoToken", .position = PositionStyle::kBeforeConcat, .head = HeadStyle::kMask, .special = 0},
      {.name = "head_mlpQuick", .activation = ActivationStyle::kQuick, .head = HeadStyle::kMlp},
      {.name = "head_linearNoResize", .head = HeadStyle::kLinear, .resize_in_graph = false},
      {.name = "l2_reduceL2", .head = HeadStyle::kMask, .l2 = L2Style::kReduceL2},
      {.name = "l2_reduceL2Clip", .head = HeadStyle::kMask, .l2 = L2Style::kReduceL2Clip},
      {.name = "scores_loneConcat", .lone_concat = true},
      {.name = "l2_lp", .head = HeadStyle::kMask, .l2 = L2Style::kLp},
      {.name = "l2_reduceL2_opset18", .opset = 18, .head = HeadStyle::kMask, .l2 = L2Style::kReduceL2Clip},
  };
  all.insert(all.end(), std::begin(one_by_one), std::end(one_by_one));
  for (const int special : {0, 1, 2, 5}) {
    const std::string name = "tokens" + std::to_string(special) + "_";
    all.push_back({.name = name + "afterConcat", .position = PositionStyle::kAfterConcat, .special = special});
    all.push_back({.name = name + "beforeConcat", .position = PositionStyle::kBeforeConcat, .special = special});
    if (special < 2) continue;
    all.push_back({.name = name + "registersLater", .position = PositionStyle::kRegistersLater, .special = special});
  }
  return all;
}

class DialectTest : public ::testing::TestWithParam<Dialect> {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "model.onnx";
  const std::vector<int> shape = {1, 3, TinyVit::kHeight, TinyVit::kWidth};
};

ConvertOptions optionsFor(const Dialect& dialect, Schedule schedule) {
  ConvertOptions options{.reduce = mpmBefore(schedule), .output = Output::kLogits};
  if (dialect.symbolic) options.input_size = Size2{TinyVit::kHeight, TinyVit::kWidth};
  return options;
}

TEST_P(DialectTest, ConvertsToTheSameNumbers) {
  TinyVit vit(GetParam());
  vit.save(path);
  auto [net, info] = readNet(path, reading(optionsFor(GetParam(), {})));
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
  TinyVit vit({.position = PositionStyle::kBeforeConcat, .special = 0, .layer_scale = true, .windowed = true});
  vit.save(path);
  EXPECT_EQ(readModelInfo(path).schedule(), Schedule{}) << "what is not asked for";
  const std::vector<double> image = TinyVit::image(3);
  EXPECT_LT(difference(runModel(path, {}, image)[0], vit.evaluate(image)[0]), 1e-4);
  EXPECT_MPM_ERROR(readNet(path, {.reduce = mpmBefore({1})}), "is inside windows of the patch grid");
  EXPECT_MPM_ERROR(readNet(path, {.reduce = parseReduction("tome:blocks=0:count=2")}), "its tokens cannot merge");
}

/// The graph takes pixels as they are, so the programs give it 0 to 255 unless its JSON says otherwise.
TEST(ImageOfBytes, IsNotNormalisedBeforeTheGraph) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  TinyVit({.image = ImageStyle::kBytesLast}).save(path);
  const ModelFacts facts = readModelInfo(path).facts;
  EXPECT_EQ(facts.mean, (std::array{0.0f, 0.0f, 0.0f}));
  EXPECT_EQ(facts.deviation, (std::array{1.0f / 255, 1.0f / 255, 1.0f / 255}));
  EXPECT_FALSE(facts.assumed);
  std::ofstream(folder / "model.json") << R"({"mean": [0.1, 0.2, 0.3], "std": [1, 1, 1]})";
  EXPECT_EQ(readModelInfo(path).facts.mean, (std::array{0.1f, 0.2f, 0.3f}));
}

/// What of a dialect is the network; the rest is spelling.
auto networkOf(const Dialect& d) {
  const auto activation = [&] {
    switch (d.activation) {
      case ActivationStyle::kTanhOp:
      case ActivationStyle::kTanhPow:
      case ActivationStyle::kTanhMul:
        return ActivationStyle::kTanhOp;
      case ActivationStyle::kErfOp:
      case ActivationStyle::kErfHalfLast:
      case ActivationStyle::kErfHalfFirst:
      case ActivationStyle::kErfHalfInside:
      case ActivationStyle::kErfDivided:
        return ActivationStyle::kErfOp;
      case ActivationStyle::kSiluDivided:
        return ActivationStyle::kSilu;
      case ActivationStyle::kReluPow:
        return ActivationStyle::kReluSquared;
      case ActivationStyle::kMishOp:
        return ActivationStyle::kMish;
      case ActivationStyle::kHardSwishSigmoid:
      case ActivationStyle::kHardSwishClip:
        return ActivationStyle::kHardSwishOp;
      default:
        return d.activation;
    }
  };
  const Storage weights = d.storage == Storage::kHalf || d.storage == Storage::kShared ? d.storage : Storage::kFloat;
  const BiasStyle bias = d.qkv_bias == BiasStyle::kAbsent ? BiasStyle::kZero : d.qkv_bias;
  const PositionStyle position = d.special > 0 ? d.position : PositionStyle::kBeforeConcat;
  const HeadStyle head = d.head == HeadStyle::kLinearConv   ? HeadStyle::kLinear
                         : d.head == HeadStyle::kClassSlice ? HeadStyle::kClassToken
                                                            : d.head;
  return std::tuple(weights, activation(), bias, position, head, d.special, d.heads, d.scale == ScaleStyle::kNone,
                    d.layer_scale, d.qk_norm, d.gated, d.mlp_norm, d.pre_norm, d.normalises, d.resize_in_graph,
                    d.oneKeyHead(), d.bgr(), d.cosine, d.rotary_tables, d.blocks_are != BlockStyle::kSequential,
                    d.patches == PatchStyle::kPadded);
}

/// With merging, every spelling of a network gives the maps and the numbers of its first spelling in the list.
TEST_P(DialectTest, MergesAsTheFirstSpellingDoes) {
  const auto merged = [&](const Dialect& dialect) {
    TinyVit(dialect).save(path);
    auto [net, info] = readNet(path, reading(optionsFor(dialect, {1, 2})));
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
