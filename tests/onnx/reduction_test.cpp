// SPDX-License-Identifier: Apache-2.0
// Every method of reduction through the converter: what it writes, that the file says it, and that nets run.

#include "onnx/model/model_info_json.h"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/pictures.h"
#include "support/reading.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

class Reductions : public InFolder {
 protected:
  std::string path = folder_ / "model.onnx", converted = folder_ / "converted.onnx";
  ConvertOptions options{.input_size = Size2{16, 24}};  // 4x6 patches

  explicit Reductions(HeadStyle head = HeadStyle::kFeatures) { TinyVit({.head = head, .blocks = 5}).save(path); }
  onnx::ModelProto convert(const std::string& spec) {
    options.reduce = parseReduction(spec);
    convertFile(path, converted, options);
    return modelAt(converted);
  }
  std::vector<std::vector<double>> run(const std::string& spec, const std::vector<std::string>& outputs) {
    options.reduce = parseReduction(spec);
    return runModel(path, options, TinyVit::image(5, 16, 24), outputs);
  }
};

/// The nodes from the embedding to the last block, as OP NAME.
std::vector<std::string> encoderNodes(const onnx::ModelProto& model) {
  std::vector<std::string> nodes;
  for (const auto& node : model.graph().node())
    if (node.name().starts_with("merge/") || node.name().starts_with("backbone/block"))
      nodes.push_back(node.op_type() + " " + node.name());
  return nodes;
}

std::string attributeOf(const onnx::ModelProto& model, const std::string& node, const std::string& name) {
  for (const auto& candidate : model.graph().node())
    for (const auto& attribute : candidate.attribute())
      if (candidate.name() == node && attribute.name() == name)
        return attribute.type() == onnx::AttributeProto::STRING ? attribute.s()
               : attribute.type() == onnx::AttributeProto::INT  ? std::to_string(attribute.i())
                                                                : std::to_string(attribute.f());
  return "absent";
}

/// Equal tokens stay equal without positions, and attention to one of two with their number is attention to both. So
/// merging of twins changes nothing, which needs no reference but the full model.
TEST(EqualPairs, MergedProportionallyGiveTheFullModel) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  constexpr int kPatches = TinyVit::kTokens, kGridW = TinyVit::kGridW, kSide = TinyVit::kPatch,
                kWidth = TinyVit::kWidth;
  for (const bool parallel : {false, true}) {
    TinyVit({.blocks_are = parallel ? BlockStyle::kParallel : BlockStyle::kSequential,
             .special = 2,
             .layer_scale = true,
             .no_positions = true})
        .save(path);
    // Patch i is that of i - 7, if there is one; the last of 15 has no twin.
    std::vector<double> image = TinyVit::image(5);
    for (int pixel = 0; pixel < static_cast<int>(image.size()); ++pixel) {
      const int x = pixel % kWidth, row = pixel / kWidth, y = row % TinyVit::kHeight;
      const int patch = y / kSide * kGridW + x / kSide, twin = patch - kPatches / 2;
      if (twin < 0 || patch + 1 == kPatches) continue;
      const int down = (patch / kGridW - twin / kGridW) * kSide, right = (patch % kGridW - twin % kGridW) * kSide;
      image[pixel] = image[(row - down) * kWidth + x - right];
    }
    const auto run = [&](const std::string& reduction) {
      return runModel(path, {.reduce = parseReduction(reduction)}, image, {"features", "token_counts"});
    };
    const auto full = run("none");
    for (const std::string at : {"0", "1", "2"}) {
      const auto merged = run("mpm:blocks=" + at + ":attention=proportional");
      EXPECT_THAT(merged[1], ElementsAre(kPatches, (kPatches + 1) / 2));
      EXPECT_LT(difference(merged[0], full[0]), 1e-5) << "merged before block " << at;
      EXPECT_GT(difference(run("mpm:blocks=" + at + ":attention=plain")[0], full[0]), 1e-3) << "sees twins once";
    }
  }
}

TEST(ParallelBlocks, HaveNoPlaceForMergesInsideAndNoWindows) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  TinyVit({.blocks_are = BlockStyle::kParallel}).save(path);
  EXPECT_MPM_ERROR(readNet(path, {.reduce = parseReduction("tome:blocks=0:count=2")}),
                   "its blocks compute attention and MLP side by side");
  TinyVit({.blocks_are = BlockStyle::kParallel, .special = 0, .windowed = true}).save(path);
  EXPECT_MPM_ERROR(readNet(path), "found an MLP beside attention in windows or with a bias of pairs");
}

TEST(WindowsOfTokens, CannotMerge) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  TinyVit({.special = 0, .windowed = true}).save(path);
  EXPECT_EQ(readModelInfo(path).schedule(), Schedule{}) << "what is not asked for";
  EXPECT_MPM_ERROR(readNet(path, {.reduce = mpmBefore({1})}), "is inside windows of the patch grid");
  EXPECT_MPM_ERROR(readNet(path, {.reduce = parseReduction("tome:blocks=0:count=2")}), "its tokens cannot merge");
}

TEST_F(Reductions, MergesInsideItsBlocksOnly) {
  const onnx::ModelProto model = convert("gradual:blocks=1,3:count=4");
  EXPECT_THAT(
      encoderNodes(model),
      ElementsAre("TransformerBlock backbone/block0", "TransformerBlock backbone/block1/attention",
                  "MergeTokens merge/in_block1", "TransformerBlock backbone/block1", "TransformerBlock backbone/block2",
                  "TransformerBlock backbone/block3/attention", "MergeTokens merge/in_block3",
                  "TransformerBlock backbone/block3", "TransformerBlock backbone/block4"));
  // Attention knows the sizes after the first step.
  for (const auto& [node, key_bias] : {std::pair("backbone/block0", "0"),
                                       {"backbone/block1/attention", "0"},
                                       {"backbone/block2", "1"},
                                       {"backbone/block3/attention", "1"},
                                       {"backbone/block4", "1"}})
    EXPECT_EQ(attributeOf(model, node, "key_bias"), key_bias) << node;
  EXPECT_EQ(attributeOf(model, "backbone/block1/attention", "part"), "attention");
  EXPECT_EQ(attributeOf(model, "backbone/block1", "part"), "mlp");
  EXPECT_EQ(attributeOf(model, "backbone/block2", "part"), "absent");
}

TEST_F(Reductions, AreAttributesOfTheSteps) {
  using Attributes = std::vector<std::pair<std::string, std::string>>;
  const std::tuple<std::string, std::string, Attributes> steps[] = {
      {"gradual:count=4", "merge/in_block4", {{"groups", "mutual_pairs"}, {"count", "4"}, {"weighted", "1"}}},
      {"gradual", "merge/in_block0", {{"count", "2"}}},            // 0.073 of 24 tokens is 1.75
      {"gradual:share=0.1", "merge/in_block0", {{"count", "2"}}},  // 2.4
      {"gradual:similarity=0.5", "merge/in_block0", {{"count", "absent"}, {"similarity", "0.500000"}}},
      {"tome", "merge/in_block0", {{"groups", "even_odd"}, {"count", "1"}, {"weighted", "1"}}},  // 0.96
      {"tome:count=3", "backbone/block0/attention", {{"keys", "1"}}},
      {"tome:count=3", "backbone/block4/attention", {{"key_bias", "1"}}},
      {"tome:count=3:attention=plain", "backbone/block4/attention", {{"key_bias", "0"}}},
      {"gradual:attention=plain", "backbone/block4/attention", {{"key_bias", "0"}}},
      {"mpm:blocks=1:attention=proportional", "backbone/block4", {{"key_bias", "1"}}},
      {"algm", "merge/in_block0", {{"groups", "windows"}, {"similarity", "0.880000"}, {"grid_w", "6"}}},
      {"algm", "merge/in_block4", {{"groups", "even_odd"}, {"deviations", "0.200000"}}},
      {"algm:blocks=1,2", "merge/in_block2", {{"deviations", "0.333333"}}},
      {"algm", "backbone/block4/attention", {{"key_bias", "0"}, {"keys", "absent"}}},
  };
  for (const auto& [spec, node, attributes] : steps) {
    const onnx::ModelProto model = convert(spec);
    for (const auto& [name, value] : attributes)
      EXPECT_EQ(attributeOf(model, node, name), value) << spec << " " << name;
  }
}

TEST_F(Reductions, TravelInTheConvertedFile) {
  for (const std::string spec :
       {"none", "mpm:blocks=1,3", "gradual", "gradual:blocks=0-2:count=3:similarity=0.2", "tome:count=2",
        "tome:share=0.1:attention=plain", "algm:threshold=0.1", "algm:blocks=0,2:attention=proportional"}) {
    SCOPED_TRACE(spec);
    convert(spec);
    const ModelInfo plain = readModelInfo(path, options);
    EXPECT_EQ(toString(plain.reduction), spec);
    for (const ModelInfo& info :
         {readModelInfo(converted), readModelInfo(converted, options), readNet(converted).info}) {
      EXPECT_EQ(toString(info.reduction), spec);
      EXPECT_EQ(info.schedule(), plain.schedule());
    }
    EXPECT_MPM_ERROR(readModelInfo(converted, {.reduce = parseReduction("gradual:count=17")}), "reduction " + spec);
    EXPECT_MPM_ERROR(readModelInfo(converted, {.reduce = mpmBefore({1})}), "cannot be given reduction mpm:blocks=1");
  }
  convert("tome:count=2");  // written out or not, a default is the same
  EXPECT_NO_THROW(readModelInfo(converted, {.reduce = parseReduction("tome:count=2:blocks=0-4")}));
}

TEST_F(Reductions, CountAsManyTokensAsTheyMerge) {
  EXPECT_EQ(run("gradual:blocks=1-3:count=2", {"token_counts"})[0], (std::vector<double>{24, 22, 20, 18}));
  EXPECT_EQ(run("tome:count=4", {"token_counts"})[0], (std::vector<double>{24, 20, 16, 12, 8, 4}));
  EXPECT_EQ(run("tome:count=100", {"token_counts"})[0], (std::vector<double>{24, 12, 6, 3, 2, 1}));
  EXPECT_EQ(run("algm:threshold=-1", {"token_counts"})[0][1], 6);
  EXPECT_EQ(run("none", {"token_counts"})[0], std::vector<double>{24});
}

TEST_F(Reductions, InABatchEachImageMergesOnItsOwn) {
  std::vector<float> values(4 * 3 * 16 * 24);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * i * 31) % 97) / 40 * static_cast<float>(i / (3 * 16 * 24));
  for (const std::string spec : {"gradual:similarity=0.7", "tome:count=3", "algm:threshold=0.5"}) {
    SCOPED_TRACE(spec);
    options.reduce = parseReduction(spec);
    auto [net, info] = readNet(path, reading(options));
    const auto counts = [&, &of = net](int first, int images) {
      const cv::Mat batch({images, 3, 16, 24}, CV_32F,
                          values.data() + static_cast<std::ptrdiff_t>(first) * 3 * 16 * 24);
      of.setInput(batch);
      return of.forward("token_counts").clone();
    };
    const cv::Mat together = counts(0, 4);
    for (int b = 0; b < 4; ++b) {
      const cv::Mat alone = counts(b, 1), row = together.row(b);
      EXPECT_EQ(cv::norm(row, alone, cv::NORM_INF), 0) << b;
    }
  }
}

TEST_F(Reductions, NeedTheBlocksAndTheGridThatTheyName) {
  EXPECT_MPM_ERROR(convert("gradual:blocks=3-5"),
                   "reduction 'gradual:blocks=3-5': block 5 does not exist, the model has 5 blocks (0 to 4)");
  options.input_size = Size2{12, 24};
  EXPECT_MPM_ERROR(convert("algm"), "'algm' merges windows of 2x2 patches, but the grid is 3x6");
  EXPECT_NO_THROW(convert("tome"));
}

class ReductionsOfASegmenter : public Reductions {
 protected:
  ReductionsOfASegmenter() : Reductions(HeadStyle::kMask) {}
};

TEST_F(ReductionsOfASegmenter, AreInspectedWhereTheyMerge) {
  EstimatorOptions wanted{.input_size = options.input_size, .inspect = true};
  for (const std::string spec :
       {"gradual:blocks=1,2:count=3", "tome:blocks=1,2:count=3", "algm:blocks=1,2:threshold=-1"}) {
    SCOPED_TRACE(spec);
    wanted.reduce = parseReduction(spec);
    const Estimate result = Estimator(path, wanted).estimate(noisePicture(16, 24));
    ASSERT_EQ(result.pair_similarity.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
      std::map<int, std::set<int>> members;  // by cluster: clusters before the step
      for (int i = 0; i < 24; ++i)
        members[result.cluster_of_token[k][i]].insert(k == 0 ? i : result.cluster_of_token[0][i]);
      for (int i = 0; i < 24; ++i) {
        const bool merged = members[result.cluster_of_token[k][i]].size() > 1;
        EXPECT_EQ(std::isnan(result.pair_similarity[k][i]), !merged) << k << ", " << i;
        if (merged) {
          EXPECT_LE(std::abs(result.pair_similarity[k][i]), 1.0001f);
        }
      }
    }
  }
}

}  // namespace
}  // namespace mpm::test
