// SPDX-License-Identifier: Apache-2.0
#include "train/segmenter_file.h"

#include <ATen/ATen.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include "base/atomic_file.h"
#include "mpm/convert.hpp"
#include "mpm/read_net.hpp"
#include "scene/street.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"
#include "train/network.h"

namespace mpm::train {
namespace {

const std::string kModel = MPM_SOURCE_DIR "/models/street_vit_t16.onnx";
constexpr Size2 kSize = {96, 160};  // not that of the file

const SegmenterFile& model() {
  static const SegmenterFile file = readSegmenter(kModel);
  return file;
}

cv::Mat street() {
  scene::StreetOptions options;
  options.size = {kSize.width, kSize.height};
  return scene::Street(options).render(options.start).image;
}

// Labels by LibTorch, {H, W} CV_8U.
cv::Mat byLibTorch(TensorMap weights, const cv::Mat& image) {
  NetworkConfig config = model().config;
  config.input = kSize;
  resizePositions(weights, model().config.grid(), config.grid());
  Weights tensors;
  for (auto& [name, tensor] : weights) tensors[name] = at::from_blob(tensor.values.data(), tensor.shape, at::kFloat);
  const cv::Mat blob = cv::dnn::blobFromImage(image, 1 / 127.5, {}, cv::Scalar::all(127.5), true);
  const at::Tensor input = at::from_blob(blob.data, {1, 3, kSize.height, kSize.width}, at::kFloat);
  const at::Tensor logits =
      at::upsample_bilinear2d(scores(config, input, tensors, at::kFloat), {kSize.height, kSize.width}, false);
  const at::Tensor labels = logits.argmax(1).to(at::kByte).contiguous();
  return cv::Mat(kSize.height, kSize.width, CV_8U, labels.data_ptr()).clone();
}

// What a file of half weights computes with: all but vectors are rounded.
TensorMap roundedToHalf(TensorMap weights) {
  for (auto& [name, tensor] : weights) {
    if (tensor.shape.size() > 1)
      for (float& value : tensor.values) value = static_cast<float>(at::Half(value));
  }
  return weights;
}

// Weights that half cannot hold.
TensorMap changed() {
  TensorMap weights = model().weights;
  for (auto& [name, tensor] : weights)
    for (float& value : tensor.values) value *= 1.001f;
  return weights;
}

ModelFacts facts() {
  ModelFacts facts;
  facts.name = "street";
  for (const scene::ClassStyle& style : scene::kClassStyles) facts.classes.push_back({style.name, style.rgb});
  return facts;
}

class Written : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Half, Written, testing::Bool());

// Weights come back, the graph satisfies ONNX's checker, and the net of the library gives the labels of LibTorch.
TEST_P(Written, ForAnotherSizeGivesTheLabelsOfLibTorch) {
  const bool half = GetParam();
  const test::TemporaryFolder folder;
  writeSegmenter(folder / "street", model(), changed(), kSize, half, facts());
  const TensorMap expected = half ? roundedToHalf(changed()) : changed();

  const std::string bytes = readFile(folder / "street.onnx");
  EXPECT_LE(bytes.size(), half ? 14'000'000u : 28'000'000u);
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  EXPECT_NO_THROW(onnx::checker::check_model(proto));
  const SegmenterFile back = readSegmenter(folder / "street.onnx");
  EXPECT_EQ(back.config.input, kSize);
  EXPECT_EQ(back.weights.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    if (name == "encoder.pos_embed") continue;  // of the other size
    EXPECT_EQ(back.weights.at(name).values, tensor.values) << name;
  }

  const ModelInfo info = readModelInfo(folder / "street.onnx");
  EXPECT_EQ(info.facts.name, "street");
  EXPECT_EQ(info.input, kSize);
  const cv::Mat image = street(), truth = byLibTorch(expected, image);
  cv::dnn::Net net = readNet(folder / "street.onnx", {.reduce = kFullModel}).net;
  net.setInput(cv::dnn::blobFromImage(image, 1 / 127.5, {}, cv::Scalar::all(127.5), true));
  const cv::Mat labels = net.forward("labels");
  cv::Mat bytes_of_labels;
  cv::Mat(kSize.height, kSize.width, CV_32F, labels.data).convertTo(bytes_of_labels, CV_8U);
  EXPECT_GE(cv::countNonZero(bytes_of_labels == truth), 0.999 * static_cast<double>(truth.total()));
  for (const scene::Class label : {scene::Class::kSky, scene::Class::kBuilding, scene::Class::kRoad})
    EXPECT_GT(cv::countNonZero(truth == static_cast<int>(label)), 300) << "the picture has too little in it";
}

TEST(ReadSegmenter, RefusesOtherFiles) {
  const test::TemporaryFolder folder;
  const auto refuses = [&](const onnx::ModelProto& proto, const char* why) {
    writeFileAtomically(folder / "model.onnx", proto.SerializeAsString());
    EXPECT_MPM_ERROR(readSegmenter(folder / "model.onnx"), why);
  };
  EXPECT_MPM_ERROR(readSegmenter(folder / "none.onnx"), "none.onnx");
  writeFileAtomically(folder / "model.onnx", "no protobuf");
  EXPECT_MPM_ERROR(readSegmenter(folder / "model.onnx"), "model.onnx': it is not an ONNX file");
  onnx::ModelProto proto;
  proto.set_producer_name("pytorch");
  refuses(proto, "mpm-train did not write it");
  ASSERT_TRUE(proto.ParseFromString(readFile(kModel)));
  for (onnx::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer())
    if (tensor.name() == "encoder.norm.bias") tensor.set_name("encoder.norm.offset");
  refuses(proto, "'encoder.norm.bias' is missing");
}

}  // namespace
}  // namespace mpm::train
