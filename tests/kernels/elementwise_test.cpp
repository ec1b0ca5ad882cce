// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <bit>

#include "kernels/cpu/rounding.h"
#include "kernels/each_instruction_set.h"
#include "kernels/reference.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

class Elementwise : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Elementwise);

TEST_P(Elementwise, NormsOfAnyWidthAndStride) {
  for (const int dim : {1, 2, 3, 5, 7, 11, 13, 16, 17, 31, 64, 97, 192, 193, 768, 1024})
    for (const auto& [gap, rms] : {std::pair(0, false), std::pair(3, false), std::pair(0, true), std::pair(3, true)}) {
      const Matrix x = Matrix::normal(5, dim, 1, 3, gap);
      const std::vector<float> weight = test::normal(dim, 2), bias = test::normal(dim, 3);
      Matrix y(5, dim, 2 * gap);
      const NormWeights weights{weight.data(), bias.data(), 0.3f, rms};
      norm(x.view(), weights, y.view());
      const test::Reference expected = test::norm(test::Reference(x.view()), weights);
      ASSERT_LE(test::maxError(y.view(), expected), 1e-5) << dim;
      Matrix in_place = x;
      norm(in_place.view(), weights, in_place.view());
      ASSERT_LE(test::maxError(in_place.view(), expected), 1e-5) << dim;
    }
}

TEST_P(Elementwise, LayerNormKeepsPrecisionFarFromZero) {
  Matrix x = Matrix::normal(3, 192, 1);
  for (float& value : x.values) value += 1000;
  const std::vector<float> ones(192, 1.0f), zeros(192, 0.0f);
  Matrix y(3, 192);
  norm(x.view(), {ones.data(), zeros.data(), 1e-6f}, y.view());
  EXPECT_LE(test::maxError(y.view(), test::norm(test::Reference(x.view()), {ones.data(), zeros.data(), 1e-6f})), 3e-4);
}

TEST_P(Elementwise, ActivationsOverASweep) {
  std::vector<float> sweep;
  for (int i = -40000; i <= 40000; ++i) sweep.push_back(static_cast<float>(i) * 5e-4f);
  for (const float magnitude : {0.0f, 1e-38f, 1e-20f, 1e-7f, 30.0f, 88.0f, 100.0f, 1e4f})
    for (const float sign : {1.0f, -1.0f}) sweep.push_back(sign * magnitude);
  for (const Activation activation : test::kActivations) {
    std::vector<float> y = sweep;
    activate(activation, {y.data(), 1, static_cast<int>(y.size())});
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double expected = test::activated(activation, static_cast<double>(sweep[i]));
      ASSERT_LE(std::abs(static_cast<double>(y[i]) - expected),
                3e-7 * std::max(std::abs(static_cast<double>(sweep[i])), std::abs(expected)))
          << "activation " << static_cast<int>(activation) << " of " << sweep[i] << " is " << y[i] << ", not "
          << expected;
    }
  }
}

TEST_P(Elementwise, ActivationsKeepNaN) {
  for (const Activation activation : test::kActivations) {
    std::vector<float> y(19, std::numeric_limits<float>::quiet_NaN());
    activate(activation, {y.data(), 1, 19});
    for (const float value : y) EXPECT_TRUE(std::isnan(value)) << static_cast<int>(activation);
  }
}

TEST_P(Elementwise, ActivationOfAnElementDoesNotDependOnItsPlace) {
  for (const Activation activation : test::kActivations) {
    const std::vector<float> x = test::normal(67, 1);
    std::vector<float> together = x;
    activate(activation, {together.data(), 1, 67});
    for (std::size_t i = 0; i < x.size(); ++i) {
      float alone = x[i];
      activate(activation, {&alone, 1, 1});
      ASSERT_EQ(alone, together[i]) << i;
    }
  }
}

TEST_P(Elementwise, GatedMultipliesByTheSecondHalf) {
  for (const int half : {1, 5, 16, 37}) {
    const Matrix x = Matrix::normal(3, 2 * half, 1, 1, 3);
    Matrix y = x;
    activateGated(Activation::kSilu, y.view());
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < half; ++j) {
        const double expected = test::activated(Activation::kSilu, static_cast<double>(x.at(i, j))) *
                                static_cast<double>(x.at(i, half + j));
        ASSERT_NEAR(y.at(i, j), expected, 1e-6);
        ASSERT_EQ(y.at(i, half + j), x.at(i, half + j));
      }
  }
}

TEST_P(Elementwise, Bf16RoundsToNearestEven) {
  std::vector<float> from;
  for (std::uint32_t bits = 0x3f7ffff0u; bits < 0x3f830010u; bits += 7) from.push_back(std::bit_cast<float>(bits));
  from.insert(from.end(), {0.0f, -0.0f, -1.5f, 1e-40f, 3.4e38f, INFINITY, -INFINITY});
  std::vector<std::uint16_t> to(from.size());
  toBf16(from.data(), to.data(), static_cast<int>(from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto back = [](std::uint32_t high) { return static_cast<double>(std::bit_cast<float>(high << 16)); };
    const std::uint32_t below = std::bit_cast<std::uint32_t>(from[i]) >> 16;  // towards zero
    const double x = static_cast<double>(from[i]);
    std::uint32_t expected = below;
    if (x != back(below) && std::isfinite(x)) {
      const double low = std::abs(x - back(below)),
                   high = std::isinf(back(below + 1)) ? 0 : std::abs(back(below + 1) - x);
      if (high < low || (high == low && (below & 1u) != 0)) expected = below + 1;
    }
    ASSERT_EQ(to[i], expected) << from[i];
    std::uint16_t alone;  // no vector
    toBf16(&from[i], &alone, 1);
    ASSERT_EQ(alone, expected) << from[i];
  }
  const std::vector<float> nan(33, std::bit_cast<float>(0x7fffffffu));  // rounded as a number it is -0
  std::vector<std::uint16_t> rounded(33);
  toBf16(nan.data(), rounded.data(), 33);
  for (const std::uint16_t value : rounded) EXPECT_TRUE(std::isnan(std::bit_cast<float>(std::uint32_t{value} << 16)));
}

TEST(ParseActivation, KnowsTheNamesOfTheCatalogue) {
  EXPECT_EQ(parseActivation("gelu_erf"), Activation::kGeluErf);
  EXPECT_EQ(parseActivation("gelu_tanh"), Activation::kGeluTanh);
  EXPECT_EQ(parseActivation("gelu_quick"), Activation::kGeluQuick);
  EXPECT_EQ(parseActivation("relu"), Activation::kRelu);
  EXPECT_EQ(parseActivation("silu"), Activation::kSilu);
  EXPECT_EQ(parseActivation("relu_squared"), Activation::kReluSquared);
  EXPECT_EQ(parseActivation("elu"), Activation::kElu);
  EXPECT_EQ(parseActivation("mish"), Activation::kMish);
  EXPECT_EQ(parseActivation("hard_swish"), Activation::kHardSwish);
  EXPECT_THROW(parseActivation("gelu"), Error);
}

}  // namespace
}  // namespace mpm
