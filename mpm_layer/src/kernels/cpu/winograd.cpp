// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/winograd.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/winograd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

// to[f * stride] = B^T x B of a block, f < 16.
void transformInput(const float* const* HWY_RESTRICT pixels, int channels, bool relu, float* HWY_RESTRICT to,
                    std::ptrdiff_t stride) {
  forElements(channels, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    const auto at = [&](int i) HWY_ATTR {
      const auto x = hn::LoadU(d, pixels[i] + c);
      return relu ? hn::Max(hn::Zero(d), x) : x;  // keeps a NaN
    };
    hn::Vec<decltype(d)> t[16];
    for (int j = 0; j < 4; ++j) {
      const auto x1 = at(4 + j), x2 = at(8 + j);
      t[j] = hn::Sub(at(j), x2);
      t[4 + j] = hn::Add(x1, x2);
      t[8 + j] = hn::Sub(x2, x1);
      t[12 + j] = hn::Sub(x1, at(12 + j));
    }
    for (int i = 0; i < 16; i += 4) {
      hn::StoreU(hn::Sub(t[i], t[i + 2]), d, to + i * stride + c);
      hn::StoreU(hn::Add(t[i + 1], t[i + 2]), d, to + (i + 1) * stride + c);
      hn::StoreU(hn::Sub(t[i + 2], t[i + 1]), d, to + (i + 2) * stride + c);
      hn::StoreU(hn::Sub(t[i + 1], t[i + 3]), d, to + (i + 3) * stride + c);
    }
  });
}

// The four rows of y += A^T sums A.
void transformOutput(const float* HWY_RESTRICT sums, std::ptrdiff_t stride, int outputs, float* HWY_RESTRICT y,
                     std::ptrdiff_t y_stride) {
  forElements(outputs, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    hn::Vec<decltype(d)> t[8];
    for (int j = 0; j < 4; ++j) {
      const auto at = [&](int i) HWY_ATTR { return hn::LoadU(d, sums + (4 * i + j) * stride + c); };
      const auto m1 = at(1), m2 = at(2);
      t[j] = hn::Add(hn::Add(at(0), m1), m2);
      t[4 + j] = hn::Sub(hn::Sub(m1, m2), at(3));
    }
    for (int i = 0; i < 2; ++i) {
      const auto* m = t + 4 * i;
      float *const first = y + 2 * i * y_stride + c, *const second = first + y_stride;
      hn::StoreU(hn::Add(hn::LoadU(d, first), hn::Add(hn::Add(m[0], m[1]), m[2])), d, first);
      hn::StoreU(hn::Add(hn::LoadU(d, second), hn::Sub(hn::Sub(m[1], m[2]), m[3])), d, second);
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
HWY_EXPORT(transformInput);
HWY_EXPORT(transformOutput);

Winograd::Winograd(const float* weight, int channels, int outputs) : channels_(channels), outputs_(outputs) {
  const auto in = static_cast<std::size_t>(channels), size = panelsFor(outputs) * in * kPanel;
  float* const panels = weights_.atLeast(16 * size);
  std::fill_n(panels, 16 * size, 0.0f);
  // G w G^T
  const auto spread = [](float a, float b, float c) {
    return std::array{a, 0.5f * (a + b + c), 0.5f * (a - b + c), c};
  };
  for (int o = 0; o < outputs; ++o)
    for (std::size_t c = 0; c < in; ++c, weight += 9) {
      std::array<float, 4> columns[3];
      for (int j = 0; j < 3; ++j) columns[j] = spread(weight[j], weight[3 + j], weight[6 + j]);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; const float value : spread(columns[0][i], columns[1][i], columns[2][i]))
          panels[(4 * i + j++) * size + (o / kPanel * in + c) * kPanel + o % kPanel] = value;
    }
}

void Winograd::run(const float* const* pixels, int blocks, bool relu, MatrixView<float> y) const {
  thread_local Scratch<float> input_scratch, sum_scratch;
  const int panels = panelsFor(outputs_), width = panels * kPanel;
  // A cache line more: else the 16 numbers of a block share one set of L1.
  const std::ptrdiff_t in_stride = static_cast<std::ptrdiff_t>(kMaxBlocks) * channels_ + 16,
                       sum_stride = static_cast<std::ptrdiff_t>(kMaxBlocks) * width + 16;
  float *const inputs = input_scratch.atLeast(16 * in_stride), *const sums = sum_scratch.atLeast(16 * sum_stride);
  for (int b = 0; b < blocks; ++b)
    HWY_DYNAMIC_DISPATCH(transformInput)(pixels + 16 * b, channels_, relu, inputs + b * channels_, in_stride);
  for (int f = 0; f < 16; ++f)
    for (int p = 0; p < panels; ++p)
      panelProduct(inputs + f * in_stride, channels_, blocks, channels_,
                   weights_.data() + static_cast<std::ptrdiff_t>(f * panels + p) * channels_ * kPanel,
                   sums + f * sum_stride + p * kPanel, width, std::min(outputs_ - p * kPanel, kPanel));
  for (int b = 0; b < blocks; ++b)
    HWY_DYNAMIC_DISPATCH(transformOutput)(sums + b * width, sum_stride, outputs_, y.row(4 * b), y.stride);
}

}  // namespace mpm
#endif  // HWY_ONCE
