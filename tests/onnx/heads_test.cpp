// SPDX-License-Identifier: Apache-2.0
// Operators of heads behind the encoder of a real exporter, against ONNX's reference implementation (tests/data/heads).
#include <map>

#include "onnx/reference_file.h"
#include "onnx/run_net.h"
#include "support/data_path.h"
#include "support/onnx_file.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {

void PrintTo(const Array& array, std::ostream* out) { *out << array.name; }

namespace {

/// Writes the encoder with the head of one case behind it.
void writeHead(const std::string& name, const std::string& path) {
  onnx::ModelProto model = modelAt(dataPath("hf_deit_dynamo20.onnx"));
  const onnx::ModelProto heads = modelAt(dataPath("heads/heads.onnx"));
  onnx::GraphProto& graph = *model.mutable_graph();
  const std::string features = graph.output(0).name();
  const auto named = [&](const std::string& tensor) {
    return tensor.empty() || tensor == name ? tensor : tensor == "features" ? features : "case/" + tensor;
  };
  for (onnx::NodeProto node : heads.graph().node()) {
    for (std::string& tensor : *node.mutable_input()) tensor = named(tensor);
    for (std::string& tensor : *node.mutable_output()) tensor = named(tensor);
    *graph.add_node() = node;
  }
  for (onnx::TensorProto constant : heads.graph().initializer()) {
    constant.set_name(named(constant.name()));
    *graph.add_initializer() = constant;
  }
  graph.mutable_output(0)->set_name(name);
  graph.mutable_output(0)->clear_type();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
}

class HeadOperator : public ::testing::TestWithParam<Array> {};

TEST_P(HeadOperator, ComputesWhatOnnxMeans) {
  const Array& expected = GetParam();
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  writeHead(expected.name, path);
  const Array image = readReference(dataPath("heads/heads.reference.json")).image;
  EXPECT_LT(difference(runModel(path, {.reduce = kFullModel}, image.values)[0], expected.values), 1e-4);

  // In a batch of two, with merging, each image is as alone.
  cv::dnn::Net net = readNet(path, {.reduce = mpmBefore({1})}).net;
  std::vector<double> other = image.values, both = image.values;
  for (double& value : other) value = 0.75 - 0.5 * value;
  both.insert(both.end(), other.begin(), other.end());
  std::vector<int> shape = image.shape;
  shape[0] = 2;
  if (expected.name.starts_with("one_image")) {
    EXPECT_CV_ERROR(runNet(net, both, shape, {expected.name}), "give it one image at a time");
    return;
  }
  const std::vector<double> together = runNet(net, both, shape, {expected.name})[0];
  std::vector<double> alone = runNet(net, image.values, image.shape, {expected.name})[0];
  const std::vector<double> second = runNet(net, other, image.shape, {expected.name})[0];
  alone.insert(alone.end(), second.begin(), second.end());
  EXPECT_LT(difference(together, alone), 1e-5) << "in a batch";
}

/// ReLU, sums, a BatchNormalization and a 1x1 convolution behind a Resize become parts of the convolutions around them.
TEST(HeadOperators, ConvolutionsTakeInWhatStandsAroundThem) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  writeHead("conv_joined", path);
  onnx::ModelProto model = convertedModel(path);
  std::map<std::string, int> ops;
  for (const onnx::NodeProto& node : model.graph().node())
    if (!node.name().starts_with("backbone/")) ++ops[node.op_type()];
  EXPECT_EQ(ops["HeadConvolve"], 4);
  EXPECT_EQ(ops["HeadWindow"], 2 + 1) << "of the Resize, and of the Slice in front";
  for (const char* const op : {"Relu", "HeadActivate", "Add", "BatchNormalization", "Resize"})
    EXPECT_EQ(ops[op], 0) << op;
}

/// The rows of a map, its columns, and the layout by class of what the net returns.
TEST(HeadOperators, AResizeIsOneLayerWithTheTransposeBehindIt) {
  cv::dnn::Net net = readNet(dataPath("hf_dpt_seg_dynamo18.onnx"), {.reduce = kFullModel}).net;
  std::map<std::string, int> layers;
  for (const cv::String& name : net.getLayerNames()) {
    const std::string type = net.getLayer(net.getLayerId(name))->type;
    ++layers[type.substr(type.rfind('.') + 1)];
  }
  EXPECT_EQ(layers["HeadResize"], 5);
  EXPECT_EQ(layers["HeadTranspose"], 0);
}

std::vector<Array> computed() {
  std::vector<Array> all = readReference(dataPath("heads/heads.reference.json")).outputs;
  std::erase_if(all, [](const Array& output) { return output.name.starts_with("refused_"); });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Data, HeadOperator, ::testing::ValuesIn(computed()),
                         [](const auto& tested) { return tested.param.name; });

/// EoMT moves the channels of a map to the end for each norm, and back. Its masks are an Einsum of a map.
TEST(Heads, NormsAndProductsTakeMapsAsConvolutionsLeaveThem) {
  const onnx::ModelProto model = convertedModel(dataPath("hf_eomt_ts17.onnx"));
  for (const onnx::NodeProto& node : model.graph().node())
    EXPECT_TRUE(node.op_type() != "Transpose" || !node.name().starts_with("head/")) << node.name();
}

TEST(Heads, AttentionWithAPartThatOurOperatorLacksIsRefused) {
  const char* const kPerHead = "found attention logits times a constant matrix (mask)";
  const char* const kPositions = "found products of tokens and constants added to something else than logits";
  const char* const kByToken = "found q, k or v times a constant that differs from token to token (mask)";
  const char* const kRotated = "found rotary positions on v, or other ones on q than on k";
  const std::pair<const char*, const char*> cases[] = {
      {"learned_query_plus_a_constant", "found a constant added to logits that are not of all tokens to all tokens"},
      {"learned_query_per_head", kPerHead},
      {"bias_per_head", kPerHead},
      {"positions_per_head", kPerHead},
      {"learned_query_plus_positions", kPositions},
      {"softmax_plus_positions", kPositions},
      {"softmax_of_a_softmax", "found a Softmax of something else than q k^T"},
      {"over_queries", "found a Softmax over another axis than the last"},
      {"keys_scaled_by_token", kByToken},
      {"values_scaled_by_token", kByToken},
      {"values_rotated", kRotated},
      {"queries_rotated", kRotated},
      {"values_of_other_tokens", "found q, k and v of different sizes or in different orders of tokens"},
      {"values_of_another_width", "found q, k and v of different sizes or in different orders of tokens"},
  };
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  for (const auto& [name, found] : cases) {
    SCOPED_TRACE(name);
    writeHead(std::string("refused_") + name, path);
    EXPECT_MPM_ERROR(convertModel(path, {}), found);
  }
}

}  // namespace
}  // namespace mpm::test
