// SPDX-License-Identifier: Apache-2.0
// Every method of reduction through the converter: what is refused, and that a file says it. Its numbers:
// tests/worlds/graphs.

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
};

TEST(ParallelBlocks, HaveNoPlaceForMergesInsideAndNoWindows) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  TinyVit({.parallel = true}).save(path);
  EXPECT_MPM_ERROR(readNet(path, {.reduce = parseReduction("tome:blocks=0:count=2")}),
                   "its blocks compute attention and MLP side by side");
  TinyVit({.special = 0, .parallel = true, .windowed = true}).save(path);
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

TEST_F(Reductions, NeedTheBlocksAndTheGridThatTheyName) {
  EXPECT_MPM_ERROR(convert("gradual:blocks=3-5"),
                   "reduction 'gradual:blocks=3-5': block 5 does not exist, the model has 5 blocks (0 to 4)");
  const std::string small = path + "-of-two-blocks.onnx";
  TinyVit({.blocks = 2}).save(small);
  EXPECT_MPM_ERROR(readModelInfo(small, {.reduce = Reduction{.method = ReductionMethod::kRule}}),
                   "the model has 2 blocks: name those where the rule merges");
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
