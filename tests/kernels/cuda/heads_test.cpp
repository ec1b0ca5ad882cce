// SPDX-License-Identifier: Apache-2.0
// Operators of heads on a device, against plain loops in double precision.
#include <cmath>
#include <limits>

#include "base/element_functions.h"
#include "kernels/cuda/convolution.h"
#include "kernels/cuda/on_device.h"
#include "kernels/cuda/tensor.h"
#include "kernels/reference.h"
#include "support/throws_with.h"

namespace mpm::cuda {
namespace {

class CudaHeads : public test::OnDevice {};

struct ConvolutionCase {
  int batch, height, width, channels, outputs, out_height, out_width, groups;
  bool transposed;
  int kernel[2], strides[2], dilations[2], pads[2];
  bool relu, gelu;
  int addends;
};

TEST_F(CudaHeads, ConvolutionsAreOnnxs) {
  const ConvolutionCase cases[] = {
      {2, 7, 9, 6, 5, 7, 9, 1, false, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false, false, 0},
      {1, 6, 7, 8, 3, 6, 7, 1, false, {1, 1}, {1, 1}, {1, 1}, {0, 0}, true, true, 1},
      {1, 9, 11, 4, 6, 4, 5, 1, false, {3, 2}, {2, 2}, {1, 2}, {1, 0}, false, false, 2},
      {2, 6, 5, 12, 18, 6, 5, 3, false, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, false, 1},
      {1, 5, 6, 8, 8, 5, 6, 8, false, {3, 3}, {1, 1}, {2, 2}, {2, 2}, false, false, 0},
      {2, 4, 5, 6, 4, 8, 10, 1, true, {2, 2}, {2, 2}, {1, 1}, {0, 0}, false, true, 0},
      {1, 4, 5, 3, 7, 13, 9, 1, true, {4, 3}, {3, 2}, {1, 1}, {0, 1}, true, false, 1},
      {1, 4, 4, 6, 6, 6, 8, 6, true, {3, 3}, {2, 2}, {1, 1}, {2, 0}, false, false, 0},
  };
  Gemm gemm(stream());
  ConvolutionWorkspace workspace;
  for (const std::size_t most : {std::size_t{1} << 20, std::size_t{700}})  // all rows at once, and a few at a time
    for (const ConvolutionCase& c : cases) {
      SCOPED_TRACE(&c - cases);
      workspace.most_gathered = most;
      ConvolutionSpec s;
      s.channels = c.channels, s.outputs = c.outputs, s.groups = c.groups;
      s.transposed = c.transposed, s.relu_input = c.relu;
      for (int i = 0; i < 2; ++i)
        s.kernel[i] = c.kernel[i], s.strides[i] = c.strides[i], s.dilations[i] = c.dilations[i], s.pads[i] = c.pads[i];
      if (c.gelu) s.activation = Activation::kGeluErf;
      const int taps = c.channels / c.groups * c.kernel[0] * c.kernel[1];
      const std::vector<float> x = test::normal(c.batch * c.height * c.width * c.channels, 1),
                               weight = test::normal(c.outputs * taps, 2, 1 / std::sqrt(static_cast<float>(taps))),
                               bias = test::normal(c.outputs, 3),
                               addend = test::normal(c.batch * c.out_height * c.out_width * c.outputs, 4);
      s.weight = weight.data(), s.bias = bias.data();
      const std::vector<double> truth =
          mpm::test::convolution(s, {x.data(), c.batch, c.height, c.width, c.channels}, c.out_height, c.out_width,
                                 std::vector<const float*>(static_cast<std::size_t>(c.addends), addend.data()));
      const Buffer<float> device_x = uploaded(stream(), x), added = uploaded(stream(), addend);
      Buffer<float> y(stream(), truth.size());
      Convolution(stream(), s)
          .run(stream(), gemm, workspace, {device_x.data(), c.batch, c.height, c.width, c.channels},
               std::vector<const float*>(static_cast<std::size_t>(c.addends), added.data()),
               {y.data(), c.batch, c.out_height, c.out_width, c.outputs});
      const std::vector<float> found = fetched(y.data(), truth.size());
      for (std::size_t i = 0; i < truth.size(); ++i) ASSERT_NEAR(static_cast<double>(found[i]), truth[i], 2e-5) << i;
    }
}

// Every function of the CPU's layers, in double, with zeros, halves, NaN and infinities among the operands.
TEST_F(CudaHeads, FunctionsOfElements) {
  std::vector<float> a = test::normal(3 * 4 * 5, 1, 2), b = test::normal(4, 2);
  for (float& value : a) value = std::round(2 * value) / 2;
  a[7] = std::numeric_limits<float>::quiet_NaN(), a[21] = 0, a[22] = 40, a[23] = -40;
  a[30] = std::numeric_limits<float>::infinity();
  b[2] = 0.5f, b[3] = 0;
  const std::vector<float> c = {0.75f};
  const Buffer<float> x[3] = {uploaded(stream(), a), uploaded(stream(), b), uploaded(stream(), c)};
  for (const ElementFunction<double>& function : kElementFunctions<double>) {
    SCOPED_TRACE(function.name);
    // {3, 4, 5}, {4, 1} and {1}.
    ElementLayout layout{.rank = 3, .shape = {3, 4, 5}, .steps = {{20, 5, 1}, {0, 1, 0}, {0, 0, 0}}};
    Buffer<float> y(stream(), a.size());
    ASSERT_TRUE(deviceFunction(function.name).has_value());
    mapElements(stream(), *deviceFunction(function.name), layout, {x[0].data(), x[1].data(), x[2].data()}, y.data());
    const std::vector<float> found = fetched(y.data(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double truth =
          function.value(static_cast<double>(a[i]), static_cast<double>(b[i / 5 % 4]), static_cast<double>(c[0]));
      if (std::isnan(truth))
        ASSERT_TRUE(std::isnan(found[i])) << i;
      else if (std::abs(truth) > 1e30)
        ASSERT_EQ(found[i], static_cast<float>(truth)) << i;
      else
        ASSERT_NEAR(static_cast<double>(found[i]), truth, 2e-6 * (1 + std::abs(truth))) << i;
    }
  }
  EXPECT_FALSE(deviceFunction("Gamma").has_value());
  EXPECT_FALSE(deviceFunction("").has_value());
}

TEST_F(CudaHeads, AnotherOrderOfAxes) {
  const std::vector<float> x = test::normal(2 * 3 * 4, 1);
  const Buffer<float> device_x = uploaded(stream(), x);
  Buffer<float> y(stream(), x.size());
  const ElementLayout layout{.rank = 3, .shape = {4, 2, 3}, .steps = {{1, 12, 4}}};
  mapElements(stream(), DeviceFunction::kCopy, layout, {device_x.data(), device_x.data(), device_x.data()}, y.data());
  const std::vector<float> found = fetched(y.data(), x.size());
  for (int i = 0; i < 24; ++i) EXPECT_EQ(found[i], x[i / 3 % 2 * 12 + i % 3 * 4 + i / 6]);
}

TEST_F(CudaHeads, BlocksSideBySide) {
  const std::vector<float> a = test::normal(3 * 4, 1), b = test::normal(3 * 2, 2);
  const Buffer<float> x[2] = {uploaded(stream(), a), uploaded(stream(), b)};
  Buffer<float> y(stream(), 3 * 6);
  copyBlocks(stream(), x[0].data(), 3, 4, 6, y.data());
  copyBlocks(stream(), x[1].data(), 3, 2, 6, y.data() + 4);
  const std::vector<float> found = fetched(y.data(), 18);
  for (int i = 0; i < 18; ++i) EXPECT_EQ(found[i], i % 6 < 4 ? a[i / 6 * 4 + i % 6] : b[i / 6 * 2 + i % 6 - 4]);
}

TEST_F(CudaHeads, WindowsAlongAnAxis) {
  const int outer = 2, side = 5, inner = 3;
  const std::vector<float> x = test::normal(outer * side * inner, 1);
  const Buffer<float> device_x = uploaded(stream(), x);
  const auto at = [&](int o, int s, int i) { return x[(o * side + s) * inner + i]; };
  const std::vector<int> indices = {0, 1, 4, 2, 3, 3, 1, 0};
  const std::vector<float> weights = {0.25f, 0.75f, 1, -2, 0.5f, 0.5f, 3, 1};
  for (const bool sums : {true, false}) {
    Buffer<float> y(stream(), outer * 4 * inner);
    Windows(stream(), indices, sums ? weights : std::vector<float>(), 2, {})
        .run(stream(), device_x.data(), outer, side, inner, y.data());
    const std::vector<float> found = fetched(y.data(), y.capacity());
    for (int o = 0; o < outer; ++o)
      for (int p = 0; p < 4; ++p)
        for (int i = 0; i < inner; ++i) {
          const float first = at(o, indices[2 * p], i), second = at(o, indices[2 * p + 1], i);
          EXPECT_NEAR(found[(o * 4 + p) * inner + i],
                      sums ? weights[2 * p] * first + weights[2 * p + 1] * second : std::max(first, second), 1e-6);
        }
  }
  Buffer<float> y(stream(), outer * 2 * inner);
  Windows(stream(), {-1, 4}, {}, 1, 7.0f).run(stream(), device_x.data(), outer, side, inner, y.data());
  const std::vector<float> found = fetched(y.data(), y.capacity());
  for (int i = 0; i < inner; ++i) {
    EXPECT_EQ(found[i], 7);
    EXPECT_EQ(found[inner + i], at(0, 4, i));
  }
  EXPECT_MPM_ERROR(Windows(stream(), {5}, {}, 1, {}).run(stream(), device_x.data(), outer, side, inner, y.data()),
                   "takes index 5 of 5");
}

TEST_F(CudaHeads, GroupsOfChannels) {
  const int batch = 2, channels = 6;
  for (const unsigned schedule : test::schedules())
    for (const auto& [groups, width] : {std::pair(1, 7), {3, 200}, {6, 31}}) {
      test::useSchedule(schedule);
      const std::vector<float> x = test::normal(batch * channels * width, 1, 2, 5), scale = test::normal(channels, 2),
                               offset = test::normal(channels, 3);
      const Buffer<float> device_x = uploaded(stream(), x), s = uploaded(stream(), scale),
                          o = uploaded(stream(), offset);
      Buffer<float> y(stream(), x.size());
      const int size = channels / groups * width;
      normaliseGroups(stream(), device_x.data(), static_cast<std::size_t>(batch * groups),
                      static_cast<std::size_t>(size), static_cast<std::size_t>(width), channels, 1e-3f, s.data(),
                      o.data(), y.data());
      const std::vector<float> found = fetched(y.data(), x.size());
      for (int slice = 0; slice < batch * groups; ++slice) {
        double mean = 0, variance = 0;
        for (int i = 0; i < size; ++i) mean += static_cast<double>(x[slice * size + i]) / size;
        for (int i = 0; i < size; ++i) variance += std::pow(static_cast<double>(x[slice * size + i]) - mean, 2) / size;
        for (int i = 0; i < size; ++i) {
          const int channel = (slice * size + i) / width % channels;
          ASSERT_NEAR(static_cast<double>(found[slice * size + i]),
                      (static_cast<double>(x[slice * size + i]) - mean) / std::sqrt(variance + 1e-3) *
                              static_cast<double>(scale[channel]) +
                          static_cast<double>(offset[channel]),
                      2e-5);
        }
      }
    }
}

}  // namespace
}  // namespace mpm::cuda
