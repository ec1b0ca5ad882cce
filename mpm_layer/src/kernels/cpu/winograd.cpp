// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/winograd.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/winograd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

#ifndef MPM_WINOGRAD_POINTS
#define MPM_WINOGRAD_POINTS
namespace mpm {
namespace {
// F(4x4, 3x3) sees polynomials at 0, +-kNear, +-kFar and infinity, where kNear^2 is 1/2 and kFar^2 is 2.
constexpr float kNear = 0.70710678118654752f, kFar = 1.41421356237309505f;
}  // namespace
}  // namespace mpm
#endif

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

// The transforms of one axis. kSide: output pixels; seen: input pixels. Numbers stand `step` vectors apart.
template <int kSide>
struct Axis;

template <>
struct Axis<2> {
  static constexpr int kSeen = 4;
  template <class D, class V>
  static HWY_INLINE void spread(D, const V (&x)[kSeen], V* t, int step) {
    t[0] = hn::Sub(x[0], x[2]);
    t[step] = hn::Add(x[1], x[2]);
    t[2 * step] = hn::Sub(x[2], x[1]);
    t[3 * step] = hn::Sub(x[1], x[3]);
  }
  template <class D, class V>
  static HWY_INLINE void collect(D, const V (&m)[kSeen], V* y, int step) {
    y[0] = hn::Add(hn::Add(m[0], m[1]), m[2]);
    y[step] = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
  }
};

template <>
struct Axis<4> {
  static constexpr int kSeen = 6;
  template <class D, class V>
  static HWY_INLINE void spread(D d, const V (&x)[kSeen], V* t, int step) {
    const auto two = hn::Set(d, 2.0f), half = hn::Set(d, 0.5f), sum = hn::Set(d, 2.5f);
    const auto near = hn::Set(d, kNear), far = hn::Set(d, kFar);
    const auto near_even = hn::NegMulAdd(two, x[2], x[4]), near_odd = hn::NegMulAdd(two, x[1], x[3]);
    const auto far_even = hn::NegMulAdd(half, x[2], x[4]), far_odd = hn::NegMulAdd(half, x[1], x[3]);
    t[0] = hn::Add(hn::NegMulAdd(sum, x[2], x[4]), x[0]);
    t[step] = hn::MulAdd(near, near_odd, near_even);
    t[2 * step] = hn::NegMulAdd(near, near_odd, near_even);
    t[3 * step] = hn::MulAdd(far, far_odd, far_even);
    t[4 * step] = hn::NegMulAdd(far, far_odd, far_even);
    t[5 * step] = hn::Add(hn::NegMulAdd(sum, x[3], x[5]), x[1]);
  }
  template <class D, class V>
  static HWY_INLINE void collect(D d, const V (&m)[kSeen], V* y, int step) {
    const auto near_even = hn::Add(m[1], m[2]), near_odd = hn::Mul(hn::Set(d, kNear), hn::Sub(m[1], m[2]));
    const auto far_even = hn::Add(m[3], m[4]), far_odd = hn::Mul(hn::Set(d, kFar), hn::Sub(m[3], m[4]));
    const auto two = hn::Set(d, 2.0f), half = hn::Set(d, 0.5f);
    y[0] = hn::Add(m[0], hn::Add(near_even, far_even));
    y[step] = hn::Add(near_odd, far_odd);
    y[2 * step] = hn::MulAdd(two, far_even, hn::Mul(half, near_even));
    y[3 * step] = hn::Add(m[5], hn::MulAdd(two, far_odd, hn::Mul(half, near_odd)));
  }
};

// to[f * stride] = the spread numbers of a block, f < kSeen * kSeen.
template <int kSide>
HWY_INLINE void spreadBlock(const float* const* HWY_RESTRICT pixels, int channels, bool relu, float* HWY_RESTRICT to,
                            std::ptrdiff_t stride) {
  constexpr int kSeen = Axis<kSide>::kSeen;
  forElements(channels, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    V t[kSeen * kSeen], axis[kSeen];
    for (int j = 0; j < kSeen; ++j) {
      for (int i = 0; i < kSeen; ++i) {
        const auto x = hn::LoadU(d, pixels[kSeen * i + j] + c);
        axis[i] = relu ? hn::Max(hn::Zero(d), x) : x;  // keeps a NaN
      }
      Axis<kSide>::spread(d, axis, t + j, kSeen);
    }
    for (int i = 0; i < kSeen; ++i) {
      V row[kSeen];
      for (int j = 0; j < kSeen; ++j) axis[j] = t[kSeen * i + j];
      Axis<kSide>::spread(d, axis, row, 1);
      for (int j = 0; j < kSeen; ++j) hn::StoreU(row[j], d, to + (kSeen * i + j) * stride + c);
    }
  });
}

// The kSide * kSide rows of y += the pixels that the sums of a block give.
template <int kSide>
HWY_INLINE void collectBlock(const float* HWY_RESTRICT sums, std::ptrdiff_t stride, int outputs, float* HWY_RESTRICT y,
                             std::ptrdiff_t y_stride) {
  constexpr int kSeen = Axis<kSide>::kSeen;
  forElements(outputs, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    V t[kSide * kSeen], axis[kSeen];
    for (int j = 0; j < kSeen; ++j) {
      for (int i = 0; i < kSeen; ++i) axis[i] = hn::LoadU(d, sums + (kSeen * i + j) * stride + c);
      Axis<kSide>::collect(d, axis, t + j, kSeen);
    }
    for (int i = 0; i < kSide; ++i) {
      V row[kSide];
      for (int j = 0; j < kSeen; ++j) axis[j] = t[kSeen * i + j];
      Axis<kSide>::collect(d, axis, row, 1);
      for (int j = 0; j < kSide; ++j) {
        float* const to = y + (kSide * i + j) * y_stride + c;
        hn::StoreU(hn::Add(hn::LoadU(d, to), row[j]), d, to);
      }
    }
  });
}

void spread(int side, const float* const* pixels, int channels, bool relu, float* to, std::ptrdiff_t stride) {
  if (side == 2) return spreadBlock<2>(pixels, channels, relu, to, stride);
  spreadBlock<4>(pixels, channels, relu, to, stride);
}

void collect(int side, const float* sums, std::ptrdiff_t stride, int outputs, float* y, std::ptrdiff_t y_stride) {
  if (side == 2) return collectBlock<2>(sums, stride, outputs, y, y_stride);
  collectBlock<4>(sums, stride, outputs, y, y_stride);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
namespace {

HWY_EXPORT(spread);
HWY_EXPORT(collect);

constexpr std::size_t kOfLastCache = std::size_t{16} << 20;  // bytes that a usual CPU keeps

// The transform of three weights along an axis: as many numbers as a block sees pixels.
void spreadWeights(int side, const double* w, int step, double* to, int to_step) {
  const double first = w[0], middle = w[step], last = w[2 * step];
  const auto put = [&](int i, double value) { to[i * to_step] = value; };
  if (side == 2) {
    put(0, first);
    put(1, (first + middle + last) / 2);
    put(2, (first - middle + last) / 2);
    return put(3, last);
  }
  const double near = std::sqrt(0.5) * middle, far = std::sqrt(2.0) * middle;
  put(0, first);
  put(1, -(first + near + last / 2) / 1.5);
  put(2, -(first - near + last / 2) / 1.5);
  put(3, (first + far + 2 * last) / 6);
  put(4, (first - far + 2 * last) / 6);
  put(5, last);
}

}  // namespace

Winograd::Winograd(const float* weight, int channels, int outputs, const TileKernel* kernel)
    : channels_(channels),
      outputs_(outputs),
      kernel_(kernel),
      words_(kernel != nullptr ? kernel->wordsFor(channels) : channels) {
  const std::size_t all_panels = static_cast<std::size_t>(products()) * panels(), words = all_panels * ofPanel();
  max_blocks_ = kernel != nullptr ? 48 : words * sizeof(float) > kOfLastCache ? kMaxBlocks : 24;
  std::uint32_t* const packed = weights_.atLeast(words);
  float* const scales = scales_.atLeast(all_panels * columns());
  // A panel at a time, so that little more memory is taken than stays: {products, outputs of the panel, channels}
  const std::size_t of_one = static_cast<std::size_t>(std::min(outputs, columns())) * channels;
  std::vector<float> transformed(products() * of_one);
  for (int p = 0; p < panels(); ++p) {
    const int first = p * columns(), count = std::min(outputs - first, columns());
    const float* w = weight + static_cast<std::ptrdiff_t>(first) * channels * 9;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) * channels; ++i, w += 9) {
      double rows[9], columns[3 * 6], all[36];
      std::copy_n(w, 9, rows);
      for (int j = 0; j < 3; ++j) spreadWeights(side(), rows + j, 3, columns + j, 3);
      for (int r = 0; r < seen(); ++r) spreadWeights(side(), columns + 3 * r, 1, all + seen() * r, 1);
      for (int f = 0; f < products(); ++f) transformed[f * of_one + i] = static_cast<float>(all[f]);
    }
    for (int f = 0; f < products(); ++f) {
      pack({transformed.data() + f * of_one, count, channels}, packed + (f * panels() + p) * ofPanel(),
           scales + (f * panels() + p) * columns());
    }
  }
}

void Winograd::run(const float* const* pixels, int blocks, bool relu, MatrixView<float> y) const {
  thread_local Scratch<std::uint32_t> input_scratch;
  thread_local Scratch<float> sum_scratch, scale_scratch;
  const int width = panels() * columns();
  // A cache line more: else the numbers of a block share one set of L1.
  const std::ptrdiff_t in_stride = static_cast<std::ptrdiff_t>(maxBlocks()) * words_ + 16,
                       sum_stride = static_cast<std::ptrdiff_t>(maxBlocks()) * width + 16;
  std::uint32_t* const inputs = input_scratch.atLeast(products() * in_stride);
  float* const sums = sum_scratch.atLeast(products() * sum_stride);
  float* const scales = scale_scratch.atLeast(static_cast<std::size_t>(products()) * maxBlocks());
  for (int b = 0; b < blocks; ++b) transform(pixels + products() * b, relu, inputs + b * words_, in_stride, scales + b);
  for (int f = 0; f < products(); ++f) {
    for (int p = 0, first = 0; p < panels(); ++p, first += columns()) {
      multiply(inputs + f * in_stride, scales + f * maxBlocks(), blocks, f, p,
               {sums + f * sum_stride + first, blocks, std::min(outputs_ - first, columns()), width});
    }
  }
  for (int b = 0; b < blocks; ++b)
    HWY_DYNAMIC_DISPATCH(collect)(side(), sums + b * width, sum_stride, outputs_, y.row(side() * side() * b), y.stride);
}

// Of at most columns() outputs.
void Winograd::pack(MatrixView<const float> weight, std::uint32_t* to, float* scales) const {
  std::fill_n(to, ofPanel(), 0u);
  if (kernel_ == nullptr)
    return packPanel(weight.data, weight.stride, weight.rows, channels_, reinterpret_cast<float*>(to), 0);
  std::vector<std::uint32_t> rounded(static_cast<std::size_t>(weight.rows) * words_);
  std::fill_n(scales, columns(), 0.0f);
  for (int o = 0; o < weight.rows; ++o) {
    scales[o] = kernel_->roundW(weight.row(o), channels_, rounded.data() + static_cast<std::ptrdiff_t>(o) * words_);
  }
  kernel_->packColumns(rounded.data(), weight.rows, words_, to, 0, kernel_->widthOf(weight.rows));
}

// scales[f * maxBlocks()]: those of rounding.
void Winograd::transform(const float* const* pixels, bool relu, std::uint32_t* to, std::ptrdiff_t stride,
                         float* scales) const {
  if (kernel_ == nullptr)
    return HWY_DYNAMIC_DISPATCH(spread)(side(), pixels, channels_, relu, reinterpret_cast<float*>(to), stride);
  thread_local Scratch<float> scratch;
  float* const exact = scratch.atLeast(products() * static_cast<std::size_t>(channels_));
  HWY_DYNAMIC_DISPATCH(spread)(side(), pixels, channels_, relu, exact, channels_);
  for (int f = 0; f < products(); ++f) {
    scales[static_cast<std::ptrdiff_t>(f) * maxBlocks()] =
        kernel_->roundWithOffset(exact + static_cast<std::ptrdiff_t>(f) * channels_, channels_, to + f * stride);
  }
}

// sums = rows of transformed pixels times a panel; may write the rest of maxBlocks() rows and of the panel's columns.
void Winograd::multiply(const std::uint32_t* x, const float* scales, int rows, int product, int panel,
                        MatrixView<float> sums) const {
  const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(product) * panels() + panel;
  const std::uint32_t* const w = weights_.data() + place * static_cast<std::ptrdiff_t>(ofPanel());
  if (kernel_ == nullptr) {
    return panelProduct(reinterpret_cast<const float*>(x), channels_, rows, channels_,
                        reinterpret_cast<const float*>(w), sums.data, sums.stride, sums.cols);
  }
  static constexpr float kNoBias[kPanel] = {};
  static constexpr std::ptrdiff_t kOneTap = 0;
  const int width = kernel_->widthOf(sums.cols);
  for (int i = 0; i < rows; i += kernel_->rows) {
    kernel_->run(PixelRows{x + static_cast<std::ptrdiff_t>(i) * words_, words_, &kOneTap, 1}, w, width,
                 {.y = {sums.row(i), kernel_->rows, width, sums.stride},
                  .row_scales = scales + i,
                  .column_scales = scales_.data() + place * columns(),
                  .bias = kNoBias});
  }
}

}  // namespace mpm
#endif  // HWY_ONCE
