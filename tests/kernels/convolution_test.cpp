// SPDX-License-Identifier: Apache-2.0
// Convolutions against ONNX's definition in loops of double precision.
#include "kernels/convolution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/random.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

struct Case {
  const char* name;
  int batch, height, width, channels, outputs, out_height, out_width;
  ConvolutionSpec spec;  // all but channels, outputs and weights
  int addends = 0;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

ConvolutionSpec spec(int kh, int kw, int stride_h, int stride_w, int dilation_h, int dilation_w, int top, int left) {
  ConvolutionSpec result;
  const int values[4][2] = {{kh, kw}, {stride_h, stride_w}, {dilation_h, dilation_w}, {top, left}};
  for (int axis = 0; axis < 2; ++axis) {
    result.kernel[axis] = values[0][axis], result.strides[axis] = values[1][axis];
    result.dilations[axis] = values[2][axis], result.pads[axis] = values[3][axis];
  }
  return result;
}

ConvolutionSpec with(ConvolutionSpec spec, int groups, bool transposed, bool relu = false,
                     std::optional<Activation> activation = {}, Precision precision = Precision::kFp32) {
  spec.groups = groups, spec.transposed = transposed, spec.relu_input = relu;
  spec.activation = activation, spec.precision = precision;
  return spec;
}

/// Each pixel of x, or of y if transposed, is met by the weights around it.
std::vector<double> expected(const Case& c, const ConvolutionSpec& s, const std::vector<float>& x,
                             const std::vector<std::vector<float>>& addends) {
  std::vector<double> y(static_cast<std::size_t>(c.batch * c.out_height * c.out_width * c.outputs));
  const int in = c.channels / s.groups, out = c.outputs / s.groups;
  const auto at = [&](int b, int row, int column, int o) {
    return static_cast<std::size_t>(((b * c.out_height + row) * c.out_width + column) * c.outputs + o);
  };
  for (int b = 0; b < c.batch; ++b)
    for (int row = 0; row < (s.transposed ? c.height : c.out_height); ++row)
      for (int column = 0; column < (s.transposed ? c.width : c.out_width); ++column)
        for (int ky = 0; ky < s.kernel[0]; ++ky)
          for (int kx = 0; kx < s.kernel[1]; ++kx) {
            const int other_row = row * s.strides[0] + ky * s.dilations[0] - s.pads[0];
            const int other_column = column * s.strides[1] + kx * s.dilations[1] - s.pads[1];
            if (other_row < 0 || other_row >= (s.transposed ? c.out_height : c.height) || other_column < 0 ||
                other_column >= (s.transposed ? c.out_width : c.width))
              continue;
            const int x_row = s.transposed ? row : other_row, x_column = s.transposed ? column : other_column;
            const int y_row = s.transposed ? other_row : row, y_column = s.transposed ? other_column : column;
            for (int o = 0; o < c.outputs; ++o)
              for (int i = 0; i < in; ++i) {
                const float value = x[static_cast<std::size_t>(
                    ((b * c.height + x_row) * c.width + x_column) * c.channels + o / out * in + i)];
                y[at(b, y_row, y_column, o)] +=
                    static_cast<double>(s.relu_input && value < 0 ? 0 : value) *
                    static_cast<double>(s.weight[((o * in + i) * s.kernel[0] + ky) * s.kernel[1] + kx]);
              }
          }
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] += static_cast<double>(s.bias[i % static_cast<std::size_t>(c.outputs)]);
    for (const auto& addend : addends) y[i] += static_cast<double>(addend[i]);
    if (s.activation == Activation::kRelu) y[i] = std::max(y[i], 0.0);
    if (s.activation == Activation::kGeluErf) y[i] *= 0.5 * (1 + std::erf(y[i] / std::sqrt(2.0)));
  }
  return y;
}

class Convolutions : public ::testing::TestWithParam<Case> {};

TEST_P(Convolutions, AreOnnxs) {
  const Case& c = GetParam();
  ConvolutionSpec s = c.spec;
  if (s.precision == Precision::kBf16 && !cpuHasBf16()) GTEST_SKIP() << "no bf16 on this CPU";
  const int taps = c.channels / s.groups * s.kernel[0] * s.kernel[1];
  const auto count = [](int pixels, int channels) { return static_cast<std::size_t>(pixels * channels); };
  const std::size_t size = count(c.batch * c.out_height * c.out_width, c.outputs);
  const auto x = test::normal(count(c.batch * c.height * c.width, c.channels), 1);
  const auto weight = test::normal(count(c.outputs, taps), 2, 1 / std::sqrt(static_cast<float>(taps)));
  const auto bias = test::normal(static_cast<std::size_t>(c.outputs), 3);
  s.channels = c.channels, s.outputs = c.outputs, s.weight = weight.data(), s.bias = bias.data();
  std::vector<std::vector<float>> addends;
  std::vector<const float*> added;
  for (int i = 0; i < c.addends; ++i) addends.push_back(test::normal(size, 4 + static_cast<unsigned>(i)));
  for (const auto& addend : addends) added.push_back(addend.data());
  const Convolution convolution(s);
  std::vector<float> y(size, NAN), threaded(size, NAN);
  const MapsView<const float> from{x.data(), c.batch, c.height, c.width, c.channels};
  convolution.run(from, added, {y.data(), c.batch, c.out_height, c.out_width, c.outputs}, Serial());
  convolution.run(from, added, {threaded.data(), c.batch, c.out_height, c.out_width, c.outputs}, test::Threads(3));
  EXPECT_EQ(y, threaded);
  const auto truth = expected(c, s, x, addends);
  for (std::size_t i = 0; i < size; ++i)
    ASSERT_NEAR(static_cast<double>(y[i]), truth[i], s.precision == Precision::kFp32 ? 2e-5 : 0.05) << i;
}

const Case kCases[] = {
    {"SamePaddingInABatch", 2, 13, 17, 16, 24, 13, 17, spec(3, 3, 1, 1, 1, 1, 1, 1)},
    {"SinglePixels", 2, 9, 31, 20, 33, 9, 31, spec(1, 1, 1, 1, 1, 1, 0, 0)},
    {"SinglePixelsToOneChannel", 1, 20, 21, 32, 1, 20, 21,
     with(spec(1, 1, 1, 1, 1, 1, 0, 0), 1, false, false, Activation::kRelu)},
    {"SinglePixelsOfEachOtherRow", 1, 9, 8, 4, 5, 5, 8, spec(1, 1, 2, 1, 1, 1, 0, 0)},
    {"PaddingBySide", 1, 7, 5, 3, 4, 9, 4, spec(3, 2, 1, 1, 1, 1, 3, 0)},
    {"StridesAndDilations", 2, 19, 23, 5, 7, 6, 10, spec(3, 4, 3, 2, 2, 1, 1, 1)},
    {"WindowBesideTheMap", 1, 2, 3, 4, 4, 6, 7, spec(2, 2, 1, 1, 3, 3, 4, 4)},
    {"ReluAndAddends", 2, 10, 14, 64, 64, 10, 14, with(spec(3, 3, 1, 1, 1, 1, 1, 1), 1, false, true), 2},
    {"AddendsThenGelu", 1, 6, 50, 8, 12, 6, 50,
     with(spec(3, 3, 1, 1, 1, 1, 1, 1), 1, false, false, Activation::kGeluErf), 1},
    {"SeveralProducts", 1, 5, 9, 400, 8, 5, 9, with(spec(3, 3, 1, 1, 1, 1, 1, 1), 1, false, true), 1},
    {"Groups", 2, 8, 9, 12, 18, 8, 9, with(spec(3, 3, 1, 1, 1, 1, 1, 1), 3, false, true, Activation::kRelu), 1},
    {"EachChannel", 2, 8, 40, 24, 24, 4, 20, with(spec(3, 3, 2, 2, 1, 1, 1, 1), 24, false, true, Activation::kRelu), 1},
    {"EachChannelTwice", 1, 8, 9, 6, 12, 8, 9, with(spec(3, 3, 1, 1, 1, 1, 1, 1), 6, false)},
    {"TransposedSideBySide", 2, 7, 9, 16, 8, 28, 18,
     with(spec(4, 2, 4, 2, 1, 1, 0, 0), 1, true, true, Activation::kRelu), 1},
    {"TransposedOverlapping", 1, 7, 9, 16, 8, 14, 18, with(spec(4, 4, 2, 2, 1, 1, 1, 1), 1, true)},
    {"TransposedWithGapsAndDilations", 2, 5, 6, 4, 6, 15, 19, with(spec(2, 2, 3, 3, 1, 4, 0, 1), 2, true), 1},
    {"TransposedCutBySide", 1, 4, 4, 6, 6, 6, 8, with(spec(3, 3, 2, 2, 1, 1, 2, 0), 6, true)},
    {"Bf16", 1, 10, 14, 64, 32, 10, 14, with(spec(3, 3, 1, 1, 1, 1, 1, 1), 1, false, false, {}, Precision::kBf16)}};

INSTANTIATE_TEST_SUITE_P(, Convolutions, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Case>& one) { return one.param.name; });

}  // namespace
}  // namespace mpm
