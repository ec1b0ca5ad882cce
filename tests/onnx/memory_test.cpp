// SPDX-License-Identifier: Apache-2.0
// Memory for reading a model, in addition to its weights. A camera's computer has little memory and keeps the net for
// months.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "mpm/convert.hpp"
#include "mpm/mpm.hpp"
#include "onnx/model/graph.h"
#include "onnx/model/model_file.h"

namespace mpm::onnx_graph {
namespace {

const char* const kModel = MPM_SOURCE_DIR "/models/street_vit_t16.onnx";

double fileMiB() { return static_cast<double>(std::filesystem::file_size(kModel)) / (1 << 20); }

/// A line of /proc/self/status, in MiB; negative where there is none.
double statusMiB(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) / 1024;
  return -1;
}

bool isMeasurable() {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  return statusMiB("RssAnon") > 0 && std::filesystem::exists(kModel);
#else
  return false;
#endif
}

TEST(Memory, OfAGraphHoldsTheWeightsOnce) {
  onnx::ModelProto model = readModelFile(kModel);
  const Graph graph = readGraph(model, {});
  EXPECT_GT(graph.weights, 1'000'000);
  std::size_t left = 0;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) left += tensor.raw_data().capacity();
  EXPECT_LT(left, std::size_t{1} << 16);
}

TEST(Memory, OfConvertingIsAFewTimesTheFile) {
  if (!isMeasurable()) GTEST_SKIP() << "needs Linux, glibc, no sanitizer and " << kModel;
  const pid_t child = fork();  // the peak of a process counts from its start
  ASSERT_GE(child, 0);
  if (child == 0) {
    const double before = statusMiB("VmHWM");
    const bool made = !convertModel(kModel).bytes.empty();
    const double times = (statusMiB("VmHWM") - before) / fileMiB();
    _exit(made ? static_cast<int>(times * 10) : 255);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_LT(WEXITSTATUS(status) / 10.0, 10);  // 6.6 on x86-64
}

TEST(Memory, OfANetIsNotThatOfReadingIt) {
  if (!isMeasurable()) GTEST_SKIP() << "needs Linux, glibc, no sanitizer and " << kModel;
  const double before = statusMiB("RssAnon");
  const cv::dnn::Net net = readNet(kModel).net;
  EXPECT_FALSE(net.empty());
  EXPECT_LT((statusMiB("RssAnon") - before) / fileMiB(), 5);  // packed fp32 weights are 2 of the file's fp16
}

TEST(Memory, SerialisedModelsAreWhatTheyWere) {
  const onnx::ModelProto model = readModelFile(kModel);
  const std::string bytes = serialised(model);
  EXPECT_EQ(bytes.size(), model.ByteSizeLong());
  EXPECT_EQ(parseModel(bytes).SerializeAsString(), model.SerializeAsString());
}

}  // namespace
}  // namespace mpm::onnx_graph
