// SPDX-License-Identifier: Apache-2.0
// What reading a net leaves behind in the process, and what it says of a net that OpenCV refuses.
#include <fstream>
#include <opencv2/core/utils/logger.hpp>
#include <thread>

#include "mpm/mpm.hpp"
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

}  // namespace
}  // namespace mpm::test
