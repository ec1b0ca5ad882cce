// SPDX-License-Identifier: Apache-2.0
// Operators of heads behind the encoder of a real exporter, against ONNX's reference implementation (tests/data/heads).
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>

#include "mpm/mpm.hpp"
#include "onnx/reference_file.h"
#include "onnx/run_net.h"
#include "support/data_path.h"
#include "support/temporary_folder.h"

namespace mpm::test {

void PrintTo(const Array& array, std::ostream* out) { *out << array.name; }

namespace {

onnx::ModelProto modelAt(const std::string& file) {
  onnx::ModelProto model;
  std::ifstream in(dataPath(file), std::ios::binary);
  EXPECT_TRUE(model.ParseFromIstream(&in)) << file;
  return model;
}

/// The encoder with the head of one case behind it.
onnx::ModelProto withHead(const std::string& name) {
  onnx::ModelProto model = modelAt("hf_deit_dynamo20.onnx");
  const onnx::ModelProto heads = modelAt("heads/heads.onnx");
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
  return model;
}

class HeadOperator : public ::testing::TestWithParam<Array> {};

TEST_P(HeadOperator, ComputesWhatOnnxMeans) {
  const Array& expected = GetParam();
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  std::ofstream(path, std::ios::binary) << withHead(expected.name).SerializeAsString();
  const Array image = readReference(dataPath("heads/heads.reference.json")).image;
  ConvertOptions options;
  options.reduce = kFullModel;
  cv::dnn::Net net = readNet(path, {.convert = options}).net;
  const std::vector<double> one = runNet(net, image.values, image.shape, {expected.name})[0];
  EXPECT_LT(difference(one, expected.values), 1e-4);

  // In a batch of two, with merging, each image is as alone.
  options.reduce = mpmBefore({1});
  net = readNet(path, {.convert = options}).net;
  const bool one_image = expected.name.starts_with("one_image");
  std::vector<double> other = image.values, both = image.values;
  for (double& value : other) value = 0.75 - 0.5 * value;
  both.insert(both.end(), other.begin(), other.end());
  std::vector<int> shape = image.shape;
  shape[0] = 2;
  std::vector<double> together;
  try {
    together = runNet(net, both, shape, {expected.name})[0];
  } catch (const cv::Exception& error) {
    EXPECT_NE(std::string(error.what()).find("give it one image at a time"), std::string::npos) << error.what();
    EXPECT_TRUE(one_image);
    return;
  }
  EXPECT_FALSE(one_image);
  std::vector<double> alone = runNet(net, image.values, image.shape, {expected.name})[0];
  const std::vector<double> second = runNet(net, other, image.shape, {expected.name})[0];
  alone.insert(alone.end(), second.begin(), second.end());
  EXPECT_LT(difference(together, alone), 1e-5) << "in a batch";
}

INSTANTIATE_TEST_SUITE_P(Data, HeadOperator,
                         ::testing::ValuesIn(readReference(dataPath("heads/heads.reference.json")).outputs),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace mpm::test
