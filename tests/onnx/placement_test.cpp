// SPDX-License-Identifier: Apache-2.0
#include "net/graph_marks.h"

#include <algorithm>
#include <map>

#include "mpm/build_info.hpp"
#include "mpm/mpm.hpp"
#include "onnx/model/graph_proto.h"
#include "support/data_path.h"
#include "support/onnx_file.h"
#include "support/throws_with.h"

namespace mpm::onnx_graph {
namespace {

using test::convertedModel, test::dataPath;

/// The attributes of a node: device inputs, device outputs, host outputs, with a blank between.
std::string marks(const onnx::NodeProto& node) {
  std::map<std::string, std::string> texts;
  for (const auto& attribute : node.attribute()) texts[attribute.name()] = attribute.s();
  return texts["device_inputs"] + " " + texts["device_outputs"] + " " + texts["host_outputs"];
}

std::map<std::string, std::string> placed(const std::string& file, const Schedule& schedule) {
  onnx::ModelProto model = convertedModel(dataPath(file), {.reduce = mpmBefore(schedule)});
  placeOnDevice(model);
  std::map<std::string, std::string> result;
  for (const onnx::NodeProto& node : model.graph().node()) {
    EXPECT_EQ(findAttribute(node, "device") != nullptr, isOurs(node)) << node.name();
    if (!isOurs(node)) continue;
    result[node.name()] = marks(node);
  }
  return result;
}

TEST(Placement, TheImageComesFromTheHostAndTheOutputsGoThere) {
  const auto nodes = placed("segmenter_mask_ts17.onnx", {1});
  EXPECT_EQ(nodes.at("backbone/patch_embed"), "3 11 00");
  EXPECT_EQ(nodes.at("backbone/block0"), "21 1 0") << "its tokens have no other reader, its state has";
  EXPECT_EQ(nodes.at("merge/before_block1"), "21 11 00");
  EXPECT_EQ(nodes.at("restore/scores"), "21 1 0") << "labels are made of them on the device";
  EXPECT_EQ(nodes.at("labels"), "2 0 1");
  EXPECT_EQ(nodes.at("merge_map"), "11 00 11");
}

// What int8 rounds changes the classes of few pixels, and every depth.
TEST(Placement, ConvolutionsOfDepthAreBesideInt8) {
  for (const auto& [name, precision, beside] : {std::tuple("hf_depth_anything_dynamo18.onnx", Precision::kInt8, true),
                                                {"hf_depth_anything_dynamo18.onnx", Precision::kBf16, false},
                                                {"hf_dpt_seg_dynamo18.onnx", Precision::kInt8, false}}) {
    const onnx::ModelProto model = convertedModel(dataPath(name), {.reduce = kFullModel, .precision = precision});
    int convolutions = 0;
    for (const onnx::NodeProto& node : model.graph().node()) {
      if (node.op_type() != "HeadConvolve") continue;
      ++convolutions;
      EXPECT_EQ(findAttribute(node, "beside_int8") != nullptr, beside) << name << ", " << node.name();
    }
    EXPECT_GT(convolutions, 0);
  }
}

// Before opset 13 Softmax took all axes from its axis on, so only the last axis has one meaning.
TEST(Placement, StockNodesOfAHeadBecomeOurs) {
  for (const int opset : {17, 12}) {
    onnx::ModelProto model = convertedModel(dataPath("hf_rf_detr_dynamo18.onnx"));
    for (auto& import : *model.mutable_opset_import())
      if (import.domain().empty()) import.set_version(opset);
    const auto counted = [&](const std::string& op) {
      const auto& nodes = model.graph().node();
      return std::count_if(nodes.begin(), nodes.end(), [&](const auto& node) { return node.op_type() == op; });
    };
    const auto softmaxes = counted("Softmax"), exps = counted("Exp");
    ASSERT_GT(softmaxes, 0);
    ASSERT_GT(exps, 0);
    placeOnDevice(model);
    EXPECT_EQ(counted("HeadSoftmax"), opset >= 13 ? softmaxes : 0) << opset;
    EXPECT_EQ(counted("Softmax"), opset >= 13 ? 0 : softmaxes) << opset;
    EXPECT_EQ(counted("Exp"), 0);
  }
}

TEST(Placement, FunctionsOfOneElementBecomeOurs) {
  onnx::ModelProto model = convertedModel(dataPath("segmenter_mask_ts17.onnx"), {.reduce = mpmBefore({1})});
  const std::string read = model.graph().output(0).name();
  const std::vector<std::string> functions = {"Abs", "Exp", "Neg", "Sigmoid", "Sqrt", "Tanh", "Elu"};
  for (const std::string& function : functions) {
    onnx::NodeProto& node = *model.mutable_graph()->add_node();
    node.set_op_type(function);
    node.add_input(read);
    node.add_output(function);
  }
  placeOnDevice(model);
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (node.output_size() == 0 || std::ranges::find(functions, node.output(0)) == functions.end()) continue;
    const bool ours = node.output(0) != "Elu";
    EXPECT_EQ(node.op_type(), ours ? "HeadElementwise" : "Elu");
    EXPECT_EQ(isOurs(node), ours);
    EXPECT_EQ(attributeOf(node, "function").s(), ours ? node.output(0) : "");
  }
}

TEST(Placement, AnImageThatOthersReadTooIsNotPatchEmbedsAlone) {
  onnx::ModelProto model = convertedModel(dataPath("segmenter_mask_ts17.onnx"), {.reduce = mpmBefore({1})});
  onnx::NodeProto& copy = *model.mutable_graph()->add_node();
  copy.set_op_type("Identity");
  copy.add_input(model.graph().input(0).name());
  copy.add_output("image again");
  model.mutable_graph()->add_output()->set_name("image again");
  placeOnDevice(model);
  std::map<std::string, std::string> nodes;
  for (const onnx::NodeProto& node : model.graph().node()) nodes[node.name()] = marks(node);
  EXPECT_EQ(nodes.at("backbone/patch_embed"), "0 11 00");
}

/// Values that ops of ours on the device take from the host, and give to it, but for the image and the merge map.
std::pair<int, int> crossings(const std::string& file) {
  std::pair<int, int> up_and_down;
  for (const auto& [name, text] : placed(file, {1})) {
    if (name == "merge_map" || name == "backbone/patch_embed") continue;
    up_and_down.first += text.front() == '0' || text.front() == '3' ? 1 : 0;
    up_and_down.second += text.back() == '1' ? 1 : 0;
  }
  return up_and_down;
}

TEST(Placement, AHeadOfOurOpsStaysOnTheDevice) {
  EXPECT_EQ(crossings("dpt_ts16.onnx"), std::pair(0, 1)) << "reshapes between convolutions are ours there";
}

TEST(Placement, StockLayersAreOnTheHost) {
  const auto [up, down] = crossings("vit_adapter_no_shapes_dynamo18.onnx");  // it has norms of batches
  EXPECT_GT(up, 2);
  EXPECT_GT(down, 2);
}

TEST(Placement, DevicesAreWords) {
  for (const char* word : {"cpu", "auto", "cuda", "cuda:0", "cuda:12"}) {
    EXPECT_NO_THROW(ReadOptions{.device = word}.validate()) << word;
  }
  for (const char* word : {"", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999", "cuda 1"}) {
    const ReadOptions options{.device = word};
    EXPECT_MPM_ERROR(options.validate(), "expected cpu, cuda, cuda:1 (a GPU by its index) or auto");
    EXPECT_MPM_ERROR(readNet(dataPath("segmenter_mask_ts17.onnx"), options), std::string("device '") + word + "'");
  }
}

TEST(Placement, WithoutAGpuAutoIsTheCpuAndCudaIsRefused) {
  const BuildInfo build = buildInfo();
  if (!build.cuda_devices.empty()) GTEST_SKIP() << "there is a CUDA device here";
  ReadOptions options;
  options.reduce = mpmBefore({1});
  options.device = "auto";
  EXPECT_NO_THROW(readNet(dataPath("segmenter_mask_ts17.onnx"), options));
  for (const char* word : {"cuda", "cuda:1"}) {
    options.device = word;
    EXPECT_MPM_ERROR(readNet(dataPath("segmenter_mask_ts17.onnx"), options),
                     std::string("device '") + word + "': " + build.cuda_problem);
  }
}

}  // namespace
}  // namespace mpm::onnx_graph
