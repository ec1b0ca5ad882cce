// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear.h"

#include <cstring>

#include "kernels/cpu/tiles.h"
#include "kernels/each_instruction_set.h"
#include "kernels/int8_rows.h"
#include "kernels/reference.h"
#include "kernels/scratch.h"
#include "kernels/threads.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

double tolerance(int in, Precision precision = Precision::kFp32) {
  return (precision == Precision::kFp32 ? 5e-6 : 2e-2) * std::sqrt(static_cast<double>(in)) + 1e-6;
}

test::Reference product(const Matrix& x, const Matrix& weight, const std::vector<float>& bias = {}) {
  return test::linear(test::Reference(x.view()), {weight.view(), bias.empty() ? nullptr : bias.data()});
}

TEST(PackedLinear, MatchesDoublePrecision) {
  for (const int in : {1, 2, 3, 7, 20, 64, 97, 192, 768})
    for (const int out : {1, 5, 17, 64, 150, 192})
      for (const int rows : {1, 2, 15, 16, 17, 31, 67, 128}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << in << " -> " << out);
        const Matrix weight = Matrix::normal(out, in, 1), x = Matrix::normal(rows, in, 2, 1, in % 3);
        const std::vector<float> bias = test::normal(out, 3);
        Matrix y(rows, out, out % 4);
        PackedLinear(weight.view(), bias.data()).run(x.view(), y.view());
        ASSERT_LE(test::maxError(y.view(), product(x, weight, bias)), tolerance(in));
      }
}

TEST(PackedLinear, AccumulatesOnTopOfWhatIsThere) {
  for (const int rows : {3, 16, 50}) {
    const Matrix weight = Matrix::normal(70, 33, 1), x = Matrix::normal(rows, 33, 2);
    const std::vector<float> bias = test::normal(70, 3);
    Matrix y = Matrix::normal(rows, 70, 4, 1, 5);
    test::Reference expected = product(x, weight, bias);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < 70; ++j) expected.at(i, j) += static_cast<double>(y.at(i, j));
    PackedLinear(weight.view(), bias.data()).run(x.view(), y.view(), true);
    EXPECT_LE(test::maxError(y.view(), expected), tolerance(33));
  }
}

TEST(PackedLinear, WithoutBiasAddsNothing) {
  const Matrix weight = Matrix::normal(8, 4, 1);
  Matrix zero(5, 4), y(5, 8);
  std::fill(zero.values.begin(), zero.values.end(), 0.0f);
  PackedLinear(weight.view(), nullptr).run(zero.view(), y.view());
  EXPECT_EQ(y.values, std::vector<float>(40, 0.0f));
}

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

TEST(PackedLinear, WeightRowsMayStandApart) {
  const Matrix weight = Matrix::normal(48, 40, 1, 1, 7), x = Matrix::normal(9, 40, 2);
  Matrix y(9, 48);
  PackedLinear(weight.view(), nullptr).run(x.view(), y.view());
  EXPECT_LE(test::maxError(y.view(), product(x, weight)), tolerance(40));
}

// A tile's height must not show in its rows, or the result would depend on how many tokens and threads there are.
TEST(PackedLinear, RowsDoNotDependOnTheHeight) {
  const std::vector<int> all_heights = {1, 5, 16, 23, 48, 80, 96, 112, 127, 128, 192, 255};
  const std::vector<int> of_vit_b = {64, 192};  // few: under emulation these shapes take a minute
  for (const auto& [precision, accumulate] : {std::pair{Precision::kFp32, false},
                                              {Precision::kFp32, true},
                                              {Precision::kInt8, true},
                                              {Precision::kFp16, false}})
    for (const auto& [in, out] :
         {std::pair{192, 576}, {192, 192}, {192, 768}, {768, 192}, {20, 33}, {768, 3072}, {3072, 768}}) {
      if (precision == Precision::kFp16 && !cpuHasFp16()) continue;
      const Matrix weight = Matrix::normal(out, in, 1), x = Matrix::normal(PackedLinear::kMaxRows, in, 2);
      const std::vector<float> bias = test::normal(out, 3);
      const PackedLinear linear(weight.view(), bias.data(), precision);
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
  for (const Precision precision : {Precision::kFp32, Precision::kBf16, Precision::kInt8, Precision::kFp16}) {
    if ((precision == Precision::kBf16 && !cpuHasBf16()) || (precision == Precision::kFp16 && !cpuHasFp16())) continue;
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
  EXPECT_LE(test::maxError(y.view(), product(coarse_x, coarse_weight, bias)), tolerance(384));
  PackedLinear(weight.view(), bias.data(), Precision::kBf16).run(x.view(), y.view());
  const double error = test::maxError(y.view(), product(x, weight, bias));
  EXPECT_LE(error, tolerance(384, Precision::kBf16));
  EXPECT_GE(error, tolerance(384)) << "that was fp32";
}

// Sums over 64 products are in fp16, which keeps 11 bits. Numbers far above its 65504 and far below its 6e-8 count too,
// because rows and weights are scaled by powers of two.
TEST(PackedLinear, Fp16OfAnyMagnitude) {
  if (!cpuHasFp16()) GTEST_SKIP() << "no fp16 arithmetic on this CPU";
  for (const int in : {1, 2, 3, 7, 20, 63, 64, 65, 97, 129, 192, 768, 3071})
    for (const int out : {1, 5, 17, 24, 25, 64, 150})
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
        for (int i = 0; i < rows; ++i)
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

void expectANanKeptInItsRow(Precision precision) {
  const Matrix weight = Matrix::normal(30, 70, 1);
  for (const float bad : {NAN, -NAN, INFINITY, -INFINITY})
    for (const int column : {0, 17, 69}) {
      Matrix x = Matrix::normal(9, 70, 2), y(9, 30);
      x.at(3, column) = bad;
      PackedLinear(weight.view(), nullptr, precision).run(x.view(), y.view());
      for (int i = 0; i < 9; ++i)
        for (int j = 0; j < 30; ++j) EXPECT_EQ(std::isnan(y.at(i, j)), i == 3) << i << ", " << j;
    }
}

TEST(PackedLinear, Fp16KeepsANanInItsRow) {
  if (!cpuHasFp16()) GTEST_SKIP() << "no fp16 arithmetic on this CPU";
  expectANanKeptInItsRow(Precision::kFp16);
}

void expectInt8Product(const Matrix& weight, const std::vector<float>& bias, const Matrix& x, const Matrix& before,
                       bool accumulate) {
  const TileKernel* const kernel = tileKernel(Precision::kInt8);
  const test::Int8Rows w(weight.view(), kernel != nullptr ? static_cast<float>(kernel->max_w) : 127.0f);
  const test::Int8Rows rounded(x.view(), 127.0f);
  Matrix y = before;
  PackedLinear(weight.view(), bias.data(), Precision::kInt8).run(x.view(), y.view(), accumulate);
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) {
      const int *const a = rounded.values[i].data(), *const b = w.values[j].data();
      std::int64_t sum = 0, magnitude = 0;
      for (int k = 0; k < x.cols; ++k) {
        const int product = a[k] * b[k];
        sum += product;
        magnitude += product < 0 ? -product : product;
      }
      const double unit = static_cast<double>(rounded.scales[i]) * static_cast<double>(w.scales[j]);
      const double start = accumulate ? static_cast<double>(before.at(i, j)) : 0, offset = static_cast<double>(bias[j]);
      // Without int8 instructions the sum is one of floats.
      const double terms = unit * static_cast<double>(cpuHasInt8() ? std::abs(sum) : magnitude);
      ASSERT_NEAR(y.at(i, j), unit * static_cast<double>(sum) + offset + start,
                  1e-6 * (terms + std::abs(offset) + std::abs(start)))
          << i << ", " << j;
    }
}

// With each instruction set: tiles with weights of 8 and of 7 bits, and sums of floats.
class Int8 : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Int8);

TEST_P(Int8, IsExactlyItsQuantisation) {
  for (const int in : {1, 2, 3, 7, 20, 64, 97, 192, 768, 3072})
    for (const int out : {1, 5, 17, 64, 150}) {
      const Matrix weight = Matrix::normal(out, in, 1, 1, in % 4);
      const std::vector<float> bias = test::normal(out, 3);
      for (const int rows : {1, 2, 15, 16, 17, 67, 256}) {
        if (rows > 17 && in * out > 30000) continue;
        SCOPED_TRACE(::testing::Message() << rows << " x " << in << " -> " << out);
        const Matrix x = Matrix::normal(rows, in, 2, 1, in % 3);
        expectInt8Product(weight, bias, x, Matrix::normal(rows, out, 4, 1, out % 4), rows % 2 == 0);
      }
    }
}

TEST_P(Int8, HoldsTheLargestSums) {
  const int in = 3072;
  Matrix weight = Matrix::normal(16, in, 1), x = Matrix::normal(16, in, 2);
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < in; ++k) {
      weight.at(i, k) = (i + k) % 5 == 0 && i > 3 ? -127.0f : 127.0f;
      x.at(i, k) = i % 2 == 0 ? -127.0f : 127.0f;
    }
  expectInt8Product(weight, std::vector<float>(16, 0.0f), x, Matrix(16, 16), false);
}

TEST_P(Int8, RowsOfZerosAndOutliers) {
  const std::vector<float> bias = test::normal(33, 3);
  const Matrix weight = Matrix::normal(33, 96, 1);
  Matrix x = Matrix::normal(5, 96, 2);
  std::fill_n(x.view().row(0), 96, 0.0f);
  std::fill_n(x.view().row(1), 96, -1e-40f);
  x.at(2, 7) = 1e30f;   // the others round to 0
  x.at(3, 95) = -3e4f;  // in the remainder of no vector
  expectInt8Product(weight, bias, x, Matrix(5, 33), false);
  Matrix zeros(33, 96), y(5, 33);
  std::fill(zeros.values.begin(), zeros.values.end(), 0.0f);
  PackedLinear(zeros.view(), bias.data(), Precision::kInt8).run(x.view(), y.view());
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 33; ++j) EXPECT_EQ(y.at(i, j), bias[j]);
}

// Cut into tasks of any height.
TEST_P(Int8, SameBytesForAnyNumberOfThreads) {
  const int rows = 203, in = 97, out = 150;
  const Matrix weight = Matrix::normal(out, in, 1), x = Matrix::normal(rows, in, 2, 1, 3);
  const std::vector<float> bias = test::normal(out, 3);
  const PackedLinear linear(weight.view(), bias.data(), Precision::kInt8);
  Matrix whole(rows, out);
  linear.run(x.view(), whole.view());
  for (int threads = 1; threads <= 4; ++threads) {
    for (const int height : {1, 7, 16, 67}) {
      Matrix parts(rows, out);
      runPieces(test::Threads(threads), rows, height, [&](int begin, int end) {
        linear.run(x.view().rowRange(begin, end), parts.view().rowRange(begin, end));
      });
      ASSERT_EQ(parts.values, whole.values) << threads << " threads, " << height << " rows";
    }
  }
}

TEST_P(Int8, KeepsANanInItsRow) { expectANanKeptInItsRow(Precision::kInt8); }

TEST(PackedLinear, Moves) {
  const Matrix weight = Matrix::normal(3, 2, 1), x = Matrix::normal(1, 2, 2);
  PackedLinear first(weight.view(), nullptr), second;
  second = std::move(first);
  EXPECT_EQ(second.in(), 2);
  EXPECT_EQ(second.out(), 3);
  Matrix y(1, 3);
  second.run(x.view(), y.view());
  EXPECT_LE(test::maxError(y.view(), product(x, weight)), 1e-6);
}

double value(const Operand& of, int i, int j) {
  return static_cast<double>(of.transposed ? of.view.row(j)[i] : of.view.row(i)[j]);
}

TEST(Multiply, MatchesDoublePrecisionInEveryOrder) {
  for (const auto& [rows, inner, cols] : {std::array{1, 1, 1}, {5, 3, 7}, {64, 280, 33}, {17, 9, 256}})
    for (const int gap : {0, 5})
      for (const int order : {0, 1, 2, 3})
        for (const bool accumulate : {false, true}) {
          const bool at = order & 1, bt = order & 2;
          const Matrix a = at ? Matrix::normal(inner, rows, 1, 1, gap) : Matrix::normal(rows, inner, 1, 1, gap);
          const Matrix b = bt ? Matrix::normal(cols, inner, 2, 1, gap) : Matrix::normal(inner, cols, 2, 1, gap);
          Matrix c = Matrix::normal(rows, cols, 3, 1, gap);
          const Matrix before = c;
          const Operand left{a.view(), at}, right{b.view(), bt};
          multiply(left, right, c.view(), accumulate);
          for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; ++j) {
              double sum = accumulate ? static_cast<double>(before.at(i, j)) : 0;
              for (int k = 0; k < inner; ++k) sum += value(left, i, k) * value(right, k, j);
              ASSERT_NEAR(static_cast<double>(c.at(i, j)), sum, 5e-6 * std::sqrt(inner) + 1e-6) << order;
            }
        }
}

}  // namespace
}  // namespace mpm
