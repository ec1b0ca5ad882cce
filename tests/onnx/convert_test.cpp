// SPDX-License-Identifier: Apache-2.0
// What a converted file looks like, how it is written, and other input sizes.

#include "base/atomic_file.h"
#include "onnx/model/model_info_json.h"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/data_path.h"
#include "support/file_size_limit.h"
#include "support/in_folder.h"
#include "support/reading.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

class Convert : public InFolder {
 protected:
  std::string path = folder_ / "model.onnx";
  Dialect dialect;
  ConvertOptions options;

  Convert() {
    dialect.head = HeadStyle::kMask;
    options.reduce = mpmBefore({1, 2});
  }
};

TEST_F(Convert, NamesAndMetadata) {
  TinyVit(dialect).save(path);
  std::ofstream(folder_ / "model.json")
      << R"({"name": "tiny", "mean": [0.1, 0.2, 0.3], "std": [0.4, 0.5, 0.6], "input": {"channels": "BGR"}, "ignore": 9})";
  const auto [bytes, info] = convertModel(path, options);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes));
  std::vector<std::string> names;
  for (const auto& node : model.graph().node()) {
    EXPECT_EQ(node.name(), node.output(0));
    EXPECT_EQ(node.domain(), "ai.mpm");
    names.push_back(node.name());
  }
  EXPECT_THAT(names, ElementsAre("backbone/patch_embed", "backbone/block0", "merge/before_block1", "backbone/block1",
                                 "merge/before_block2", "backbone/block2", "backbone/norm", StartsWith("head/"),
                                 "head/class_tokens", "head/block0", "head/block1", "head/norm", "head/mask_scores",
                                 "restore/scores", "labels", "merge_map"));
  std::vector<std::string> outputs;
  for (const auto& output : model.graph().output()) outputs.push_back(output.name());
  EXPECT_THAT(outputs, ElementsAre("labels", "merge_map", "token_counts"));
  std::map<std::string, std::string> metadata;
  for (const auto& entry : model.metadata_props()) metadata[entry.key()] = entry.value();
  EXPECT_EQ(metadata["mpm.format"], "1");
  const ModelInfo read = onnx_graph::fromJson(metadata["mpm.info"]);
  EXPECT_EQ(onnx_graph::toJson(read), onnx_graph::toJson(info));
  EXPECT_EQ(read.facts.name, "tiny");
  EXPECT_EQ(read.facts.channels, ChannelOrder::kBgr);
  EXPECT_EQ(read.facts.ignore, 9);
  EXPECT_EQ(read.facts.mean, (std::array<float, 3>{0.1f, 0.2f, 0.3f}));
  EXPECT_EQ(read.schedule(), (Schedule{1, 2}));
  EXPECT_EQ(read.head, HeadKind::kMaskTransformer);
  EXPECT_EQ(read.classes, TinyVit::kClasses);
}

TEST_F(Convert, DefaultScheduleIsThatOfThePaper) {
  options.reduce.reset();
  for (const auto& [blocks, schedule] : {std::pair(2, Schedule{}), {3, {2}}, {5, {2}}, {6, {2, 5}}, {7, {2, 5}}}) {
    dialect.blocks = blocks;
    TinyVit(dialect).save(path);
    EXPECT_EQ(readModelInfo(path, options).schedule(), schedule) << blocks;
    EXPECT_EQ(convertFile(path, folder_ / "converted.onnx", options).schedule(), schedule) << blocks;
  }
}

TEST_F(Convert, MeanAndStdAreOfTheOptionsTheJsonOrAssumed) {
  TinyVit(dialect).save(path);
  EXPECT_TRUE(readModelInfo(path).facts.assumed);
  const std::string converted = folder_ / "converted.onnx";
  convertFile(path, converted);
  EXPECT_TRUE(readModelInfo(converted).facts.assumed) << "the file does not say it";
  options.mean = {0.1f, 0.2f, 0.3f};
  EXPECT_MPM_ERROR(convertFile(path, converted, options), "mean and std are given together");
  options.deviation = {0.4f, 0, 0.6f};
  EXPECT_MPM_ERROR(convertFile(path, converted, options), "std is positive");
  options.deviation = {0.4f, 0.5f, 0.6f};
  convertFile(path, converted, options);
  EXPECT_EQ(readModelInfo(converted).facts.mean, *options.mean);
  EXPECT_EQ(readModelInfo(converted).facts.deviation, *options.deviation);
  EXPECT_FALSE(readModelInfo(converted).facts.assumed);
  EXPECT_NO_THROW(readModelInfo(converted, options));
  options.mean = {0.1f, 0.2f, 0.4f};
  EXPECT_MPM_ERROR(readModelInfo(converted, options), "cannot be given others");
  options.mean.reset();
  options.deviation.reset();
  std::ofstream(folder_ / "model.json") << R"({"name": "tiny"})";
  EXPECT_TRUE(readModelInfo(path, options).facts.assumed);
  std::ofstream(folder_ / "model.json") << R"({"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]})";
  EXPECT_FALSE(readModelInfo(path, options).facts.assumed);
}

TEST_F(Convert, ConvertedFilePassesThroughUnchanged) {
  TinyVit(dialect).save(path);
  convertFile(path, folder_ / "once.onnx", options);
  convertFile(folder_ / "once.onnx", folder_ / "twice.onnx");
  EXPECT_EQ(readFile(folder_ / "once.onnx"), readFile(folder_ / "twice.onnx"));
  EXPECT_EQ(readFile(folder_ / "once.onnx"), convertModel(path, options).bytes) << "two conversions differ";
}

TEST_F(Convert, FullDiskLeavesNothingBehind) {
  TinyVit(dialect).save(path);
  {
    const FileSizeLimit full(4096);
    EXPECT_MPM_ERROR(convertFile(path, folder_ / "out.onnx", options), "cannot write '" + (folder_ / "out.onnx") + "'");
  }
  EXPECT_THAT(filesIn(folder_.path()), ElementsAre("model.onnx"));
  EXPECT_MPM_ERROR(convertFile(path, folder_ / "no/such/folder.onnx", options), "cannot write");
}

/// Positions of one grid in a graph whose input size is symbolic: read at that grid, then resized.
TEST_F(Convert, OtherInputSizeOfASymbolicGraph) {
  dialect.symbolic = true;
  dialect.head = HeadStyle::kLinear;
  dialect.resize_in_graph = false;
  TinyVit(dialect).save(path);
  dialect.symbolic = false;
  TinyVit(dialect).save(folder_ / "fixed.onnx");
  std::ofstream(folder_ / "model.json") << R"({"input": {"height": 12, "width": 20}})";
  options.reduce = kFullModel;
  EXPECT_EQ(readModelInfo(path, options).input, (Size2{12, 20}));
  options.input_size = Size2{16, 24};
  const auto image = TinyVit::image(4, 16, 24);
  EXPECT_EQ(runModel(path, options, image), runModel(folder_ / "fixed.onnx", options, image));
}

/// More elements than folding may hold at once pass through a chain of nodes.
TEST_F(Convert, IntermediateConstantsAreForgotten) {
  GraphBuilder g = TinyVit(Dialect{}).graph();
  std::string x = g.node("ConstantOfShape", {g.ints({2048, 1024})});
  for (int i = 0; i < 20; ++i) x = g.transpose(x, {1, 0});
  const std::string one = g.node("ReduceMean", {x}, {{"keepdims", 0L}});
  g.result(g.node("Add", {"features", one}));
  g.save(path);
  EXPECT_NO_THROW(convertModel(path, {}));
}

/// The same DINOv3 twice: the table of one is computed in the graph, that of the other is a constant.
TEST_F(Convert, RotaryPositionsOfAnotherInputSize) {
  options.reduce = mpmBefore({1});
  options.input_size = Size2{56, 72};
  const auto image = TinyVit::image(4, 56, 72);
  const auto run = [&](const char* file) { return runModel(dataPath(file), options, image, {"last_hidden_state"})[0]; };
  EXPECT_LT(difference(run("hf_dinov3_dynamo18.onnx"), run("hf_dinov3_ts17.onnx")), 1e-4);
  options.input_size = Size2{48, 64};
  EXPECT_MPM_ERROR(convertModel(dataPath("timm_eva02_ts17.onnx"), options),
                   "rotary positions are constants for 32x48 px: export the model for 48x64 px (height x width)");
}

TEST_F(Convert, MergedPositionsStayInTheFile) {
  const std::string rotary = dataPath("timm_dinov3_ts17.onnx"), converted = folder_ / "converted.onnx";
  options.reduce = parseReduction("mpm:blocks=1:positions=centroid");
  EXPECT_MPM_ERROR(convertModel(dataPath("timm_vit_ts17.onnx"), options), "positions=centroid is for rotary positions");
  convertFile(rotary, converted, options);
  EXPECT_EQ(readModelInfo(converted, options).reduction, *options.reduce);
  options.reduce->positions = MergedPositions::kFirst;
  EXPECT_MPM_ERROR(readModelInfo(converted, options), "was converted with reduction mpm:blocks=1:positions=centroid");
}

/// Local functions are put in place. Since ONNX 1.13 one may say what an attribute is that a call leaves out.
TEST_F(Convert, LocalFunctionsHaveDefaults) {
  dialect.head = HeadStyle::kFeatures;
  options.reduce = kFullModel;
  const auto featuresOf = [&](GraphBuilder& builder) {
    builder.save(path);
    return runModel(path, options, TinyVit::image(4))[0];
  };
  // All norms but the second have the default.
  const auto changed = [&](bool called) {
    GraphBuilder builder = TinyVit(dialect).graph();
    int norms = 0;
    for (auto& node : *builder.model().mutable_graph()->mutable_node()) {
      if (node.op_type() != "LayerNormalization") continue;
      const bool given = ++norms == 2;
      node.clear_attribute();
      if (called) node.set_op_type("Norm");
      if (called) node.set_domain("test");
      if (given || !called)
        *node.add_attribute() = GraphBuilder::attribute({called ? "eps" : "epsilon", given ? 0.75 : 0.25});
    }
    return builder;
  };
  GraphBuilder written = changed(false), builder = changed(true);
  onnx::FunctionProto& function = addFunction(builder.model(), "Norm", {callOf("LayerNormalization", "x", "y", "")});
  onnx::NodeProto& body = *function.mutable_node(0);
  for (const char* input : {"w", "b"}) {
    function.add_input(input);
    body.add_input(input);
  }
  onnx::AttributeProto& reference = *body.add_attribute() = GraphBuilder::attribute({"epsilon", 0.0});
  reference.clear_f();
  reference.set_ref_attr_name("eps");
  // Field 11, attribute_proto, by its bytes: the headers of ONNX 1.12 do not have it.
  const std::string bytes = GraphBuilder::attribute({"eps", 0.25}).SerializeAsString();
  ASSERT_TRUE(function.MergeFromString(std::string{11 << 3 | 2, static_cast<char>(bytes.size())} + bytes));
  EXPECT_LT(difference(featuresOf(builder), featuresOf(written)), 1e-6);
}

/// The graph takes pixels as they are, so the programs give it 0 to 255 unless its JSON says otherwise.
TEST_F(Convert, AnImageOfBytesIsNotNormalisedBeforeTheGraph) {
  dialect.bytes = true;
  TinyVit(dialect).save(path);
  const ModelFacts facts = readModelInfo(path).facts;
  EXPECT_EQ(facts.mean, (std::array{0.0f, 0.0f, 0.0f}));
  EXPECT_EQ(facts.deviation, (std::array{1.0f / 255, 1.0f / 255, 1.0f / 255}));
  EXPECT_FALSE(facts.assumed);
  std::ofstream(folder_ / "model.json") << R"({"mean": [0.1, 0.2, 0.3], "std": [1, 1, 1]})";
  EXPECT_EQ(readModelInfo(path).facts.mean, (std::array{0.1f, 0.2f, 0.3f}));
}

/// As the fp16 converter of ONNX Runtime leaves a graph.
TEST_F(Convert, CastsMayStandBehindTheirReaders) {
  GraphBuilder g = TinyVit(Dialect{}).graph();
  g.save(path);
  const auto image = TinyVit::image(3);
  const auto expected = runModel(path, {.reduce = kFullModel}, image)[0];
  auto& nodes = *g.model().mutable_graph()->mutable_node();
  const std::string tokens = nodes[nodes.size() / 2].output(0);
  for (onnx::NodeProto& node : nodes)
    for (std::string& input : *node.mutable_input()) input = input == tokens ? "whole" : input;
  g.node("Cast", {g.node("Cast", {tokens}, {{"to", 10L}})}, {{"to", 1L}}, 1, "whole");
  g.save(path);
  EXPECT_LT(difference(runModel(path, {.reduce = kFullModel}, image)[0], expected), 1e-4);
}

TEST_F(Convert, TheTaskIsThatOfTheHead) {
  const auto taskOf = [](const std::string& model) { return readModelInfo(dataPath(model)).task; };
  EXPECT_EQ(taskOf("segmenter_mask_ts17.onnx"), Task::kSemantic);
  EXPECT_EQ(taskOf("hf_eomt_ts17.onnx"), Task::kSemantic);
  EXPECT_EQ(taskOf("hf_dpt_depth_ts17.onnx"), Task::kDepth);
  EXPECT_EQ(taskOf("hf_vitpose_ts17.onnx"), std::nullopt);
  EXPECT_EQ(taskOf("hf_rf_detr_seg_dynamo18.onnx"), Task::kInstance) << "dets, labels and masks";
  EXPECT_EQ(taskOf("hf_rf_detr_dynamo18.onnx"), std::nullopt) << "logits and boxes, as DETR has them, with a softmax";
  EXPECT_EQ(taskOf("timm_vit_ts17.onnx"), std::nullopt);
  EXPECT_EQ(taskOf("hf_dinov3_dynamo18.onnx"), std::nullopt);
}

TEST_F(Convert, TheJsonNamesATaskThatTheHeadCanDo) {
  const auto withJson = [&](const std::string& model, const std::string& json) {
    fs::copy_file(dataPath(model), path, fs::copy_options::overwrite_existing);
    std::ofstream(folder_ / "model.json") << json;
    return readModelInfo(path).task;
  };
  EXPECT_EQ(withJson("segmenter_mask_ts17.onnx", R"({"task": "semantic"})"), Task::kSemantic);
  EXPECT_MPM_ERROR(withJson("segmenter_mask_ts17.onnx", R"({"task": "depth"})"),
                   "task 'depth', which the head 'mask_transformer' does not do");
  EXPECT_EQ(withJson("hf_eomt_ts17.onnx", R"({"task": "panoptic"})"), Task::kPanoptic);
  EXPECT_MPM_ERROR(withJson("segmenter_mask_ts17.onnx", R"({"task": "instance"})"),
                   "which the head 'mask_transformer'");
  EXPECT_MPM_ERROR(withJson("timm_vit_ts17.onnx", R"({"classes": [{"name": "a", "thing": 1}]})"),
                   "classes[0].thing: found 1, expected true or false");
  EXPECT_EQ(withJson("hf_dpt_seg_dynamo18.onnx", R"({"task": "semantic"})"), Task::kSemantic);
  EXPECT_MPM_ERROR(withJson("hf_dpt_depth_ts17.onnx", R"({"task": "semantic"})"),
                   "'predicted_depth' is not a map with a channel for each class");
  EXPECT_MPM_ERROR(withJson("hf_dpt_depth_ts17.onnx", R"({"task": "panoptic"})"), "which the head 'other'");
  EXPECT_MPM_ERROR(
      withJson("da3_ts17.onnx", R"({"task": "depth"})"),
      "task 'depth', but the graph has 2 outputs ('depth', 'depth_conf'), and the map of this task must be");
  EXPECT_MPM_ERROR(withJson("hf_vitpose_ts17.onnx", R"({"task": "depth"})"), "'heatmaps' is not a map of one channel");
  EXPECT_EQ(withJson("hf_rf_detr_dynamo18.onnx", R"({"task": "boxes"})"), Task::kBoxes);
  EXPECT_EQ(withJson("hf_rf_detr_seg_dynamo18.onnx", R"({"task": "boxes"})"), Task::kBoxes);
  EXPECT_MPM_ERROR(withJson("hf_rf_detr_dynamo18.onnx", R"({"task": "instance"})"),
                   "task 'instance', which the head 'box_queries' does not do");
  EXPECT_MPM_ERROR(withJson("hf_rf_detr_seg_dynamo18.onnx", R"({"task": "panoptic"})"), "which the head 'other'");
  EXPECT_MPM_ERROR(withJson("segmenter_mask_ts17.onnx", R"({"task": "boxes"})"), "which the head 'mask_transformer'");
  EXPECT_MPM_ERROR(
      withJson("timm_vit_ts17.onnx", R"({"task": "sleep"})"),
      (folder_ / "model.json") + "': task: task 'sleep' is not semantic, panoptic, instance, depth or boxes");
  EXPECT_MPM_ERROR(withJson("timm_vit_ts17.onnx", R"({"depth": "feet"})"), "depth 'feet' is not metre, relative or");
}

TEST_F(Convert, TheFactsAreBesideTheModel) {
  EXPECT_EQ(factsFile("models/vit.b.onnx"), "models/vit.b.json");
  EXPECT_EQ(factsFile("a.onnx/vit"), "a.onnx/vit.json");
}

TEST(Options, Schedules) {
  EXPECT_EQ(parseSchedule("2,5"), (Schedule{2, 5}));
  EXPECT_EQ(parseSchedule("none"), Schedule{});
  EXPECT_EQ(toString(Schedule{0, 11}), "0,11");
  EXPECT_EQ(toString(Schedule{}), "none");
  for (const char* text : {"", "2,", ",2", "a", "2,b", "2 5", "-1", "2,2", "5,2", "99999999999"}) {
    EXPECT_MPM_ERROR(parseSchedule(text), "schedule") << text;
  }
}

// A refusal names all words that there are.
TEST(Options, Words) {
  EXPECT_MPM_ERROR(parseOutput("x"), "output 'x' is not labels or logits");
  EXPECT_MPM_ERROR(parseTask("x"), "task 'x' is not semantic, panoptic, instance, depth or boxes");
  EXPECT_MPM_ERROR(parseDepthUnit("x"), "depth 'x' is not metre, relative or inverse");
  EXPECT_MPM_ERROR(
      parseHeadKind("x"),
      "head 'x' is not mask_transformer, linear, classifier, features, other, mask_queries or box_queries");
  EXPECT_MPM_ERROR(parseChannelOrder("rgb"), "channel order 'rgb' is not RGB or BGR");
  EXPECT_MPM_ERROR(parsePrecision("fp8"), "precision 'fp8' is not fp32, bf16, tf32, fp16 or int8");
  EXPECT_MPM_ERROR(parseAttention(""), "attention '' is not plain or proportional");
}

}  // namespace
}  // namespace mpm::test
