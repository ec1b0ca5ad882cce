// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/on_device.h"
#include "kernels/reference.h"

namespace mpm::cuda {
namespace {

using mpm::test::Reference;

class CudaElementwise : public test::OnDevice {};

TEST_F(CudaElementwise, NormsOfRowsAndOfHeads) {
  for (const unsigned schedule : test::schedules())
    for (const auto& [dim, rms] : {std::pair(1, false),
                                   {3, false},
                                   {64, false},
                                   {100, false},
                                   {257, false},
                                   {3, true},
                                   {64, true},
                                   {257, true}}) {
      test::useSchedule(schedule);
      const int rows = 13, slices = 3;
      const std::vector<float> x = test::normal(rows * slices * dim, 1, 2, 5);
      const std::vector<float> weight = test::normal(dim, 2);
      const std::vector<float> bias = test::normal(dim, 3);
      const Buffer<float> device_x = uploaded(stream(), x), w = uploaded(stream(), weight),
                          b = uploaded(stream(), bias);
      const int stride = slices * dim;
      const NormCall call{rows, slices, dim, stride, stride, w.data(), b.data(), 1e-5f, rms};
      const Reference expected = mpm::test::norm(Reference(MatrixView<const float>(x.data(), rows * slices, dim)),
                                                 {weight.data(), bias.data(), 1e-5f, rms});
      Buffer<float> y(stream(), x.size());
      norm(stream(), call, Number::kFloat, device_x.data(), Number::kFloat, y.data());
      const std::vector<float> result = fetched(y.data(), x.size());
      EXPECT_LE(mpm::test::maxError({result.data(), rows * slices, dim}, expected), 2e-5) << dim;
      Buffer<Half> half(stream(), x.size());
      norm(stream(), call, Number::kFloat, device_x.data(), Number::kHalf, half.data());
      const std::vector<float> rounded = test::widenedAll(fetched(half.data(), x.size()));
      EXPECT_LE(mpm::test::maxError({rounded.data(), rows * slices, dim}, expected), 1e-2) << dim;
    }
}

TEST_F(CudaElementwise, ActivationsPlainAndGated) {
  for (const Activation activation : mpm::test::kActivations)
    for (const int cols : {5, 64}) {
      const int rows = 9;
      const std::vector<float> x = test::normal(rows * 2 * cols, 1, 4);
      const Buffer<float> device_x = uploaded(stream(), x);
      for (const bool gated : {false, true}) {
        const int count = gated ? rows : 2 * rows;
        Buffer<float> y(stream(), count * cols);
        activate(stream(), activation, gated, count, cols, Number::kFloat, device_x.data(), y.data());
        const std::vector<float> result = fetched(y.data(), count * cols);
        for (int r = 0; r < count; ++r)
          for (int c = 0; c < cols; ++c) {
            const std::size_t at = static_cast<std::size_t>(r * (gated ? 2 * cols : cols) + c);
            const double gate = gated ? static_cast<double>(x[at + static_cast<std::size_t>(cols)]) : 1.0;
            const double expected = mpm::test::activated(activation, static_cast<double>(x[at])) * gate;
            ASSERT_LE(std::abs(static_cast<double>(result[r * cols + c]) - expected),
                      1e-6 * (1 + std::abs(static_cast<double>(x[at]) * gate)))
                << "activation " << static_cast<int>(activation) << " of " << x[at];
          }
      }
    }
}

// Nothing but the rounding to halves may be seen, far out and near zero.
TEST_F(CudaElementwise, ActivationsOfHalvesInPlaceAndGated) {
  std::vector<float> x = test::normal(2 * 9 * 61, 1, 4);  // no multiple of eight
  for (std::size_t i = 0; i < 200; ++i) x[i] = 0.2f * static_cast<float>(i) - 20;
  x[200] = 1e4f, x[201] = -1e4f, x[202] = 1e-6f, x[203] = -1e-6f, x[204] = 0;
  const std::vector<Half> halves = test::narrowedAll<Half>(x);
  for (const Activation activation : mpm::test::kActivations)
    for (const bool gated : {false, true}) {
      const int rows = 9, cols = gated ? 61 : 2 * 61;
      Buffer<Half> device_x = uploaded(stream(), halves);
      Buffer<Half> apart(stream(), rows * cols);
      Half* const y = gated ? apart.data() : device_x.data();
      activate(stream(), activation, gated, rows, cols, Number::kHalf, device_x.data(), y);
      const std::vector<float> result = test::widenedAll(fetched(y, rows * cols));
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
          const std::size_t at = static_cast<std::size_t>(r * 2 * 61 + c);
          const auto from = static_cast<double>(test::widened(halves[at]));
          const double gate = gated ? static_cast<double>(test::widened(halves[at + 61])) : 1.0;
          const double expected = mpm::test::activated(activation, from) * gate;
          if (std::abs(expected) > 65000) continue;
          ASSERT_LE(std::abs(static_cast<double>(result[r * cols + c]) - expected),
                    std::abs(expected) * 0x1.01p-11 + 0x1p-24 + 3e-7 * (1 + std::abs(from)) * std::abs(gate))
              << "activation " << static_cast<int>(activation) << " of " << from << " times " << gate;
        }
    }
}

TEST_F(CudaElementwise, NumbersAreRoundedToNearest) {
  const std::vector<float> x = test::normal(301, 1, 3);
  Buffer<Half> halves(stream(), x.size());
  const Buffer<float> wide = uploaded(stream(), x);
  convert(stream(), wide.data(), x.size(), Number::kHalf, halves.data());
  const std::vector<float> rounded = test::widenedAll(fetched(halves.data(), x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LE(std::abs(rounded[i] - x[i]), std::abs(x[i]) * 0x1p-11f);
}

TEST_F(CudaElementwise, BiasOfEveryRow) {
  for (const int cols : {3, 40}) {
    const std::vector<float> x = test::normal(5 * cols, 1), bias = test::normal(cols, 2);
    Buffer<float> y = uploaded(stream(), x);
    const Buffer<float> device_bias = uploaded(stream(), bias);
    addBias(stream(), 5, cols, Number::kFloat, device_bias.data(), y.data());
    const std::vector<float> result = fetched(y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(result[i], x[i] + bias[i % static_cast<std::size_t>(cols)]);
  }
}

TEST_F(CudaElementwise, RowsOfLengthOne) {
  std::vector<float> x = test::normal(7 * 33, 1, 10);
  std::fill_n(x.begin() + 2 * 33, 33, 0.0f);
  Buffer<float> device_x = uploaded(stream(), x);
  normaliseRows(stream(), 7, 33, device_x.data());
  const std::vector<float> y = fetched(device_x.data(), x.size());
  for (int r = 0; r < 7; ++r) {
    double squares = 0;
    for (int k = 0; k < 33; ++k) squares += std::pow(static_cast<double>(y[r * 33 + k]), 2);
    EXPECT_LE(std::abs(squares - (r == 2 ? 0 : 1)), 1e-6);
    EXPECT_LE(std::abs(y[r * 33] * x[r * 33 + 1] - y[r * 33 + 1] * x[r * 33]), 1e-4f);
  }
}

// Operands as each precision rounds them, sums in fp32, every way of putting the result down.
TEST_F(CudaElementwise, LinearInEveryPrecision) {
  for (const int out : {1, 11, 19, 40, 150}) {  // heads have as many columns as classes
    const int rows = 37, in = 64;
    const Matrix weight = Matrix::normal(out, in, 1, 0.2f);
    const std::vector<float> bias = test::normal(out, 2), x = test::normal(rows * in, 3),
                             y0 = test::normal(rows * out, 4);
    const Reference product =
        mpm::test::linear(Reference(MatrixView<const float>(x.data(), rows, in)), {weight.view(), bias.data()});
    Gemm gemm(stream());
    for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16}) {
      if (precision == Precision::kBf16 && stream().device().major < 8) continue;
      const double tolerance = precision == Precision::kFp32 ? 1e-5 : precision == Precision::kBf16 ? 6e-2 : 8e-3;
      const Number operand = operandOf(precision);
      const Linear linear(stream(), weight.view(), bias.data(), precision);
      const Buffer<float> wide = uploaded(stream(), x);
      Memory narrow(stream(), x.size() * bytesOf(operand));
      convert(stream(), wide.data(), x.size(), operand, narrow.data());
      for (const Into into : {Into::kOperand, Into::kFloat, Into::kAddToFloat}) {
        Buffer<float> y = uploaded(stream(), y0);
        linear.run(stream(), gemm, narrow.data(), rows, into, y.data());
        Reference expected = product;
        std::vector<float> result;
        if (into == Into::kOperand && operand == Number::kHalf)
          result = test::widenedAll(fetched(reinterpret_cast<const Half*>(y.data()), y0.size()));
        else if (into == Into::kOperand && operand == Number::kBfloat)
          result = test::widenedAll(fetched(reinterpret_cast<const Bfloat*>(y.data()), y0.size()));
        else
          result = fetched(y.data(), y0.size());
        if (into == Into::kAddToFloat)
          for (std::size_t i = 0; i < y0.size(); ++i) expected.values[i] += static_cast<double>(y0[i]);
        EXPECT_LE(mpm::test::maxError({result.data(), rows, out}, expected), tolerance)
            << "precision " << static_cast<int>(precision) << " into " << static_cast<int>(into);
      }
    }
  }
}

}  // namespace
}  // namespace mpm::cuda
