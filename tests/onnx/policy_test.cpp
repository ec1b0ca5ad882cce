// SPDX-License-Identifier: Apache-2.0
// Content-aware token sharing: what is refused, and what a file holds. Its numbers: tests/worlds/graphs.
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/pictures.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

using Values = std::vector<double>;

constexpr int kWindow = 2 * TinyVit::kPatch;  // px

/// The weights of a policy that is one convolution.
Values kernel() {
  Values weights;
  for (int i = 0; i < 3 * kWindow * kWindow; ++i) weights.push_back((i * 37 % 23 - 11) / 64.0);
  return weights;
}

class Cts : public InFolder {
 protected:
  const std::string path = folder_ / "model.onnx", policy = folder_ / "policy.onnx",
                    converted = folder_ / "converted.onnx";
  ConvertOptions options{.input_size = Size2{16, 24}, .scores = true};  // 2x3 windows

  void SetUp() override {
    TinyVit({.head = HeadStyle::kMask}).save(path);
    savePolicy();
  }

  /// A policy that is the convolution, then `more`.
  void savePolicy(const std::function<std::string(GraphBuilder&, const std::string&)>& more = {},
                  const std::vector<long>& input = {0, 3, 0, 0}) const {
    GraphBuilder graph(17);
    graph.input("picture", input);
    const std::vector<long> stride = {kWindow, kWindow};
    std::string scores = graph.node("Conv", {"picture", graph.weights("kernel", {1, 3, kWindow, kWindow}, kernel())},
                                    {{"strides", stride}});
    if (more) scores = more(graph, scores);
    graph.output(scores);
    graph.save(policy);
  }
  Reduction share(const std::string& share) const { return parseReduction("cts:policy=" + policy + ":share=" + share); }
  std::vector<Values> run(const std::string& share_text, const Values& images,
                          const std::vector<std::string>& outputs = {"scores", "token_counts", "merge_map"}) {
    options.reduce = share(share_text);
    return runModel(path, options, images, outputs);
  }
};

TEST_F(Cts, RefusesScoresThatAreNoNumbers) {
  savePolicy([](GraphBuilder& graph, const std::string& x) {
    return graph.node("Sqrt", {graph.node("Neg", {graph.node("Abs", {x})})});
  });
  EXPECT_CV_ERROR(run("0.3", TinyVit::image(5, 16, 24)),
                  "the policy network gives image 0 a NaN or an infinity as a score");
}

TEST_F(Cts, SaysWhatDoesNotFitInOneLineThatNamesThePolicy) {
  const auto expectRefused = [&](const std::string& part) {
    options.reduce = share("0.3");
    EXPECT_MPM_ERROR(convertModel(path, options), part);
  };
  const std::string named = "policy '" + policy + "': ";
  savePolicy({}, {1, 3, 32, 24});
  expectRefused(named + "its input 'picture' has another size than that of the model, 1x3x16x24");
  savePolicy([](GraphBuilder& graph, const std::string& x) {
    return graph.node("MaxPool", {x}, {{"kernel_shape", std::vector<long>{2, 2}}});
  });
  expectRefused(named + "its output 'MaxPool_1' is 1x1x1x2 for an image 1x3x16x24, expected 1x1x2x3");
  savePolicy([](GraphBuilder& graph, const std::string& x) {
    graph.output(x);
    return graph.node("Sigmoid", {x});
  });
  expectRefused(named + "found 2 outputs");
  savePolicy([](GraphBuilder& graph, const std::string& x) { return graph.node("Foo", {x}); });
  expectRefused(named);
  savePolicy([](GraphBuilder& graph, const std::string&) { return graph.weights("fixed", {1, 1, 2, 3}, Values(6)); });
  expectRefused(named);
  std::ofstream(policy) << "text";
  expectRefused(named + "not an ONNX model");
  fs::remove(policy);
  expectRefused(named + "no such file");
  savePolicy();
  options.input_size = Size2{12, 24};
  expectRefused("merges windows of 2x2 patches, but the grid is 3x6");
}

TEST_F(Cts, IsAPartOfTheConvertedFile) {
  const Values image = TinyVit::image(5, 16, 24);
  const auto expected = run("0.5", image);
  EXPECT_MPM_ERROR(convertFile(path, policy, options), "is the model that is converted, or a part of it");
  convertFile(path, converted, options);
  fs::remove(policy);
  const ModelInfo info = readModelInfo(converted);
  EXPECT_EQ(info.reduction, share("0.5"));
  EXPECT_EQ(info.schedule(), Schedule{0});
  EXPECT_NO_THROW(readModelInfo(converted, {.reduce = share("0.5")}));
  EXPECT_MPM_ERROR(readModelInfo(converted, {.reduce = share("0.4")}), "cannot be given reduction");
  auto ours = readNet(converted);
  cv::dnn::Net plain = cv::dnn::readNetFromONNX(converted);
  for (cv::dnn::Net* net : {&ours.net, &plain})
    EXPECT_EQ(runNet(*net, image, {1, 3, 16, 24}, {"scores", "token_counts", "merge_map"}), expected);
}

TEST_F(Cts, ScoresInFp32AtAnyPrecision) {
  savePolicy([](GraphBuilder& graph, const std::string& x) {
    return graph.node("MatMul", {x, graph.weights("mix", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 10})});
  });
  options.reduce = share("0.5");
  options.precision = Precision::kBf16;
  onnx::ModelProto model = convertedModel(path, options);
  int linear = 0;
  for (const auto& node : model.graph().node()) {
    if (node.op_type() != "TokenLinear") continue;
    const bool of_policy = node.name().find("/policy") != std::string::npos;
    linear += of_policy;
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() != "precision") continue;
      EXPECT_EQ(attribute.s(), of_policy ? "fp32" : "bf16") << node.name();
    }
  }
  EXPECT_EQ(linear, 1);
}

TEST_F(Cts, OfAFileHasTheInputsThatItNeeds) {
  options.reduce = share("0.5");
  onnx::ModelProto model = convertedModel(path, options);
  nodeOf(model, "MergeTokens").mutable_input()->SwapElements(2, 3);
  saveModel(model, converted);
  const auto read_and_run = [&] {  // which of the two says it depends on OpenCV
    runModel(converted, {}, TinyVit::image(5, 16, 24), {"scores"});
  };
  EXPECT_THAT(read_and_run, testing::ThrowsMessage<std::exception>(
                                HasSubstr("expects scores {1, 1, 2, 3} and rows {1, 6, 24} of its windows")));
}

TEST_F(Cts, IsInspectedLikeOtherMethods) {
  options.scores = false;
  options.reduce = share("0.5");
  const Estimate result = Estimator(path, {.reduce = options.reduce, .input_size = options.input_size, .inspect = true})
                              .estimate(noisePicture(16, 24));
  EXPECT_EQ(result.tokens, (Values{24, 15}));
  ASSERT_EQ(result.pair_similarity.size(), 1u);
  EXPECT_EQ(std::count_if(result.pair_similarity[0].begin(), result.pair_similarity[0].end(),
                          [](float similarity) { return std::isfinite(similarity); }),
            12);
}

TEST_F(Cts, OfTheJsonIsRelativeToTheModel) {
  std::ofstream(folder_ / "model.json") << R"({"reduce": "cts:policy=policy.onnx:share=0.5"})";
  const ModelInfo info = readModelInfo(path, {.input_size = Size2{16, 24}});
  EXPECT_EQ(info.reduction, share("0.5"));
}

TEST_F(Cts, TakesOneImageWithAPolicyThatMixesThem) {
  savePolicy([](GraphBuilder& graph, const std::string& x) { return graph.node("Softmax", {x}, {{"axis", 0L}}); });
  const Values image = TinyVit::image(5, 16, 24);
  EXPECT_NO_THROW(run("0.5", image));
  Values two = image;
  two.insert(two.end(), image.begin(), image.end());
  EXPECT_THROW(run("0.5", two), cv::Exception);
}

}  // namespace
}  // namespace mpm::test
