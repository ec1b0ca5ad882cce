// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/random.h"
#include "kernels/reference.h"
#include "kernels/scratch.h"
#include "kernels/threads.h"
#include "mpm/error.hpp"
#include "support/throws_with.h"

namespace mpm {
namespace {

using test::Matrix;

double tolerance(int in, Precision precision = Precision::kFp32) {
  return (precision == Precision::kFp32 ? 5e-6 : 2e-2) * std::sqrt(static_cast<double>(in)) + 1e-6;
}

TEST(PackedLinear, MatchesDoublePrecision) {
  for (const int in : {1, 2, 3, 7, 20, 64, 97, 192, 768})
    for (const int out : {1, 5, 17, 64, 150, 192})
      for (const int rows : {1, 2, 15, 16, 17, 31, 67, 128}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << in << " -> " << out);
        const Matrix weight = Matrix::normal(out, in, 1), x = Matrix::normal(rows, in, 2, 1, in % 3);
        const std::vector<float> bias = test::normal(static_cast<std::size_t>(out), 3);
        const test::Reference expected = test::linear(test::Reference(x.view()), {weight.view(), bias.data()});
        Matrix y(rows, out, out % 4);
        PackedLinear(weight.view(), bias.data()).run(x.view(), y.view());
        ASSERT_LE(test::maxError(y.view(), expected), tolerance(in));
      }
}

TEST(PackedLinear, AccumulatesOnTopOfWhatIsThere) {
  for (const int rows : {3, 16, 50}) {
    const Matrix weight = Matrix::normal(70, 33, 1), x = Matrix::normal(rows, 33, 2);
    const std::vector<float> bias = test::normal(70, 3);
    Matrix y = Matrix::normal(rows, 70, 4, 1, 5);
    test::Reference expected = test::linear(test::Reference(x.view()), {weight.view(), bias.data()});
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < 70; ++j) expected.at(i, j) += static_cast<double>(y.at(i, j));
    PackedLinear(weight.view(), bias.data()).run(x.view(), y.view(), true);
    EXPECT_LE(test::maxError(y.view(), expected), tolerance(33));
  }
}

TEST(PackedLinear, WithoutBiasAddsNothing) {
  const Matrix weight = Matrix::normal(8, 4, 1);
  const Matrix x(5, 4);
  Matrix zero = x, y(5, 8);
  std::fill(zero.values.begin(), zero.values.end(), 0.0f);
  PackedLinear(weight.view(), nullptr).run(zero.view(), y.view());
  EXPECT_EQ(y.values, std::vector<float>(40, 0.0f));
}

TEST(PackedLinear, WhatTheCpuCannotIsRefused) {
  const Matrix weight = Matrix::normal(8, 4, 1);
  EXPECT_MPM_ERROR(PackedLinear(weight.view(), nullptr, Precision::kFp16),
                   "precision fp16 is for GPUs: on a CPU use fp32");
  EXPECT_MPM_ERROR(PackedLinear(weight.view(), nullptr, Precision::kTf32),
                   "precision tf32 is for GPUs: on a CPU use fp32");
  if (!cpuHasBf16()) {
    EXPECT_MPM_ERROR(PackedLinear(weight.view(), nullptr, Precision::kBf16), "has no bf16 arithmetic");
  }
}

TEST(PackedLinear, WeightRowsMayStandApart) {
  const Matrix weight = Matrix::normal(48, 40, 1, 1, 7), x = Matrix::normal(9, 40, 2);
  Matrix y(9, 48);
  PackedLinear(weight.view(), nullptr).run(x.view(), y.view());
  EXPECT_LE(test::maxError(y.view(), test::linear(test::Reference(x.view()), {weight.view(), nullptr})), tolerance(40));
}

// A tile's height must not show in its rows, or the result would depend on how many tokens and threads there are.
TEST(PackedLinear, RowsDoNotDependOnTheHeight) {
  const std::vector<int> all_heights = {1, 5, 16, 23, 48, 80, 96, 112, 127, 128, 192, 255};
  const std::vector<int> of_vit_b = {64, 192};  // few: under emulation these shapes take a minute
  for (const bool accumulate : {false, true})
    for (const auto& [in, out] :
         {std::pair{192, 576}, {192, 192}, {192, 768}, {768, 192}, {20, 33}, {768, 3072}, {3072, 768}}) {
      const Matrix weight = Matrix::normal(out, in, 1), x = Matrix::normal(PackedLinear::kMaxRows, in, 2);
      const std::vector<float> bias = test::normal(static_cast<std::size_t>(out), 3);
      const PackedLinear linear(weight.view(), bias.data());
      const Matrix start = Matrix::normal(PackedLinear::kMaxRows, out, 4);
      Matrix whole = start;
      linear.run(x.view(), whole.view(), accumulate);
      for (const int rows : in* out > 1000000 ? of_vit_b : all_heights) {
        Matrix part = start;
        linear.run(x.view().rowRange(0, rows), part.view().rowRange(0, rows), accumulate);
        ASSERT_EQ(
            std::memcmp(part.values.data(), whole.values.data(), static_cast<std::size_t>(rows * out) * sizeof(float)),
            0)
            << rows << " rows, " << in << " -> " << out;
      }
    }
}

// As the second linear of a gated MLP reads them, and a result within wider rows.
TEST(PackedLinear, GapsBetweenRowsChangeNothing) {
  const int in = 48, out = 33, rows = 71, gap = 7;
  const Matrix weight = Matrix::normal(out, in, 1), x = Matrix::normal(rows, in, 2),
               start = Matrix::normal(rows, out, 3);
  const Matrix wide_x = Matrix::normal(rows, in, 2, 1, gap), wide_start = Matrix::normal(rows, out, 3, 1, gap);
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    if (precision == Precision::kBf16 && !cpuHasBf16()) continue;
    const PackedLinear linear(weight.view(), nullptr, precision);
    for (const bool accumulate : {false, true}) {
      Matrix expected = start, found = wide_start;
      linear.run(x.view(), expected.view(), accumulate);
      linear.run(wide_x.view(), found.view(), accumulate);
      for (int i = 0; i < rows; ++i) {
        ASSERT_EQ(std::memcmp(found.view().row(i), expected.view().row(i), out * sizeof(float)), 0) << "row " << i;
        for (int k = 0; k < gap; ++k) ASSERT_TRUE(std::isnan(found.at(i, out + k))) << "row " << i;
      }
    }
  }
}

TEST(Scratch, IsAsLargeAsItSaysAfterThereWasNoMemory) {
  Scratch<float> scratch;
  scratch.atLeast(10);
  EXPECT_THROW(scratch.atLeast(std::size_t{1} << 60), std::bad_alloc);
  EXPECT_NE(scratch.atLeast(5), nullptr);
}

TEST(PackedLinear, ThreadsShareOneObject) {
  const Matrix weight = Matrix::normal(192, 96, 1), x = Matrix::normal(640, 96, 2);
  const PackedLinear linear(weight.view(), nullptr);
  Matrix serial(640, 192), parallel(640, 192);
  const auto task = [&](Matrix& y) {
    return [&](int t) { linear.run(x.view().rowRange(t * 20, t * 20 + 20), y.view().rowRange(t * 20, t * 20 + 20)); };
  };
  Serial().run(32, task(serial));
  test::Threads(4).run(32, task(parallel));
  EXPECT_EQ(serial.values, parallel.values);
}

TEST(PackedLinear, Bf16RoundsTheOperandsOnly) {
  const Matrix weight = Matrix::normal(192, 384, 1), x = Matrix::normal(37, 384, 2, 1, 3);
  const std::vector<float> bias = test::normal(192, 3);
  if (!cpuHasBf16()) {
    EXPECT_THROW(PackedLinear(weight.view(), bias.data(), Precision::kBf16), Error);
    GTEST_SKIP() << "no bf16 on this CPU";
  }
  // Values that bf16 holds exactly leave only fp32 sums.
  Matrix coarse_weight = weight, coarse_x = x;
  for (Matrix* matrix : {&coarse_weight, &coarse_x})
    for (float& value : matrix->values) value = std::round(value * 16) / 16;
  Matrix y(37, 192);
  PackedLinear(coarse_weight.view(), bias.data(), Precision::kBf16).run(coarse_x.view(), y.view());
  EXPECT_LE(
      test::maxError(y.view(), test::linear(test::Reference(coarse_x.view()), {coarse_weight.view(), bias.data()})),
      tolerance(384));
  PackedLinear(weight.view(), bias.data(), Precision::kBf16).run(x.view(), y.view());
  const double error = test::maxError(y.view(), test::linear(test::Reference(x.view()), {weight.view(), bias.data()}));
  EXPECT_LE(error, tolerance(384, Precision::kBf16));
  EXPECT_GE(error, tolerance(384)) << "that was fp32";
}

TEST(PackedLinear, Moves) {
  const Matrix weight = Matrix::normal(3, 2, 1), x = Matrix::normal(1, 2, 2);
  PackedLinear first(weight.view(), nullptr), second;
  second = std::move(first);
  EXPECT_EQ(second.in(), 2);
  EXPECT_EQ(second.out(), 3);
  Matrix y(1, 3);
  second.run(x.view(), y.view());
  EXPECT_LE(test::maxError(y.view(), test::linear(test::Reference(x.view()), {weight.view(), nullptr})), 1e-6);
}

}  // namespace
}  // namespace mpm
