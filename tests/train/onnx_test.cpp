// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <opencv2/dnn.hpp>

#include "base/atomic_file.h"
#include "mpm/convert.hpp"
#include "mpm/read_net.hpp"
#include "support/temporary_folder.h"
#include "support/throws_with.h"
#include "train/agreement.h"
#include "train/checkpoint.h"
#include "train/half.h"
#include "train/learner.h"
#include "train/onnx_file.h"
#include "train/shapes.h"

namespace mpm::train {
namespace {

constexpr Size2 kSize = {64, 96};
constexpr int kImages = 16;

LearnerOptions optionsFor(Size2 input, Positions positions = Positions::kAbsolute) {
  LearnerOptions options;
  options.network.positions = positions;
  options.network.dim = 128;
  options.network.blocks = 3;
  options.network.classes = 3;
  options.network.input = input;
  options.average = 0;
  options.threads = 1;
  return options;
}

// A network that has learned something: one of random weights is undecided at every pixel.
TensorMap train(const LearnerOptions& options) {
  Learner net(options, initialWeights(options.network, 1));
  for (int step = 0; step < 80; ++step) {
    const auto [images, labels] = test::shapeBatch(8 * step, 8, kSize);
    net.step(images, labels, step, 1, 1e-3 * std::min(1., (step + 1) / 20.));
  }
  return net.weights();
}

const TensorMap& trainedWeights() {
  static const TensorMap weights = train(optionsFor(kSize));
  return weights;
}

// What a file of half weights computes with: everything but vectors is rounded.
TensorMap roundedToHalf(const NetworkConfig& config, TensorMap weights) {
  for (const Parameter& parameter : parameters(config))
    if (parameter.shape.size() > 1) {
      std::vector<float>& values = weights.at(parameter.name).values;
      values = fromHalf(toHalf(values));
    }
  return weights;
}

ModelFacts facts() {
  ModelFacts facts;
  facts.name = "shapes";
  facts.classes = test::kShapeClasses;
  return facts;
}

cv::Mat byLibTorch(Size2 input, const TensorMap& weights, const cv::Mat& images,
                   Positions positions = Positions::kAbsolute) {
  return Learner(optionsFor(input, positions), weights).predict(images);
}

// The same of a file of this network, which must say what it is.
double agreement(const std::string& model, Size2 input, const cv::Mat& images, const cv::Mat& expected) {
  const ModelInfo info = readModelInfo(model);
  EXPECT_EQ(info.head, HeadKind::kMaskTransformer);
  EXPECT_EQ(info.facts.name, "shapes");
  EXPECT_EQ(info.input, input);
  EXPECT_EQ(info.special_tokens, 1);
  return test::agreement(model, input, images, expected);
}

TEST(Onnx, IsStandardOpsOfAnOpsetThatEveryRuntimeHas) {
  const NetworkConfig config = optionsFor(kSize).network;
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(onnxModel(config, initialWeights(config, 1), true)));
  ASSERT_EQ(model.opset_import_size(), 1);
  EXPECT_EQ(model.opset_import(0).domain(), "");
  EXPECT_LE(model.opset_import(0).version(), 17);
  for (const auto& node : model.graph().node()) EXPECT_EQ(node.domain(), "") << node.name();
}

TEST(Onnx, SatisfiesTheChecker) {
  const NetworkConfig config = optionsFor(kSize).network;
  for (const bool half : {false, true}) {
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(onnxModel(config, initialWeights(config, 1), half)));
    EXPECT_NO_THROW(onnx::checker::check_model(model)) << half;
    model.mutable_graph()->mutable_node(0)->set_op_type("NoSuchOp");
    EXPECT_ANY_THROW(onnx::checker::check_model(model)) << "the checker looks at nothing";
  }
}

TEST(Onnx, TheDefaultModelFitsIn14Megabytes) {
  NetworkConfig config = networkConfig("vit-t16");
  config.classes = 9;
  config.input = {448, 640};
  const TensorMap weights = initialWeights(config, 1);
  EXPECT_LE(onnxModel(config, weights, true).size(), 14'000'000u);
  EXPECT_GT(onnxModel(config, weights, false).size(), 26'000'000u);
}

TEST(Onnx, GivesTheLabelsOfLibTorch) {
  const test::TemporaryFolder folder;
  const NetworkConfig config = optionsFor(kSize).network;
  const auto [images, labels] = test::shapeBatch(50000, kImages, kSize);
  const cv::Mat expected = byLibTorch(kSize, trainedWeights(), images);
  for (int label = 0; label < 3; ++label) EXPECT_GT(cv::countNonZero(expected.reshape(1, 1) == label), 100) << label;
  writeModel(folder / "full", config, trainedWeights(), kSize, false, facts());
  EXPECT_GE(agreement(folder / "full.onnx", kSize, images, expected), 0.999);
}

TEST(Onnx, WithHalfWeightsGivesTheLabelsOfRoundedWeights) {
  const test::TemporaryFolder folder;
  const NetworkConfig config = optionsFor(kSize).network;
  const auto [images, labels] = test::shapeBatch(60000, kImages, kSize);
  const cv::Mat expected = byLibTorch(kSize, roundedToHalf(config, trainedWeights()), images);
  writeModel(folder / "half", config, trainedWeights(), kSize, true, facts());
  EXPECT_GE(agreement(folder / "half.onnx", kSize, images, expected), 0.999);
}

TEST(Onnx, IsExportedForAnotherSize) {
  const test::TemporaryFolder folder;
  constexpr Size2 kLarge = {96, 160};
  const NetworkConfig config = optionsFor(kSize).network, large = optionsFor(kLarge).network;
  const auto [images, labels] = test::shapeBatch(70000, 4, kLarge);
  const cv::Mat expected = byLibTorch(kLarge, fittedWeights(trainedWeights(), config, large, {}), images);
  writeModel(folder / "large", config, trainedWeights(), kLarge, false, facts());
  EXPECT_GE(agreement(folder / "large.onnx", kLarge, images, expected), 0.999);
}

TEST(Onnx, RotaryModelsGiveTheLabelsOfLibTorch) {
  const test::TemporaryFolder folder;
  const LearnerOptions options = optionsFor(kSize, Positions::kRotary);
  const TensorMap weights = train(options);
  EXPECT_FALSE(weights.contains("encoder.pos_embed"));
  for (const Size2 size : {kSize, Size2{96, 160}}) {
    const auto [images, labels] = test::shapeBatch(80000, 4, size);
    const cv::Mat expected = byLibTorch(size, weights, images, Positions::kRotary);
    for (int label = 0; label < 3; ++label) EXPECT_GT(cv::countNonZero(expected.reshape(1, 1) == label), 100) << label;
    writeModel(folder / "rotary", options.network, weights, size, false, facts());
    EXPECT_GE(agreement(folder / "rotary.onnx", size, images, expected), 0.999);
    EXPECT_NO_THROW(readModelInfo(folder / "rotary.onnx", {.reduce = parseReduction("mpm:positions=first")}));
  }
}

TEST(Onnx, ConvertsWithTheDefaultSchedule) {
  const test::TemporaryFolder folder;
  writeModel(folder / "m", optionsFor(kSize).network, trainedWeights(), kSize, true, facts());
  const ModelInfo info = convertFile(folder / "m.onnx", folder / "m_mpm.onnx", {.reduce = mpmBefore({1, 2})});
  EXPECT_TRUE(info.segments());
  EXPECT_EQ(info.classes, 3);
  EXPECT_EQ(info.facts.classes.at(1).name, "disc");
  EXPECT_TRUE(std::filesystem::exists(folder / "m_mpm.onnx"));
}

TEST(StartingWeights, TakesAnOnnxFileOfItsOwn) {
  const test::TemporaryFolder folder;
  const NetworkConfig trained = optionsFor({32, 64}).network, wanted = optionsFor({64, 96}).network;
  const TensorMap weights = initialWeights(trained, 7), random = initialWeights(wanted, 1);
  for (const bool half : {false, true}) {
    writeFileAtomically(folder / "model.onnx", onnxModel(trained, weights, half));
    const StartingWeights start = readStartingWeights(folder / "model.onnx", wanted, random);
    EXPECT_EQ(start.config.input, trained.input);
    const TensorMap expected = half ? roundedToHalf(trained, weights) : weights;
    ASSERT_EQ(start.weights.size(), expected.size());
    for (const auto& [name, tensor] : expected) {
      ASSERT_TRUE(start.weights.contains(name)) << name;
      EXPECT_EQ(start.weights.at(name).shape, tensor.shape) << name;
      EXPECT_EQ(start.weights.at(name).values, tensor.values) << name;
    }
    EXPECT_EQ(fittedWeights(start.weights, start.config, wanted, random).size(), random.size());
  }
}

TEST(StartingWeights, RefusesAnOnnxFileOfAnotherProgram) {
  const test::TemporaryFolder folder;
  const NetworkConfig wanted = optionsFor({64, 96}).network;
  writeFileAtomically(folder / "model.onnx", "no protobuf");
  EXPECT_MPM_ERROR((readStartingWeights(folder / "model.onnx", wanted, {})), "model.onnx': it is not an ONNX file");
  onnx::ModelProto other;
  other.set_producer_name("pytorch");
  writeFileAtomically(folder / "model.onnx", other.SerializeAsString());
  EXPECT_MPM_ERROR((readStartingWeights(folder / "model.onnx", wanted, {})), "of another program");
}

}  // namespace
}  // namespace mpm::train
