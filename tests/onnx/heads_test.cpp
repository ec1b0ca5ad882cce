// SPDX-License-Identifier: Apache-2.0
// Which operators a head becomes. What they compute: tests/worlds/graphs.
#include <map>

#include "onnx/graph_builder.h"
#include "onnx/run_net.h"
#include "support/data_path.h"
#include "support/onnx_file.h"
#include "support/temporary_folder.h"

namespace mpm::test {
namespace {

/// ReLU, sums, a BatchNormalization and a 1x1 convolution behind a Resize become parts of the convolutions around them.
TEST(Heads, ConvolutionsTakeInWhatStandsAroundThem) {
  GraphBuilder g(modelAt(dataPath("hf_deit_dynamo20.onnx")));
  const auto weights = [&](const std::vector<long>& sides) {
    std::size_t count = 1;
    for (const long side : sides) count *= static_cast<std::size_t>(side);
    const std::string name = "w" + std::to_string(g.model().graph().initializer_size());
    return g.weights(name, sides, std::vector<double>(count, 0.5));
  };
  const std::vector<GraphBuilder::Attribute> padded{{"pads", std::vector<long>{1, 1, 1, 1}}};
  const std::string rows = g.slice(g.model().graph().output(0).name(), 1, 2, 26);
  const std::string map = g.reshape(g.transpose(rows, {0, 2, 1}), {1, 16, 4, 6});
  const std::string stem = g.node("Conv", {map, weights({6, 16, 3, 3}), weights({6})}, padded);
  std::string y = g.node("Add", {stem, g.node("Conv", {g.node("Relu", {stem}), weights({6, 6, 3, 3})}, padded)});
  y = g.node("ConvTranspose", {y, weights({6, 5, 2, 2}), weights({5})}, {{"strides", std::vector<long>{2, 2}}});
  y = g.node("BatchNormalization", {y, weights({5}), weights({5}), weights({5}), weights({5})});
  const std::string twice = g.weights("twice", {4}, {1, 1, 2, 2});
  y = g.node("Resize", {g.node("Relu", {y}), "", twice}, {{"mode", std::string("linear")}});
  g.result(g.node("Conv", {y, weights({2, 5, 1, 1})}));
  const TemporaryFolder folder;
  g.save(folder / "model.onnx");
  const onnx::ModelProto model = convertedModel(folder / "model.onnx");
  std::map<std::string, int> ops;
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (!node.name().starts_with("backbone/")) ++ops[node.op_type()];
  }
  EXPECT_EQ(ops["HeadConvolve"], 4);
  EXPECT_EQ(ops["HeadWindow"], 2) << "of the Resize";
  for (const char* const op : {"Relu", "HeadActivate", "Add", "BatchNormalization", "Resize"})
    EXPECT_EQ(ops[op], 0) << op;
}

/// The rows of a map, its columns, and the layout by class of what the net returns.
TEST(Heads, AResizeIsOneLayerWithTheTransposeBehindIt) {
  cv::dnn::Net net = readNet(dataPath("hf_dpt_seg_dynamo18.onnx"), {.reduce = kFullModel}).net;
  std::map<std::string, int> layers;
  for (const cv::String& name : net.getLayerNames()) {
    const std::string type = net.getLayer(net.getLayerId(name))->type;
    ++layers[type.substr(type.rfind('.') + 1)];
  }
  EXPECT_EQ(layers["HeadResize"], 5);
  EXPECT_EQ(layers["HeadTranspose"], 0);
}

/// Only the first of two equal Transposes is part of the Resize before them.
TEST(Heads, ASecondTransposeBehindAResizeStays) {
  GraphBuilder g(modelAt(dataPath("hf_deit_dynamo20.onnx")));
  const std::string rows = g.slice(g.model().graph().output(0).name(), 1, 2, 26);
  const std::string map = g.transpose(g.reshape(rows, {1, 4, 6, 16}), {0, 3, 1, 2});
  const std::string twice = g.weights("twice", {4}, {1, 1, 2, 2});
  const std::string large = g.node("Resize", {map, "", twice}, {{"mode", std::string("linear")}});
  g.result(g.transpose(large, {0, 3, 1, 2}));
  const TemporaryFolder folder;
  g.save(folder / "model.onnx");
  LoadedNet loaded = readNet(folder / "model.onnx", {.reduce = kFullModel});
  loaded.net.setInput(cv::Mat(std::vector<int>{1, 3, loaded.info.input.height, loaded.info.input.width}, CV_32F, 0.5));
  const cv::Mat result = loaded.net.forward(loaded.info.outputs[0]);
  EXPECT_EQ(std::vector<int>(result.size.p, result.size.p + result.dims), (std::vector<int>{1, 12, 16, 8}));
}

/// EoMT moves the channels of a map to the end for each norm, and back. Its masks are an Einsum of a map.
TEST(Heads, NormsAndProductsTakeMapsAsConvolutionsLeaveThem) {
  const onnx::ModelProto model = convertedModel(dataPath("hf_eomt_ts17.onnx"));
  for (const onnx::NodeProto& node : model.graph().node())
    EXPECT_TRUE(node.op_type() != "Transpose" || !node.name().starts_with("head/")) << node.name();
}

}  // namespace
}  // namespace mpm::test
