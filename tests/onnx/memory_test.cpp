// SPDX-License-Identifier: Apache-2.0
// Memory for reading a model, in addition to its weights. A camera's computer has little memory and keeps the net for
// months.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/atomic_file.h"
#include "mpm/convert.hpp"
#include "mpm/mpm.hpp"
#include "onnx/model/graph.h"
#include "onnx/model/model_file.h"
#include "support/throws_with.h"

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

std::string parsedText(const std::string& path) { return readModelFile(path).SerializeAsString(); }

bool isMeasurable() {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  return statusMiB("RssAnon") > 0 && std::filesystem::exists(kModel);
#else
  return false;
#endif
}

/// Peak memory of `run` in a process of its own, because a peak counts from the start, as a multiple of `file` MiB.
double peakOf(double file, const std::function<void()>& run) {
  const pid_t child = fork();
  if (child == 0) {
    const double before = statusMiB("VmHWM");
    run();
    _exit(static_cast<int>((statusMiB("VmHWM") - before) / file * 10));
  }
  int status = 0;
  const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
  return ended ? WEXITSTATUS(status) / 10.0 : 999;
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
  EXPECT_LT(peakOf(fileMiB(), [] { convertModel(kModel); }), 10);  // 6.6 on x86-64
}

TEST(Memory, OfANetIsNotThatOfReadingIt) {
  if (!isMeasurable()) GTEST_SKIP() << "needs Linux, glibc, no sanitizer and " << kModel;
  const double before = statusMiB("RssAnon");
  const cv::dnn::Net net = readNet(kModel).net;
  EXPECT_FALSE(net.empty());
  EXPECT_LT((statusMiB("RssAnon") - before) / fileMiB(), 5);  // packed fp32 weights are 2 of the file's fp16
}

TEST(Memory, OfLateWeightsIsThatOfTheNet) {
  if (!isMeasurable()) GTEST_SKIP() << "needs Linux, glibc, no sanitizer and " << kModel;
  const std::string path = testing::TempDir() + "memory_converted.onnx";
  peakOf(fileMiB(), [&] { convertFile(kModel, path); });
  const double file = static_cast<double>(std::filesystem::file_size(path)) / (1 << 20);
  EXPECT_LT(peakOf(file, [&] { readNet(path); }), 2);
  std::filesystem::remove(path);
}

TEST(Memory, OfASecondNetOfAFileIsShared) {
  if (!isMeasurable()) GTEST_SKIP() << "needs Linux, glibc, no sanitizer and " << kModel;
  const std::string path = testing::TempDir() + "memory_shared.onnx";
  convertFile(kModel, path);
  const cv::dnn::Net first = readNet(path).net;
  const double before = statusMiB("RssAnon"), file = static_cast<double>(std::filesystem::file_size(path)) / (1 << 20);
  const cv::dnn::Net second = readNet(path).net;
  EXPECT_LT((statusMiB("RssAnon") - before) / file, 0.6);
  std::filesystem::remove(path);
}

TEST(Memory, LateWeightsAreThoseOfTheFile) {
  LateWeights late;
  onnx::ModelProto model = readModelFile(kModel, late);
  EXPECT_EQ(late.offsets.size(), 0U) << "its weights are 16-bit floats";
  const std::string path = testing::TempDir() + "late.onnx";
  convertFile(kModel, path);
  model = readModelFile(path, late);
  EXPECT_GT(late.offsets.size(), 40U);
  const onnx::GraphProto& graph = model.graph();
  EXPECT_TRUE(std::any_of(graph.initializer().begin(), graph.initializer().end(),
                          [&](const onnx::TensorProto& tensor) { return late.has(tensor); }));
  late.load(*model.mutable_graph());
  EXPECT_EQ(model.SerializeAsString(), parseModel(readFile(path)).SerializeAsString());
  std::filesystem::remove(path);
}

TEST(Memory, OfAFileThatWasReplacedIsTheOldOne) {
  const std::string path = testing::TempDir() + "replaced.onnx";
  convertFile(kModel, path);
  const std::string old = parsedText(path);
  LateWeights late;
  onnx::ModelProto model = readModelFile(path, late);
  const std::string other = path + ".new";
  std::ofstream(other, std::ios::binary) << "another file";
  std::filesystem::rename(other, path);
  late.load(*model.mutable_graph());
  EXPECT_EQ(model.SerializeAsString(), old);
  std::filesystem::remove(path);
}

TEST(Memory, OfAFileThatWasWrittenIsRefused) {
  const std::string path = testing::TempDir() + "written.onnx";
  convertFile(kModel, path);
  LateWeights late;
  onnx::ModelProto model = readModelFile(path, late);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_MPM_ERROR(late.load(*model.mutable_graph()), "the file became shorter while it was read");
  convertFile(kModel, path);
  LateWeights touched;
  model = readModelFile(path, touched);
  std::ofstream(path, std::ios::binary | std::ios::app) << "x";
  EXPECT_MPM_ERROR(touched.load(*model.mutable_graph()), "the file was written while it was read");
  std::filesystem::remove(path);
}

TEST(Memory, SerialisedModelsAreWhatTheyWere) {
  const onnx::ModelProto model = readModelFile(kModel);
  const std::string bytes = serialised(model);
  EXPECT_EQ(bytes.size(), model.ByteSizeLong());
  EXPECT_EQ(parseModel(bytes).SerializeAsString(), model.SerializeAsString());
}

}  // namespace
}  // namespace mpm::onnx_graph
