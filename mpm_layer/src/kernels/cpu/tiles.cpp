// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/tiles.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/rounding.h"
#include "kernels/instruction_set.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

constexpr int kMaxTile = 32 * 32;  // rows times columns of any kernel
// Rows of x that are packed together: in L2 while the panels stream by. A fast kernel needs more, because the panels
// come from L3.
constexpr int kMaxBlockRows = 256;
int blockRows(const TileKernel& kernel, int words) {
  if (!kernel.keeps_sums) return std::clamp(4 * kernel.rows, 64, 128);
  constexpr int kPackedWords = 128 * 1024;  // a quarter of the smallest L2 beside AMX
  return std::clamp(kPackedWords / words / kernel.rows * kernel.rows, 2 * kernel.rows, kMaxBlockRows);
}

// For CPUs without a file of their own: what the compiler makes of loops.
#if !defined(__aarch64__)
void multiplyPortably(const std::uint32_t* x_words, const std::uint32_t* w_words, int words, int vectors,
                      const TileOutput& out) {
  constexpr int kRows = 8, kLanes = 4;
  const auto* x = reinterpret_cast<const float*>(x_words);
  const auto* w = reinterpret_cast<const float*>(w_words);
  for (int v = 0; v < vectors; ++v) {
    float sums[kRows][kLanes] = {};
    for (int k = 0; k < words; ++k) {
      for (int i = 0; i < kRows; ++i)
        for (int j = 0; j < kLanes; ++j) sums[i][j] += x[k * kRows + i] * w[(k * vectors + v) * kLanes + j];
    }
    for (int i = 0; i < kRows; ++i) {
      for (int j = v * kLanes; j < (v + 1) * kLanes; ++j) {
        float& y = out.y.row(i)[j];
        y = (out.accumulate ? y : 0.0f) + (sums[i][j - v * kLanes] + out.bias[i * out.bias_stride + j]);
      }
    }
  }
}

const TileKernel kPortable{Precision::kFp32, 8, 12, 4, 512, false, 0, multiplyPortably};
#endif

}  // namespace

#if !defined(__aarch64__)
const TileKernel* tileKernel(Precision precision) {
#if defined(__x86_64__)
  if (instructionSet() == "amx" && (precision == Precision::kBf16 || precision == Precision::kInt8))
    return &AmxTiles<AmxInstructions>::kernel(precision);
  if (precision == Precision::kInt8) return vnniKernel() != nullptr ? vnniKernel() : pairsKernel();
#endif
  return precision == Precision::kFp32 ? &kPortable : nullptr;
}
#endif

const TileKernel* attentionTiles(Precision precision) {
#if defined(__aarch64__)
  const TileKernel* const kernel = tileKernel(precision);
  return kernel != nullptr ? kernel : tileKernel(Precision::kFp32);
#else
  return precision != Precision::kFp32 ? tileKernel(precision) : nullptr;
#endif
}

const TileKernel* convolutionTiles(Precision precision) {
  const TileKernel* const kernel = tileKernel(precision);
  if (kernel != nullptr && kernel->multiply_pixels != nullptr) return kernel;
  return precision == Precision::kBf16 ? pixelsBf16Kernel() : nullptr;
}

float TileKernel::roundRow(const float* row, int count, std::uint32_t* to, int int8_max, int fp16_exponent) const {
  if (precision == Precision::kFp32) return std::memcpy(to, row, static_cast<std::size_t>(count) * sizeof(float)), 1.0f;
  std::fill(to + count / depth(), to + wordsFor(count), 0u);
  if (precision == Precision::kBf16) return toBf16(row, reinterpret_cast<std::uint16_t*>(to), count), 1.0f;
  if (precision == Precision::kFp16) return toFp16(row, reinterpret_cast<std::uint16_t*>(to), count, fp16_exponent);
  return toInt8(row, reinterpret_cast<std::int8_t*>(to), count, int8_max);
}

float TileKernel::roundWithOffset(const float* row, int count, std::uint32_t* to) const {
  const float scale = roundX(row, count, to);
  if (offset) std::for_each_n(to, wordsFor(count), [](std::uint32_t& word) { word ^= 0x80808080u; });
  return scale;
}

void TileKernel::packRounded(const std::uint32_t* x, std::ptrdiff_t stride, int count, int words,
                             std::uint32_t* to) const {
  if (run_words == 1)
    return packPanel(reinterpret_cast<const float*>(x), stride, count, words, reinterpret_cast<float*>(to), 0, rows);
  for (int i = 0; i < count; ++i, x += stride)
    for (int k = 0; k < words; k += kRunWords) std::memcpy(to + k * rows + i * kRunWords, x + k, kRunWords * sizeof *x);
}

void TileKernel::packGroup(MatrixView<const float> x, std::uint32_t* to, float* scales) const {
  thread_local Scratch<std::uint32_t> scratch;
  const int words = wordsFor(x.cols);
  if (x.rows < rows) std::fill_n(to, groupWords(words), 0u), std::fill_n(scales, rows, 0.0f);
  if (precision == Precision::kFp32)
    return packRounded(reinterpret_cast<const std::uint32_t*>(x.data), x.stride, x.rows, words, to);
  std::uint32_t* const rounded = scratch.atLeast(groupWords(words));
  const auto round = [&](int i, std::uint32_t* row) { scales[i] = roundWithOffset(x.row(i), x.cols, row); };
  if (run_words == 1) {
    for (int i = 0; i < x.rows; ++i) round(i, rounded + static_cast<std::ptrdiff_t>(i) * words);
    return packRounded(rounded, words, x.rows, words, to);
  }
  for (int i = 0; i < x.rows; ++i) {  // each row while it is in L1
    round(i, rounded);
    packRounded(rounded, words, 1, words, to + i * run_words);
  }
}

void TileKernel::packColumns(const std::uint32_t* w, int count, int words, std::uint32_t* panel, int first,
                             int width) const {
  if (precision == Precision::kFp16) {
    auto* const halves = reinterpret_cast<std::uint16_t*>(panel);
    for (int j = 0; j < count; ++j) {
      for (int k = 0; k < words; ++k, ++w) {
        std::uint16_t* const to = halves + 2 * static_cast<std::ptrdiff_t>(k) * width + first + j;
        to[0] = static_cast<std::uint16_t>(*w);
        to[width] = static_cast<std::uint16_t>(*w >> 16);
      }
    }
    return;
  }
  packPanel(reinterpret_cast<const float*>(w), words, count, words, reinterpret_cast<float*>(panel), first, width);
  if (!offset) return;
  const auto* values = reinterpret_cast<const std::int8_t*>(w);
  for (int j = 0; j < count; ++j, values += 4 * static_cast<std::ptrdiff_t>(words)) {
    std::int32_t sum = 0;
    for (int k = 0; k < 4 * words; ++k) sum += values[k];
    panel[static_cast<std::ptrdiff_t>(words) * width + first + j] = static_cast<std::uint32_t>(128 * sum);
  }
}

template <class Multiply>
void TileKernel::runWhole(int width, const TileOutput& out, Multiply multiply_tile) const {
  if (!out.last || (out.y.rows == rows && out.y.cols == width)) return multiply_tile(out);
  float tile[kMaxTile];
  std::fill_n(tile, rows * width, 0.0f);
  TileOutput whole = out;
  whole.y = {tile, rows, width};
  if (out.accumulate) copyRows(out.y, whole.y);
  multiply_tile(whole);
  for (int i = 0; i < out.y.rows; ++i) std::copy_n(whole.y.row(i), out.y.cols, out.y.row(i));
}

void TileKernel::run(const std::uint32_t* x, const std::uint32_t* w, int words, int width,
                     const TileOutput& out) const {
  runWhole(width, out, [&](const TileOutput& whole) { multiply(x, w, words, width / lanes, whole); });
}

void TileKernel::run(const PixelRows& x, const std::uint32_t* w, int width, const TileOutput& out) const {
  runWhole(width, out, [&](const TileOutput& whole) { multiply_pixels(x, w, width / lanes, whole); });
}

TileLinear::TileLinear(const TileKernel& kernel, MatrixView<const float> weight, const float* bias)
    : kernel_(kernel), in_(weight.cols), out_(weight.rows) {
  const int words = kernel.wordsFor(in_), panels = kernel.panelsFor(out_), padded = panels * kernel.columns;
  std::fill_n(bias_.atLeast(padded), padded, 0.0f);
  std::fill_n(scales_.atLeast(padded), padded, 0.0f);
  if (bias != nullptr) std::copy_n(bias, out_, bias_.atLeast(padded));
  std::uint32_t* const packed = panels_.atLeast(panels * kernel.panelWords(words));
  std::fill_n(packed, panels * kernel.panelWords(words), 0u);
  std::vector<std::uint32_t> rounded(static_cast<std::size_t>(out_) * words);
  if (kernel.precision == Precision::kFp16) {
    std::vector<float> padded_rows(2 * rounded.size(), 0.0f);
    copyRows(weight, {padded_rows.data(), out_, in_, 2 * words});
    auto* const halves = reinterpret_cast<std::uint16_t*>(rounded.data());
    scale_ = toFp16(padded_rows.data(), halves, static_cast<int>(padded_rows.size()), kWeightExponent);
  } else {
    for (int j = 0; j < out_; ++j) {
      scales_.atLeast(padded)[j] =
          kernel.roundW(weight.row(j), in_, rounded.data() + static_cast<std::ptrdiff_t>(j) * words);
    }
  }
  for (int p = 0; p < panels; ++p) {
    const int first = p * kernel.columns, count = std::min(kernel.columns, out_ - first);
    kernel.packColumns(rounded.data() + static_cast<std::ptrdiff_t>(first) * words, count, words,
                       packed + p * kernel.panelWords(words), 0, widthOf(p));
  }
}

void TileLinear::run(MatrixView<const float> x, MatrixView<float> y, bool accumulate) const {
  thread_local Scratch<std::uint32_t> scratch, sums_scratch;
  static constexpr float kZeros[kMaxTile] = {};
  const int words = kernel_.wordsFor(in_), step = kernel_.max_words > 0 ? kernel_.max_words : words;
  const std::size_t group_words = kernel_.groupWords(words);
  const int block = blockRows(kernel_, words), tile_size = kernel_.rows * kernel_.columns;
  std::uint32_t* const packed = scratch.atLeast(block / kernel_.rows * group_words);
  const bool keeps_sums = kernel_.keeps_sums && words > step;
  std::uint32_t* const sums = keeps_sums ? sums_scratch.atLeast(block * kernel_.columns) : nullptr;
  float row_scales[kMaxBlockRows];
  const TileProducts products(kernel_);
  for (int begin = 0; begin < x.rows; begin += block) {
    const int rows = std::min(block, x.rows - begin);
    const auto rowsOf = [&](int i) { return std::min(kernel_.rows, rows - i); };
    for (int i = 0; i < rows; i += kernel_.rows) {
      kernel_.packGroup(x.rowRange(begin + i, begin + i + rowsOf(i)), packed + i / kernel_.rows * group_words,
                        row_scales + i);
    }
    if (kernel_.precision == Precision::kFp16)
      for (float& scale : row_scales) scale *= scale_;
    // All rows of the block times words [k, k + step) of panel `p`.
    const auto multiply = [&](int p, int k) {
      const int first = p * kernel_.columns, width = widthOf(p);
      const bool starts = k == 0 || keeps_sums;
      const std::uint32_t* const w =
          panels_.data() + p * kernel_.panelWords(words) + static_cast<std::ptrdiff_t>(k) * width;
      for (int i = 0; i < rows; i += kernel_.rows) {
        const MatrixView<float> tile(y.row(begin + i) + first, rowsOf(i), std::min(kernel_.columns, out_ - first),
                                     y.stride);
        kernel_.run(packed + i / kernel_.rows * group_words + static_cast<std::ptrdiff_t>(k) * kernel_.rows, w,
                    std::min(step, words - k), width,
                    {.y = tile,
                     .row_scales = row_scales + i,
                     .column_scales = kernel_.precision == Precision::kInt8 ? scales_.data() + first : nullptr,
                     .bias = starts ? bias_.data() + first : kZeros,
                     .accumulate = accumulate || !starts,
                     .sums = keeps_sums ? sums + i / kernel_.rows * tile_size : nullptr,
                     .first = !keeps_sums || k == 0,
                     .last = !keeps_sums || k + step >= words});
      }
    };
    if (keeps_sums) {
      for (int p = 0; p < kernel_.panelsFor(out_); ++p)
        for (int k = 0; k < words; k += step) multiply(p, k);
    } else {
      for (int k = 0; k < words; k += step)
        for (int p = 0; p < kernel_.panelsFor(out_); ++p) multiply(p, k);
    }
  }
}

TileConvolution::TileConvolution(const TileKernel& kernel, std::vector<Tap> taps, int channels,
                                 MatrixView<const float> weight, const float* bias)
    : kernel_(kernel),
      taps_(std::move(taps)),
      channels_(channels),
      outputs_(weight.rows),
      words_(kernel.wordsFor(channels)) {
  for (const Tap& tap : taps_) {
    top_ = std::max(top_, -tap.dy);
    bottom_ = std::max(bottom_, tap.dy);
    left_ = std::max(left_, -tap.dx);
    right_ = std::max(right_, tap.dx);
  }
  const int panels = kernel.panelsFor(outputs_), padded = panels * kernel.columns;
  std::fill_n(bias_.atLeast(padded), padded, 0.0f);
  std::copy_n(bias, outputs_, bias_.atLeast(padded));
  const std::size_t of_tap = kernel.panelWords(words_), size = panels * taps_.size() * of_tap;
  std::fill_n(panels_.atLeast(size), size, 0u);
  std::vector<std::uint32_t> rounded(static_cast<std::size_t>(kernel.columns) * words_);
  std::uint32_t* to = panels_.atLeast(size);
  for (int p = 0; p < panels; ++p) {
    for (std::size_t t = 0; t < taps_.size(); ++t, to += widthOf(p) * words_) {
      const int first = p * kernel.columns, count = std::min(kernel.columns, outputs_ - first);
      for (int j = 0; j < count; ++j) {
        kernel.roundW(weight.row(first + j) + t * channels_, channels_,
                      rounded.data() + static_cast<std::ptrdiff_t>(j) * words_);
      }
      kernel.packColumns(rounded.data(), count, words_, to, 0, widthOf(p));
    }
  }
}

TileConvolution::Layout TileConvolution::layoutFor(int out_height, int out_width) const {
  const int width = left_ + out_width + right_, height = top_ + out_height + bottom_;
  // A tile reads whole groups of pixels, and taps reach beyond them.
  return {width, height, top_, left_, static_cast<std::size_t>(height) * width + kernel_.rows + left_ + right_};
}

void TileConvolution::round(const float* pixels, int count, std::uint32_t* to) const {
  if (channels_ == words_ * kernel_.depth()) {
    kernel_.roundX(pixels, count * channels_, to);
    return;
  }
  for (int i = 0; i < count; ++i, pixels += channels_, to += words_) kernel_.roundX(pixels, channels_, to);
}

void TileConvolution::run(const std::uint32_t* rounded, const Layout& layout, int begin, MatrixView<float> y,
                          bool accumulate) const {
  static constexpr auto kOnes = [] {
    std::array<float, kMaxBlockRows> ones{};
    ones.fill(1.0f);
    return ones;
  }();
  std::vector<std::ptrdiff_t> offsets;
  for (const Tap& tap : taps_)
    offsets.push_back(((tap.dy + top_) * static_cast<std::ptrdiff_t>(layout.width) + tap.dx + left_) * words_);
  const TileProducts products(kernel_);
  const std::uint32_t* w = panels_.data();
  const int taps = static_cast<int>(offsets.size());
  for (int p = 0; p < kernel_.panelsFor(outputs_); ++p) {
    const int first = p * kernel_.columns, width = widthOf(p);
    for (int i = 0; i < y.rows; i += kernel_.rows) {
      kernel_.run(PixelRows{rounded + static_cast<std::ptrdiff_t>(begin + i) * words_, words_, offsets.data(), taps}, w,
                  width,
                  {.y = {y.row(i) + first, std::min(kernel_.rows, y.rows - i),
                         std::min(kernel_.columns, outputs_ - first), y.stride},
                   .row_scales = kOnes.data(),
                   .column_scales = nullptr,
                   .bias = bias_.data() + first,
                   .accumulate = accumulate});
    }
    w += static_cast<std::ptrdiff_t>(taps) * words_ * width;
  }
}

void requireOnCpu(Precision precision) {
  if (precision == Precision::kFp32 || precision == Precision::kInt8) return;
  if (precision == Precision::kBf16 && cpuHasBf16()) return;
  if (precision == Precision::kFp16 && cpuHasFp16()) return;
  if (precision == Precision::kBf16) {
    throw Error(
        "this CPU, or the library that multiplies here, has no bf16 arithmetic (AVX512-BF16 or AMX): use "
        "precision fp32");
  }
  const std::string where = precision == Precision::kFp16 ? "GPUs and Arm CPUs with fp16 arithmetic" : "GPUs";
  throw Error("precision " + toString(precision) + " is for " + where + ": on this CPU use fp32" +
              (cpuHasBf16()   ? ", bf16 or int8"
               : cpuHasFp16() ? ", fp16 or int8"
                              : " or int8"));
}

bool cpuHasFastBf16() { return cpuHasBf16() && (instructionSet() == "amx" || cpuHasFastAvx512Bf16()); }

Precision multipliedIn(Precision precision) {
  return precision == Precision::kBf16 && !cpuHasFastBf16() ? Precision::kFp32 : precision;
}

Precision besideBlocks(Precision precision) {
  if (precision != Precision::kInt8) return multipliedIn(precision);
  return cpuHasFastBf16() ? Precision::kBf16 : cpuHasFp16() ? Precision::kFp16 : Precision::kFp32;
}

bool cpuHasInt8() { return tileKernel(Precision::kInt8) != nullptr; }
bool cpuHasFp16() { return tileKernel(Precision::kFp16) != nullptr; }

}  // namespace mpm
