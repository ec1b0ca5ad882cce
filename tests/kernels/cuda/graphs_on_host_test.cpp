// SPDX-License-Identifier: Apache-2.0
// What only the emulation can tell of graphs: what a capture forbids. How many launches the host makes:
// tests/onnx/cuda/emulated_device_test.cpp.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/emulation.h"
#include "kernels/cuda/launch_queue.h"
#include "support/throws_with.h"

namespace mpm::cuda {
namespace {

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

TEST(CudaGraphs, WhatWaitsWhenAForwardFailsNeverRuns) {
  const Stream stream(0);
  stream.queue().repeat(stream, true);
  Buffer<float> y(stream, 4);
  const auto clearFourTimes = [&] {
    for (int i = 0; i < 4; ++i) clear(stream, y.data() + i, sizeof(float));
  };
  clearFourTimes();
  stream.wait();
  test::takeLaunches();
  clearFourTimes();  // wait to be repeated
  stream.queue().forget();
  stream.wait();
  const test::Launches launches = test::takeLaunches();
  EXPECT_EQ(launches.commands + launches.graphs, 0);
}

TEST(CudaGraphs, ThreeCommandsAreNotWorthOne) {
  const Stream stream(0);
  stream.queue().repeat(stream, true);
  Buffer<float> y(stream, 4);
  test::takeLaunches();
  for (const int commands : {3, 4}) {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < commands; ++i) clear(stream, y.data() + i, sizeof(float));
      stream.wait();
    }
    EXPECT_EQ(test::takeLaunches().graphs, commands == 4 ? 2 : 0);
  }
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
