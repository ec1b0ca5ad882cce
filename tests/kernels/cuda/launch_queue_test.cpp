// SPDX-License-Identifier: Apache-2.0
// Work that a stream repeats as a graph gives the bytes that it gives as launches.
// The same source is linked to the emulation of on_host.h, and to the kernels for a GPU (label cuda).
#include "kernels/cuda/launch_queue.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/cuda/device_values.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/random.h"

namespace mpm::cuda {
namespace {

class CudaLaunchQueue : public ::testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) {
      ASSERT_EQ(std::getenv("MPM_REQUIRE_GPU"), nullptr) << "no usable CUDA device here";
      GTEST_SKIP() << "no usable CUDA device here";
    }
    stream_ = std::make_unique<Stream>(devices().front().index);
  }
  const Stream& stream() const { return *stream_; }
  std::vector<float> fetched(const float* device, std::size_t count) const {
    return test::fetched(stream(), device, count);
  }

 private:
  std::unique_ptr<Stream> stream_;
};

// Each differs from the one before in one thing: the function, a number, an address, the order, the length.
TEST_F(CudaLaunchQueue, WhatDiffersRuns) {
  constexpr int kCount = 64;
  Buffer<float> a(stream(), kCount), b(stream(), kCount);
  const std::vector<float> values = mpm::test::normal(kCount, 1);
  const Buffer<float> bias = uploaded(stream(), mpm::test::normal(kCount, 2));
  struct Step {
    Activation activation = Activation::kGeluErf;
    int cols = kCount;
    bool into_b = false, copies_first = false, clears = false;
  };
  const Step usual;
  const auto run = [&](const Step& step) {
    upload(stream(), values.data(), a.data(), kCount * sizeof(float));
    upload(stream(), values.data(), b.data(), kCount * sizeof(float));
    stream().wait();
    float* const x = step.into_b ? b.data() : a.data();
    if (step.copies_first) copy(stream(), bias.data(), x, kCount * sizeof(float));
    addBias(stream(), kCount / step.cols, step.cols, Number::kFloat, bias.data(), x);
    activate(stream(), step.activation, false, 1, kCount, Number::kFloat, x, x);
    addBias(stream(), 1, kCount, Number::kFloat, bias.data(), a.data());
    if (!step.copies_first) copy(stream(), a.data(), b.data(), kCount / 2 * sizeof(float));
    addBias(stream(), 1, kCount, Number::kFloat, bias.data(), b.data());
    if (step.clears) clear(stream(), a.data(), 8 * sizeof(float));
    std::vector<float> all = fetched(a.data(), kCount);
    const std::vector<float> others = fetched(b.data(), kCount);
    all.insert(all.end(), others.begin(), others.end());
    return all;
  };
  const Step steps[] = {usual, usual,
                        usual, {.activation = Activation::kRelu},
                        usual, {.cols = kCount / 2},
                        usual, {.into_b = true},
                        usual, {.copies_first = true},
                        usual, {.clears = true},
                        usual};
  std::vector<std::vector<float>> expected;
  for (const Step& step : steps) expected.push_back(run(step));
  for (std::size_t i = 3; i < std::size(steps); i += 2) EXPECT_NE(expected[i], expected[0]) << i;
  stream().queue().repeat(stream(), true);
  for (int round = 0; round < 3; ++round)
    for (std::size_t i = 0; i < std::size(steps); ++i) EXPECT_EQ(run(steps[i]), expected[i]) << round << ", " << i;
}

// Commands that wait read their memory before it is freed.
TEST_F(CudaLaunchQueue, MemoryIsFreedAfterWhatWaits) {
  constexpr std::size_t kCount = 64, kPart = kCount / 4;
  const std::vector<float> values = mpm::test::normal(kCount, 3);
  Buffer<float> kept(stream(), kCount), passing = uploaded(stream(), values);
  stream().queue().repeat(stream(), true);
  for (int round = 0; round < 3; ++round) {
    clear(stream(), kept.data(), kCount * sizeof(float));
    stream().wait();
    for (std::size_t at = 0; at < kCount; at += kPart)
      copy(stream(), passing.data() + at, kept.data() + at, kPart * sizeof(float));
    if (round == 2) passing = {};
    EXPECT_EQ(fetched(kept.data(), kCount), values) << round;
  }
}

}  // namespace
}  // namespace mpm::cuda
