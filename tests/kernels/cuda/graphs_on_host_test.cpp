// SPDX-License-Identifier: Apache-2.0
// What only the emulation can tell of graphs: how many launches the host makes, and what a capture forbids.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/emulation.h"
#include "kernels/cuda/launch_queue.h"
#include "support/throws_with.h"

namespace mpm::cuda {
namespace {

using test::failNextCapture;
using test::Launches;
using test::takeLaunches;

constexpr int kElements = 32;

/// Six commands on an array, whose results depend on their order.
class Steps {
 public:
  explicit Steps(const Stream& stream) : stream_(stream), x_(stream, kElements), y_(stream, kElements) {}

  std::vector<float> run(float begin, int commands = 6) {
    const std::vector<float> values(kElements, begin);
    upload(stream_, values.data(), x_.data(), kElements * sizeof(float));
    clear(stream_, y_.data(), kElements * sizeof(float));
    for (int i = 1; i < commands; ++i) {
      if (i % 2 == 1)
        addBias(stream_, 1, kElements, Number::kFloat, x_.data(), y_.data());
      else
        copy(stream_, y_.data(), x_.data(), kElements * sizeof(float));
    }
    std::vector<float> result(kElements);
    download(stream_, y_.data(), result.data(), kElements * sizeof(float));
    stream_.wait();
    return result;
  }

 private:
  const Stream& stream_;
  Buffer<float> x_, y_;
};

/// y is begin, and doubled twice.
std::vector<float> expected(float begin) { return std::vector<float>(kElements, 4 * begin); }

void expectLaunches(int commands, int graphs, int made, int refused = 0) {
  const Launches launches = takeLaunches();
  EXPECT_EQ(launches.commands, commands);
  EXPECT_EQ(launches.graphs, graphs);
  EXPECT_EQ(launches.made, made);
  EXPECT_EQ(launches.refused, refused);
}

TEST(CudaGraphs, TheSecondTimeAGraphIsMadeAndThenItIsOneLaunch) {
  const Stream stream(0);
  Steps steps(stream);
  takeLaunches();
  EXPECT_EQ(steps.run(1), expected(1));
  expectLaunches(6, 0, 0);
  EXPECT_EQ(steps.run(2), expected(2));
  expectLaunches(6, 0, 0);  // nobody asked
  stream.queue().repeat(stream, true);
  EXPECT_EQ(steps.run(3), expected(3));
  expectLaunches(6, 0, 0);
  EXPECT_EQ(steps.run(4), expected(4));
  expectLaunches(0, 1, 1);
  EXPECT_EQ(steps.run(5), expected(5));
  expectLaunches(0, 1, 0);
  stream.queue().repeat(stream, false);
  EXPECT_EQ(steps.run(6), expected(6));
  expectLaunches(6, 0, 0);
}

TEST(CudaGraphs, OtherMemoryOrLengthIsAnotherGraph) {
  const Stream stream(0);
  stream.queue().repeat(stream, true);
  Steps steps(stream), others(stream);
  for (float begin = 1; begin < 4; ++begin) {
    EXPECT_EQ(steps.run(begin), expected(begin));
    EXPECT_EQ(others.run(begin), expected(begin));
    steps.run(begin, 4);
  }
  takeLaunches();
  steps.run(1);
  others.run(1);
  steps.run(1, 4);
  expectLaunches(0, 3, 0);
  steps.run(1, 3);  // begins as the others, but three commands are not worth a graph
  steps.run(1, 3);
  expectLaunches(6, 0, 0);
}

// The host learns of a merge by an event, and the device goes on.
TEST(CudaGraphs, AnEventHasWhatWasEnqueuedBeforeIt) {
  const Stream stream(0);
  stream.queue().repeat(stream, true);
  Buffer<float> x = uploaded(stream, std::vector<float>(1, 1.0f)), y = uploaded(stream, std::vector<float>(1, 0.0f));
  Event event;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) addBias(stream, 1, 1, Number::kFloat, x.data(), y.data());
    event.record(stream);
    EXPECT_EQ(*y.data(), static_cast<float>(8 * round + 4));
    for (int i = 0; i < 4; ++i) addBias(stream, 1, 1, Number::kFloat, x.data(), y.data());
    event.wait();
    EXPECT_EQ(*y.data(), static_cast<float>(8 * round + 8));
  }
}

TEST(CudaGraphs, ARefusedCaptureLeavesLaunches) {
  const Stream stream(0);
  stream.queue().repeat(stream, true);
  Steps steps(stream);
  EXPECT_EQ(steps.run(1), expected(1));
  failNextCapture();
  takeLaunches();
  EXPECT_EQ(steps.run(2), expected(2));
  expectLaunches(6, 0, 0, 1);
  EXPECT_EQ(steps.run(3), expected(3));
  EXPECT_EQ(steps.run(4), expected(4));
  expectLaunches(12, 0, 0);
  stream.queue().forget();  // as a net does after an error
  for (float begin = 1; begin < 4; ++begin) EXPECT_EQ(steps.run(begin), expected(begin));
  expectLaunches(6, 2, 1);
}

TEST(CudaGraphs, WhatWaitsWhenAForwardFailsNeverRuns) {
  const Stream stream(0);
  stream.queue().repeat(stream, true);
  Buffer<float> y(stream, kElements);
  const auto clearFourTimes = [&] {
    for (int i = 0; i < 4; ++i) clear(stream, y.data() + i, sizeof(float));
  };
  clearFourTimes();
  stream.wait();
  takeLaunches();
  clearFourTimes();  // wait to be repeated
  stream.queue().forget();
  stream.wait();
  expectLaunches(0, 0, 0);
}

TEST(CudaGraphs, ACaptureRefusesWhatCudaRefuses) {
  const Stream stream(0);
  Buffer<float> x(stream, 1);
  float host = 3;
  Event event;
  event.record(stream);
  const std::function<void()> forbidden[] = {
      [&] { Buffer<float>(stream, 1); },
      [&] { upload(stream, &host, x.data(), sizeof(float)); },
      [&] { download(stream, x.data(), &host, sizeof(float)); },
      [&] { stream.wait(); },
      [&] { event.wait(); },
      [&] { event.record(stream); },
      [&] { Graph(stream, [] {}); },
  };
  for (const auto& work : forbidden)
    EXPECT_MPM_ERROR(Graph(stream, work), "operation not permitted when stream is capturing");
  auto freed = std::make_unique<Buffer<float>>(stream, 1);
  EXPECT_MPM_ERROR(Graph(stream, [&] { freed.reset(); }), "previous error during capture");
  upload(stream, &host, x.data(), sizeof(float));
  stream.wait();
  EXPECT_EQ(*x.data(), 3);
}

}  // namespace
}  // namespace mpm::cuda
