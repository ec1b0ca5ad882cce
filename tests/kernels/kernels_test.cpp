// SPDX-License-Identifier: Apache-2.0
// What tests/worlds/kernels does not ask.
#include <cmath>

#include "kernels/emulated_amx.h"
#include "kernels/instruction_set.h"
#include "kernels/linear.h"
#include "kernels/pairing.h"
#include "kernels/precision.h"
#include "kernels/random.h"
#include "kernels/scratch.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

TEST(InstructionSet, ForcedOneIsInUseAndTheListStays) {
  const std::vector<std::string> all = availableInstructionSets();
  ASSERT_FALSE(all.empty());
  for (const std::string& name : all) {
    setInstructionSet(name);
    EXPECT_EQ(instructionSet(), name);
    EXPECT_EQ(availableInstructionSets(), all);
  }
  setInstructionSet(all.front());
}

TEST(InstructionSet, UnknownNameIsAnErrorThatListsTheKnown) {
  for (const std::string& part : {std::string("'mmx'"), availableInstructionSets().front()})
    EXPECT_MPM_ERROR(setInstructionSet("mmx"), part);
}

// Two products that are 0, one of which fused multiplication rounds from below: -0. They tie, also in two panels.
TEST(Pairing, SignOfZeroDoesNotCount) {
  constexpr int kCount = 200;
  Matrix x(kCount, 3);
  for (int i = 0; i < 3 * kCount; ++i) x.at(i / 3, i % 3) = i % 3 == 0 ? -1.f : 0.f;
  x.at(0, 0) = 1;
  x.at(0, 2) = 1e-30f;
  x.at(1, 0) = x.at(kCount - 1, 0) = 0;
  x.at(1, 1) = 1;
  x.at(1, 2) = -1e-30f;
  x.at(kCount - 1, 1) = -1;
  for (const std::string& name : availableInstructionSets()) {
    setInstructionSet(name);
    std::vector<int> best(kCount, -1);
    EXPECT_TRUE(bestNeighbours(x.view(), best, Serial())) << name;
    EXPECT_EQ(best[0], 1) << name;
  }
  setInstructionSet(availableInstructionSets().front());
}

#if defined(__x86_64__)
// The emulation of AMX itself. That its products are right, tests/worlds/kernels shows.
TEST(EmulatedAmx, RefusesWhatTheCpuRefuses) {
  using Amx = test::EmulatedAmx;
  const auto sizes = [](std::initializer_list<std::pair<int, int>> tiles) {
    AmxConfiguration configuration;
    int next = 0;
    for (const auto& [rows, bytes] : tiles) {
      configuration.rows[next] = static_cast<std::uint8_t>(rows);
      configuration.row_bytes[next++] = static_cast<std::uint16_t>(bytes);
    }
    return configuration;
  };
  Amx::release();
  EXPECT_THROW(Amx::zero<0>(), std::logic_error);
  EXPECT_THROW(Amx::configure(sizes({{17, 64}})), std::logic_error);
  Amx::configure(sizes({{16, 64}, {16, 32}, {16, 64}}));
  EXPECT_THROW((Amx::multiplyInt8<0, 1, 2>()), std::logic_error) << "8 words of x, 16 of w";
  EXPECT_THROW(Amx::zero<3>(), std::logic_error);
  Amx::release();
}
#endif

TEST(PackedLinear, WhatTheCpuCannotIsRefused) {
  const Matrix weight = Matrix::normal(8, 4, 1);
  if (!cpuHasFp16()) {
    EXPECT_MPM_ERROR(PackedLinear(weight.view(), nullptr, Precision::kFp16),
                     "precision fp16 is for GPUs and Arm CPUs with fp16 arithmetic: on this CPU use fp32");
  }
  EXPECT_MPM_ERROR(PackedLinear(weight.view(), nullptr, Precision::kTf32),
                   "precision tf32 is for GPUs: on this CPU use fp32");
  if (!cpuHasBf16()) {
    EXPECT_MPM_ERROR(PackedLinear(weight.view(), nullptr, Precision::kBf16), "has no bf16 arithmetic");
  }
}

TEST(Scratch, IsAsLargeAsItSaysAfterThereWasNoMemory) {
  Scratch<float> scratch;
  scratch.atLeast(10);
  EXPECT_THROW(scratch.atLeast(std::size_t{1} << 60), std::bad_alloc);
  EXPECT_NE(scratch.atLeast(5), nullptr);
}

// Sums over 64 products are in fp16, which keeps 11 bits. Numbers far above its 65504 and far below its 6e-8 count too,
// because rows and weights are scaled by powers of two.
TEST(PackedLinear, Fp16OfAnyMagnitude) {
  if (!cpuHasFp16()) GTEST_SKIP() << "no fp16 arithmetic on this CPU";
  for (const int in : {1, 2, 3, 7, 20, 63, 64, 65, 97, 129, 192, 768, 3071}) {
    for (const int out : {1, 5, 17, 24, 25, 64, 150}) {
      for (const int rows : {1, 7, 8, 9, 16, 67}) {
        if (in > 200 && (rows > 9 || out > 25)) continue;
        SCOPED_TRACE(::testing::Message() << rows << " x " << in << " -> " << out);
        const float size = rows % 2 == 0 ? 1e8f : 1e-8f;
        const Matrix weight = Matrix::normal(out, in, 1, in % 2 == 0 ? 1e6f : 1e-4f, in % 4);
        const Matrix x = Matrix::normal(rows, in, 2, size, in % 3), before = Matrix::normal(rows, out, 4, 1, out % 4);
        const std::vector<float> bias = test::normal(out, 3);
        const bool accumulate = out % 2 == 0;
        Matrix y = before;
        PackedLinear(weight.view(), bias.data(), Precision::kFp16).run(x.view(), y.view(), accumulate);
        for (int i = 0; i < rows; ++i) {
          for (int j = 0; j < out; ++j) {
            double sum = 0, magnitude = 0;
            for (int k = 0; k < in; ++k) {
              const double product = static_cast<double>(x.at(i, k)) * static_cast<double>(weight.at(j, k));
              sum += product, magnitude += std::abs(product);
            }
            const double offset =
                static_cast<double>(bias[j]) + (accumulate ? static_cast<double>(before.at(i, j)) : 0);
            ASSERT_NEAR(y.at(i, j), sum + offset, 3e-3 * magnitude + 1e-6 * std::abs(offset) + 1e-6) << i << ", " << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mpm
