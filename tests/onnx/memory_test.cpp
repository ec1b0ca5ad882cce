// SPDX-License-Identifier: Apache-2.0
// Memory for reading a model, in addition to its weights. A camera's computer has little memory and keeps the net for
// months.
#include <sys/wait.h>

#include <algorithm>
#include <functional>

#include "base/atomic_file.h"
#include "mpm/convert.hpp"
#include "mpm/mpm.hpp"
#include "onnx/model/graph.h"
#include "onnx/model/model_file.h"
#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm::onnx_graph {
namespace {

const char* const kModel = MPM_SOURCE_DIR "/models/street_vit_t16.onnx";

double sizeMiB(const std::string& path) { return static_cast<double>(fs::file_size(path)) / (1 << 20); }

/// A line of /proc/self/status, in MiB; negative where there is none.
double statusMiB(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) / 1024;
  return -1;
}

std::string parsedText(const std::string& path) { return readModelFile(path).SerializeAsString(); }

class Memory : public test::InFolder {
 protected:
  const std::string path_ = folder_ / "converted.onnx";
};

class MeasuredMemory : public Memory {
 protected:
  void SetUp() override {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (statusMiB("RssAnon") > 0 && fs::exists(kModel)) return;
#endif
    GTEST_SKIP() << "needs Linux, glibc, no sanitizer and " << kModel;
  }
};

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

TEST_F(Memory, OfAGraphHoldsTheWeightsOnce) {
  onnx::ModelProto model = readModelFile(kModel);
  const Graph graph = readGraph(model, {});
  EXPECT_GT(graph.weights, 1'000'000);
  std::size_t left = 0;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) left += tensor.raw_data().capacity();
  EXPECT_LT(left, std::size_t{1} << 16);
}

TEST_F(MeasuredMemory, OfConvertingIsAFewTimesTheFile) {
  EXPECT_LT(peakOf(sizeMiB(kModel), [] { convertModel(kModel); }), 10);  // 6.6 on x86-64
}

TEST_F(MeasuredMemory, OfANetIsNotThatOfReadingIt) {
  const double before = statusMiB("RssAnon");
  const cv::dnn::Net net = readNet(kModel).net;
  EXPECT_FALSE(net.empty());
  EXPECT_LT((statusMiB("RssAnon") - before) / sizeMiB(kModel), 5);  // packed fp32 weights are 2 of the file's fp16
}

TEST_F(MeasuredMemory, OfLateWeightsIsThatOfTheNet) {
  peakOf(sizeMiB(kModel), [&] { convertFile(kModel, path_); });
  EXPECT_LT(peakOf(sizeMiB(path_), [&] { readNet(path_); }), 2);
}

TEST_F(MeasuredMemory, OfASecondNetOfAFileIsShared) {
  convertFile(kModel, path_);
  const cv::dnn::Net first = readNet(path_).net;
  const double before = statusMiB("RssAnon");
  const cv::dnn::Net second = readNet(path_).net;
  EXPECT_LT((statusMiB("RssAnon") - before) / sizeMiB(path_), 0.6);
}

TEST_F(Memory, LateWeightsAreThoseOfTheFile) {
  LateWeights late;
  onnx::ModelProto model = readModelFile(kModel, late);
  EXPECT_EQ(late.offsets.size(), 0U) << "its weights are 16-bit floats";
  convertFile(kModel, path_);
  model = readModelFile(path_, late);
  EXPECT_GT(late.offsets.size(), 40U);
  const auto isLate = [&](const onnx::TensorProto& tensor) { return late.has(tensor); };
  EXPECT_TRUE(std::ranges::any_of(model.graph().initializer(), isLate));
  late.load(*model.mutable_graph());
  onnx::ModelProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(readFile(path_)));
  EXPECT_EQ(model.SerializeAsString(), parsed.SerializeAsString());
}

TEST_F(Memory, OfAFileThatWasReplacedIsTheOldOne) {
  convertFile(kModel, path_);
  const std::string old = parsedText(path_);
  LateWeights late;
  onnx::ModelProto model = readModelFile(path_, late);
  fs::rename(write("other", "another file"), path_);
  late.load(*model.mutable_graph());
  EXPECT_EQ(model.SerializeAsString(), old);
}

TEST_F(Memory, OfAFileThatWasWrittenIsRefused) {
  const std::string other = folder_ / "other.onnx";
  convertFile(kModel, path_);
  fs::copy_file(path_, other);
  LateWeights late;
  onnx::ModelProto model = readModelFile(path_, late);
  fs::resize_file(path_, fs::file_size(path_) / 2);
  EXPECT_MPM_ERROR(late.load(*model.mutable_graph()), "the file became shorter while it was read");
  LateWeights touched;
  model = readModelFile(other, touched);
  std::ofstream(other, std::ios::binary | std::ios::app) << "x";
  EXPECT_MPM_ERROR(touched.load(*model.mutable_graph()), "the file was written while it was read");
}

TEST_F(Memory, SerialisedModelsAreWhatTheyWere) {
  const onnx::ModelProto model = readModelFile(kModel);
  const std::string bytes = serialised(model);
  EXPECT_EQ(bytes.size(), model.ByteSizeLong());
  EXPECT_EQ(parsedText(write("serialised", bytes)), model.SerializeAsString());
}

}  // namespace
}  // namespace mpm::onnx_graph
