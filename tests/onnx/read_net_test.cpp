// SPDX-License-Identifier: Apache-2.0
// What reading a net leaves behind in the process, and what it says of a net that OpenCV refuses.
#include <fstream>
#include <opencv2/core/utils/logger.hpp>
#include <thread>

#include "mpm/mpm.hpp"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

TEST(ReadNet, InThreadsLeavesTheLogLevelAsItWas) {
  namespace logging = cv::utils::logging;
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  TinyVit(Dialect{}).save(path);
  const logging::LogLevel before = logging::setLogLevel(logging::LOG_LEVEL_INFO);
  for (int round = 0; round < 50; ++round) {
    const auto read = [&] { EXPECT_NO_THROW(readNet(path)); };
    std::thread first(read), second(read), third(read);
    for (std::thread* thread : {&first, &second, &third}) thread->join();
    ASSERT_EQ(logging::getLogLevel(), logging::LOG_LEVEL_INFO) << "round " << round;
  }
  logging::setLogLevel(before);
}

TEST(ReadNet, SaysInOneLineWhatOpenCvRefuses) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  TinyVit(Dialect{}).save(path);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(convertModel(path)));
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type("NoSuchOp");
  node.set_name("broken");
  node.add_input(model.graph().output(0).name());
  node.add_output("x");
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  EXPECT_MPM_ERROR(readNet(path), "broken");
}

/// A converted model of several blocks with a head of stock layers, and what its nets say.
class WeightsPastOpenCv : public ::testing::Test {
 protected:
  void SetUp() override {
    Dialect dialect;
    dialect.head = HeadStyle::kMask;
    TinyVit(dialect).save(plain_);
    ASSERT_TRUE(model_.ParseFromString(convertModel(plain_, {.schedule = Schedule{1}})));
    save();
  }

  void save() { std::ofstream(path_, std::ios::binary) << model_.SerializeAsString(); }
  static std::vector<std::vector<double>> results(cv::dnn::Net net) {
    return runNet(net, TinyVit::image(3), {1, 3, TinyVit::kHeight, TinyVit::kWidth},
                  {"scores", "merge_map", "token_counts"});
  }
  onnx::NodeProto& node(const std::string& op) {
    for (onnx::NodeProto& each : *model_.mutable_graph()->mutable_node())
      if (each.op_type() == op) return each;
    throw std::runtime_error("no " + op);
  }
  onnx::TensorProto& weight(const std::string& name) {
    for (onnx::TensorProto& each : *model_.mutable_graph()->mutable_initializer())
      if (each.name() == name) return each;
    throw std::runtime_error("no " + name);
  }

  TemporaryFolder folder_;
  std::string plain_ = folder_ / "plain.onnx", path_ = folder_ / "converted.onnx";
  onnx::ModelProto model_;
};

TEST_F(WeightsPastOpenCv, AreTheOnesThatOpenCvReads) {
  registerLayers();
  const auto through = results(cv::dnn::readNetFromONNX(path_));
  EXPECT_EQ(results(readNet(path_)), through);
  ReadOptions options;
  options.schedule = Schedule{1};
  EXPECT_EQ(results(readNet(plain_, options)), through);
}

TEST_F(WeightsPastOpenCv, AreLeftWhereTheyAreNotPlainFloatsOfOneNode) {
  registerLayers();
  onnx::TensorProto& floats = weight(node("PatchEmbed").input(1));  // now as another file may have it
  const auto* values = reinterpret_cast<const float*>(floats.raw_data().data());
  floats.mutable_float_data()->Add(values, values + floats.raw_data().size() / sizeof(float));
  floats.clear_raw_data();
  node("TokenNorm").set_input(3, node("TokenNorm").input(2));  // read twice
  save();
  EXPECT_EQ(results(readNet(path_)), results(cv::dnn::readNetFromONNX(path_)));
}

TEST_F(WeightsPastOpenCv, AreNotForFiles) {
  onnx::AttributeProto& number = *node("TransformerBlock").add_attribute();
  number.set_name("waiting_weights");
  number.set_type(onnx::AttributeProto::INT);
  number.set_i(0);
  save();
  EXPECT_MPM_ERROR(readNet(path_), "found the attribute 'waiting_weights', which no file has");
  registerLayers();
  try {
    results(cv::dnn::readNetFromONNX(path_));
    FAIL();
  } catch (const cv::Exception& error) {
    EXPECT_NE(std::string(error.what()).find("no weights wait under this number"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace mpm::test
