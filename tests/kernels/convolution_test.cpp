// SPDX-License-Identifier: Apache-2.0
// Convolutions against ONNX's definition in loops of double precision.
#include "kernels/convolution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/instruction_set.h"
#include "kernels/reference.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

constexpr Activation kRelu = Activation::kRelu;

struct Case {
  const char* name;
  int batch, height, width, channels, outputs, out_height, out_width;
  int groups, kernel[2], strides[2], dilations[2], pads[2];
  std::string with;  ///< t: transposed, r: ReLU of x, a: ReLU, g: GELU, +: an addend

  bool has(char letter) const { return with.find(letter) != std::string::npos; }
};

class Convolutions : public ::testing::TestWithParam<Case> {
 protected:
  void TearDown() override { setInstructionSet(availableInstructionSets().front()); }
};

TEST_P(Convolutions, AreOnnxs) {
  const Case& c = GetParam();
  ConvolutionSpec s;
  s.groups = c.groups, s.transposed = c.has('t'), s.relu_input = c.has('r');
  for (int i = 0; i < 2; ++i)
    s.kernel[i] = c.kernel[i], s.strides[i] = c.strides[i], s.dilations[i] = c.dilations[i], s.pads[i] = c.pads[i];
  if (c.has('a')) s.activation = kRelu;
  if (c.has('g')) s.activation = Activation::kGeluErf;
  const int taps = c.channels / s.groups * s.kernel[0] * s.kernel[1];
  const auto count = [](int pixels, int channels) { return static_cast<std::size_t>(pixels * channels); };
  const std::size_t size = count(c.batch * c.out_height * c.out_width, c.outputs);
  const auto x = test::normal(count(c.batch * c.height * c.width, c.channels), 1);
  const auto weight = test::normal(count(c.outputs, taps), 2, 1 / std::sqrt(static_cast<float>(taps)));
  const auto bias = test::normal(c.outputs, 3);
  s.channels = c.channels, s.outputs = c.outputs, s.weight = weight.data(), s.bias = bias.data();
  const auto addend = test::normal(size, 4);
  const std::vector<const float*> added(std::count(c.with.begin(), c.with.end(), '+'), addend.data());
  const MapsView<const float> from{x.data(), c.batch, c.height, c.width, c.channels};
  const auto truth = test::convolution(s, from, c.out_height, c.out_width, added);
  const auto compare = [&](const std::string& set, Precision precision) {
    SCOPED_TRACE(set + ", " + toString(precision));
    setInstructionSet(set);
    s.precision = precision;
    const Convolution convolution(s);
    std::vector<float> y(size, NAN), threaded(size, NAN);
    convolution.run(from, added, {y.data(), c.batch, c.out_height, c.out_width, c.outputs}, Serial());
    convolution.run(from, added, {threaded.data(), c.batch, c.out_height, c.out_width, c.outputs}, test::Threads(3));
    EXPECT_EQ(y, threaded);
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_NEAR(static_cast<double>(y[i]), truth[i], precision == Precision::kFp32 ? 2e-5 : 0.05) << i;
  };
  for (const std::string& set : availableInstructionSets()) {
    compare(set, Precision::kFp32);
    if (cpuHasBf16()) compare(set, Precision::kBf16);
  }
}

TEST(Convolution, ReluKeepsANan) {
  const float weight = 1, bias = 0, x[] = {NAN, 1};
  ConvolutionSpec s;
  s.channels = s.outputs = 1;
  s.weight = &weight, s.bias = &bias, s.relu_input = true;
  float y[2] = {};
  Convolution(s).run({x, 1, 1, 2, 1}, {}, {y, 1, 1, 2, 1}, Serial());
  EXPECT_TRUE(std::isnan(y[0]) && y[1] == 1);
}

const Case kCases[] = {{"SamePaddingInABatch", 2, 13, 17, 16, 24, 13, 17, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, ""},
                       {"SinglePixelsToOneChannel", 1, 20, 21, 32, 1, 20, 21, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, "a"},
                       {"PaddingBySide", 1, 7, 5, 3, 4, 9, 4, 1, {3, 2}, {1, 1}, {1, 1}, {3, 0}, ""},
                       {"SinglePixelsAndNoneBelow", 1, 6, 5, 16, 8, 8, 5, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, ""},
                       {"PaddingAtTheRight", 1, 5, 6, 4, 4, 5, 6, 1, {1, 3}, {1, 1}, {1, 1}, {0, 1}, ""},
                       {"StridesAndDilations", 2, 19, 23, 5, 7, 6, 10, 1, {3, 4}, {3, 2}, {2, 1}, {1, 1}, ""},
                       {"WindowBesideTheMap", 1, 2, 3, 4, 4, 6, 7, 1, {2, 2}, {1, 1}, {3, 3}, {4, 4}, ""},
                       {"ReluAndAddends", 2, 10, 14, 64, 64, 10, 14, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "r++"},
                       {"BlocksCutBySide", 2, 9, 6, 130, 70, 11, 5, 1, {3, 3}, {1, 1}, {1, 1}, {2, 0}, "ra+"},
                       {"WideBlocksCutBySide", 2, 9, 6, 99, 131, 11, 5, 1, {3, 3}, {1, 1}, {1, 1}, {2, 0}, "ra+"},
                       {"WideBlocksInSeveralCalls", 1, 33, 31, 390, 320, 33, 31, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, ""},
                       {"BlocksOfOneColumn", 1, 30, 1, 5, 33, 31, 1, 1, {3, 3}, {1, 1}, {1, 1}, {2, 1}, "+"},
                       {"AddendsThenGelu", 1, 6, 50, 8, 12, 6, 50, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "g+"},
                       {"SeveralProducts", 1, 5, 9, 400, 8, 5, 9, 1, {3, 3}, {1, 1}, {2, 2}, {2, 2}, "r"},
                       {"Groups", 2, 8, 9, 12, 18, 8, 9, 3, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "ra+"},
                       {"AsManyTapsAsGroups", 1, 6, 5, 8, 12, 6, 5, 2, {1, 2}, {1, 1}, {1, 1}, {0, 0}, ""},
                       {"EachChannel", 2, 8, 40, 24, 24, 4, 20, 24, {3, 3}, {2, 2}, {1, 1}, {1, 1}, "ra+"},
                       {"TransposedSideBySide", 2, 7, 9, 16, 8, 28, 18, 1, {4, 2}, {4, 2}, {1, 1}, {0, 0}, "tra+"},
                       {"TransposedWithGaps", 2, 5, 6, 4, 6, 15, 19, 2, {2, 2}, {3, 3}, {1, 4}, {0, 1}, "t+"},
                       {"TransposedCutBySide", 1, 4, 4, 6, 6, 6, 8, 6, {3, 3}, {2, 2}, {1, 1}, {2, 0}, "t"},
                       {"WholeTiles", 1, 10, 14, 64, 32, 10, 14, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, ""}};

INSTANTIATE_TEST_SUITE_P(, Convolutions, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Case>& one) { return one.param.name; });

}  // namespace
}  // namespace mpm
