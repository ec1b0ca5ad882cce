// SPDX-License-Identifier: Apache-2.0
// What reading a net leaves behind in the process, and what it says of a net that OpenCV refuses.
#include <atomic>
#include <cstdlib>
#include <opencv2/core/utils/logger.hpp>
#include <thread>

#include "layers/opencv_adapter.h"
#include "mpm/estimator.hpp"
#include "onnx/model/graph_proto.h"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

/// With a plain ViT at `path`.
class ReadNet : public InFolder {
 protected:
  void SetUp() override { TinyVit(Dialect{}).save(path); }

  std::string path = folder_ / "model.onnx";
};
using ReadNetDeathTest = ReadNet;
using ForwardError = ReadNet;

TEST_F(ReadNet, InThreadsLeavesTheLogLevelAsItWas) {
  namespace logging = cv::utils::logging;
  const std::string converted = folder_ / "converted.onnx";
  convertFile(path, converted);
  const logging::LogLevel before = logging::setLogLevel(logging::LOG_LEVEL_INFO);
  for (int round = 0; round < 50; ++round) {
    const auto read = [&] { EXPECT_NO_THROW(readNet(converted)); };
    std::thread first(read), second(read), third(read);
    for (std::thread* thread : {&first, &second, &third}) thread->join();
    ASSERT_EQ(logging::getLogLevel(), logging::LOG_LEVEL_INFO) << "round " << round;
  }
  logging::setLogLevel(before);
}

TEST_F(ReadNet, NetsRunInThreadsAsTheyDoAlone) {
  TinyVit({.head = HeadStyle::kMask}).save(path);
  const auto run = [&](int image) {
    cv::dnn::Net net = readNet(path, {.reduce = mpmBefore({1, 2})}).net;
    std::vector<std::vector<double>> last;
    for (int round = 0; round < 20; ++round)
      last = runNet(net, TinyVit::image(image), {1, 3, TinyVit::kHeight, TinyVit::kWidth}, {"labels", "merge_map"});
    return last;
  };
  std::vector<std::vector<double>> found[4];
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { found[i] = run(i); });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(found[i], run(i)) << "image " << i;
}

TEST_F(ReadNet, RunsModelsOfOneToFourChannels) {
  for (const int channels : {1, 4}) {
    GraphBuilder g = TinyVit(Dialect{}).graph();
    onnx::GraphProto& graph = *g.model().mutable_graph();
    onnx::TypeProto& type = *graph.mutable_input(0)->mutable_type();
    type.mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(channels);
    const long patch = TinyVit::kPatch;
    const std::vector<double> values(static_cast<std::size_t>(TinyVit::kDim * channels * patch * patch), 0.5);
    const std::string weight = g.weights("kernels", {TinyVit::kDim, channels, patch, patch}, values);
    for (onnx::NodeProto& node : *graph.mutable_node())
      if (node.op_type() == "Conv") node.set_input(1, weight);
    g.save(path);
    EXPECT_EQ(readModelInfo(path).image_channels, channels);
    const std::string converted = folder_ / "converted.onnx";
    convertFile(path, converted);
    LoadedNet loaded = readNet(converted);
    EXPECT_EQ(loaded.info.image_channels, channels);
    const std::vector<double> image(static_cast<std::size_t>(channels * TinyVit::kHeight * TinyVit::kWidth), 0.25);
    EXPECT_NO_THROW(
        runNet(loaded.net, image, {1, channels, TinyVit::kHeight, TinyVit::kWidth}, {loaded.info.outputs[0]}));
    EXPECT_MPM_ERROR(Estimator{path}, "takes " + std::to_string(channels) + "-channel images");
  }
}

TEST_F(ReadNet, RefusesAPrecisionThatTheDeviceLacks) {
  EXPECT_MPM_ERROR(readNet(path, {.precision = Precision::kTf32}), "tf32 is for GPUs");
  EXPECT_NO_THROW(readNet(path, {.precision = Precision::kInt8})) << "every CPU has int8, fast or not";
}

TEST_F(ReadNet, TheFirstMergeMapDoesNotDependOnThePrecision) {
  const auto read = [&](Precision precision, int block) {
    return readNet(path, {.reduce = mpmBefore({block}), .precision = precision}).net;
  };
  cv::dnn::Net first[] = {read(Precision::kFp32, 0), read(Precision::kInt8, 0)},
               later[] = {read(Precision::kFp32, 2), read(Precision::kInt8, 2)};
  const auto map = [](cv::dnn::Net& net, unsigned image) {
    return runNet(net, TinyVit::image(image), {1, 3, TinyVit::kHeight, TinyVit::kWidth}, {"merge_map"})[0];
  };
  bool later_ones_do = false;
  for (unsigned image = 0; image < 20; ++image) {
    EXPECT_EQ(map(first[1], image), map(first[0], image)) << image;
    later_ones_do = later_ones_do || map(later[1], image) != map(later[0], image);
  }
  EXPECT_TRUE(later_ones_do);
}

// OpenCV 4 keeps the input before one of another type, and all that follow, without an error.
TEST_F(ReadNet, AnInputOfAnotherTypeIsAnError) {
  const int sides[] = {1, 3, TinyVit::kHeight, TinyVit::kWidth}, two[] = {2, 3, TinyVit::kHeight, TinyVit::kWidth};
  const auto image = [&](int type, double value) { return cv::Mat(4, sides, type, cv::Scalar(value)); };
  for (const int type : {CV_8U, CV_64F}) {
    cv::dnn::Net net = readNet(path, {.reduce = kFullModel}).net;
    const auto run = [&](const cv::Mat& input) {
      net.setInput(input);
      return net.forward("token_counts").clone();
    };
    for (int frame = 0; frame < 3; ++frame) run(image(CV_32F, 0.1 * frame));
    const cv::Mat held = net.forward("token_counts");
    run(image(CV_32F, 1));
    if (opencv::kHasNewEngine) GTEST_SKIP() << "OpenCV 4 does this";
    for (const cv::Mat& input : {image(type, 7), image(CV_32F, 0.5)})
      EXPECT_CV_ERROR(run(input), "another type than before");
    run(cv::Mat(4, two, CV_32F, cv::Scalar(0.5)));  // other memory
    run(image(CV_32F, 0.5));
  }
}

// A thread of the program is in a forward() while exit handlers and destructors of static objects run.
TEST_F(ReadNetDeathTest, TheProgramMayEndDuringAForward) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto endDuringForward = [&] {
    auto* const net = new cv::dnn::Net(readNet(path).net);
    std::atomic<int> forwards{0};
    std::thread([&, net] {
      const int sides[] = {1, 3, TinyVit::kHeight, TinyVit::kWidth};
      while (true) {
        net->setInput(cv::Mat(4, sides, CV_32F, cv::Scalar(0.1)));
        net->forward();
        ++forwards;
      }
    }).detach();
    while (forwards < 10) std::this_thread::yield();
    std::exit(0);
  };
  for (int i = 0; i < 5; ++i) EXPECT_EXIT(endDuringForward(), ::testing::ExitedWithCode(0), "");
}

TEST_F(ReadNet, SaysInOneLineWhatOpenCvRefuses) {
  GraphBuilder g(convertedModel(path));
  g.node("NoSuchOp", {g.model().graph().output(0).name()}, {}, 1, "broken");
  g.save(path);
  ::testing::internal::CaptureStderr();
  EXPECT_MPM_ERROR(readNet(path), "cannot run what follows the ViT: Node [NoSuchOp@ai.onnx]:(onnx_node!broken)");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "OpenCV logs the error too";
}

/// A layer that fails in a forward, and when the shapes of two images are inferred.
class FailingLayer : public cv::dnn::Layer {
 public:
  explicit FailingLayer(const cv::dnn::LayerParams& params) : Layer(params) {}
  static cv::Ptr<cv::dnn::Layer> create(cv::dnn::LayerParams& params) { return cv::makePtr<FailingLayer>(params); }
  bool getMemoryShapes(const std::vector<opencv::MatShape>& inputs, int, std::vector<opencv::MatShape>& outputs,
                       std::vector<opencv::MatShape>&) const override {
    if (inputs.front()[0] == 2) CV_Error(cv::Error::StsError, "no such shape");
    outputs = inputs;
    return false;
  }
  void forward(cv::InputArrayOfArrays, cv::OutputArrayOfArrays, cv::OutputArrayOfArrays) override {
    CV_Error(cv::Error::StsError, "no luck today");
  }
};

// OpenCV's own layers name no node, whether their work fails or their shapes do not fit.
TEST_F(ForwardError, NamesTheNodeOfOpenCvThatFails) {
  cv::dnn::LayerFactory::registerLayer("Fails", FailingLayer::create);
  GraphBuilder g(convertedModel(path));
  onnx::GraphProto& graph = *g.model().mutable_graph();
  for (onnx::NodeProto& other : *graph.mutable_node()) {
    for (std::string& input : *other.mutable_input())
      if (input == graph.input(0).name()) input = "broken";
  }
  g.node("Fails", {graph.input(0).name()}, {}, 1, "broken");
  for (int i = graph.node_size() - 1; i > 0; --i) graph.mutable_node()->SwapElements(i, i - 1);
  g.save(path);
  Estimator estimator(path);
  ::testing::internal::CaptureStderr();
  EXPECT_MPM_ERROR(estimator.estimate(cv::Mat(TinyVit::kHeight, TinyVit::kWidth, CV_8UC3)),
                   path + ": OpenCV " CV_VERSION " cannot run it: node 'onnx_node!broken' (Fails): no luck today");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "OpenCV logs the error too";
  cv::dnn::Net net = readNet(path).net;
  const std::vector<int> two = {2, 3, TinyVit::kHeight, TinyVit::kWidth};
  net.setInput(cv::Mat(two, CV_32F, cv::Scalar(0)));
  try {
    net.forward();
    ADD_FAILURE() << "no error";
  } catch (const cv::Exception& error) {
    EXPECT_EQ(forwardError(net, two, error),
              "OpenCV " CV_VERSION " cannot run it: node 'onnx_node!broken' (Fails): no such shape");
  }
}

/// A converted model of several blocks with a head of stock layers, and what its nets say.
class WeightsPastOpenCv : public InFolder {
 protected:
  void SetUp() override {
    TinyVit({.head = HeadStyle::kMask}).save(plain_);
    model_ = convertedModel(plain_, {.reduce = mpmBefore({1}), .scores = true});
    save();
  }

  void save() { saveModel(model_, path_); }
  static std::vector<std::vector<double>> results(cv::dnn::Net net) {
    return runNet(net, TinyVit::image(3), {1, 3, TinyVit::kHeight, TinyVit::kWidth},
                  {"labels", "scores", "merge_map", "token_counts"});
  }
  onnx::NodeProto& node(const std::string& op) { return nodeOf(model_, op); }
  onnx::TensorProto& weight(const std::string& name) {
    return itemNamed(model_.mutable_graph()->mutable_initializer(), name);
  }

  std::string plain_ = folder_ / "plain.onnx", path_ = folder_ / "converted.onnx";
  onnx::ModelProto model_;
};

TEST_F(WeightsPastOpenCv, AreTheOnesThatOpenCvReads) {
  registerLayers();
  const auto through = results(cv::dnn::readNetFromONNX(path_));
  EXPECT_EQ(results(readNet(path_).net), through);
  EXPECT_EQ(results(readNet(plain_, {.reduce = mpmBefore({1}), .scores = true}).net), through);
}

TEST_F(WeightsPastOpenCv, AreLeftWhereTheyAreNotPlainFloatsOfOneNode) {
  registerLayers();
  onnx::TensorProto& floats = weight(node("PatchEmbed").input(1));  // now as another file may have it
  const auto* values = reinterpret_cast<const float*>(floats.raw_data().data());
  floats.mutable_float_data()->Add(values, values + floats.raw_data().size() / sizeof(float));
  floats.clear_raw_data();
  node("TokenNorm").set_input(3, node("TokenNorm").input(2));  // read twice
  save();
  EXPECT_EQ(results(readNet(path_).net), results(cv::dnn::readNetFromONNX(path_)));
}

TEST_F(WeightsPastOpenCv, AreFoundWhereAnotherToolPutThem) {
  const auto before = results(readNet(path_).net);
  const std::string moved = node("TransformerBlock").input(2);  // the first constant of its node
  const onnx::NodeProto constant = constantOf(moved, weight(moved));
  auto& weights = *model_.mutable_graph()->mutable_initializer();
  for (int i = 0; i < weights.size(); ++i)
    if (weights[i].name() == moved) weights.DeleteSubrange(i--, 1);
  auto& nodes = *model_.mutable_graph()->mutable_node();
  *nodes.Add() = constant;
  std::rotate(nodes.pointer_begin(), nodes.pointer_end() - 1, nodes.pointer_end());
  save();
  EXPECT_EQ(results(readNet(path_).net), before);
}

TEST_F(WeightsPastOpenCv, ComeFromExternalData) {
  const auto before = results(readNet(path_).net);
  std::ofstream data(folder_ / "weights.bin", std::ios::binary);
  for (onnx::TensorProto& tensor : *model_.mutable_graph()->mutable_initializer()) {
    addExternal(tensor, "location", "weights.bin");
    addExternal(tensor, "offset", std::to_string(data.tellp()));
    data << tensor.raw_data();
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  }
  data.close();
  save();
  EXPECT_EQ(results(readNet(path_).net), before);
  // The converted file needs no other file, in any folder.
  const TemporaryFolder elsewhere;
  convertFile(path_, elsewhere / "moved.onnx");
  EXPECT_EQ(results(readNet(elsewhere / "moved.onnx").net), before);
  EXPECT_MPM_ERROR(convertFile(path_, folder_ / "weights.bin"), "a part of it");
  EXPECT_MPM_ERROR(convertFile(path_, path_), "is the model that is converted");
  EXPECT_EQ(results(readNet(path_).net), before);
}

TEST_F(WeightsPastOpenCv, MayBeHalves) {
  onnx::TensorProto& tensor = weight(node("PatchEmbed").input(1));
  const auto count = tensor.raw_data().size() / sizeof(float);
  std::vector<float> floats(count);
  std::vector<std::uint16_t> halves(count);
  for (std::size_t i = 0; i < count; ++i) {  // 0.5 and -2 alternately, in both widths
    floats[i] = i % 2 ? -2.0f : 0.5f;
    halves[i] = i % 2 ? 0xc000 : 0x3800;
  }
  tensor.set_raw_data(floats.data(), count * sizeof(float));
  save();
  const auto before = results(readNet(path_).net);
  tensor.set_data_type(onnx::TensorProto::FLOAT16);
  tensor.set_raw_data(halves.data(), count * sizeof(std::uint16_t));
  save();
  EXPECT_EQ(results(readNet(path_).net), before);
}

TEST_F(WeightsPastOpenCv, AreThereForALayerThatIsMadeTwice) {
  const auto before = results(readNet(path_).net);
  cv::dnn::enableModelDiagnostics(true);
  std::vector<std::vector<double>> found;
  EXPECT_NO_THROW(found = results(readNet(path_).net));
  cv::dnn::enableModelDiagnostics(false);
  EXPECT_EQ(found, before);
}

TEST_F(WeightsPastOpenCv, AreNotForFiles) {
  onnx_graph::addAttribute(node("TransformerBlock"), {"waiting_weights", std::int64_t{0}});
  save();
  EXPECT_MPM_ERROR(readNet(path_), "found the attribute 'waiting_weights', which no file has");
  registerLayers();
  EXPECT_CV_ERROR(results(cv::dnn::readNetFromONNX(path_)), "attribute 'waiting_weights' is for nets in memory");
}

}  // namespace
}  // namespace mpm::test
