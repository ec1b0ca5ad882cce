// SPDX-License-Identifier: Apache-2.0
// Products of packed numbers, a tile of registers at a time: linear layers and attention where no library multiplies
// fast. The layouts are the same for any number of rows, and each sum is in the order of k. So a result depends neither
// on the number of rows nor of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/rounding.h"
#include "kernels/precision.h"
#include "kernels/scratch.h"
#include "kernels/view.h"

namespace mpm {

constexpr int kMaxColumns = 64;  ///< TileKernel::columns
constexpr int kRunWords = 16;    ///< TileKernel::run_words, where it is not 1
/// |x| <= 2^kXExponent and |w| <= 2^kWeightExponent in fp16: 64 products add up to at most 2^15, below the largest
/// number.
constexpr int kXExponent = 5, kWeightExponent = 4;

/// Where the sums of a tile go: y = (accumulate ? y : 0) + (sum * row scale * column scale + bias).
struct TileOutput {
  MatrixView<float> y;             ///< the rows and columns of the tile that exist
  const float* row_scales;         ///< {TileKernel::rows}; not read in fp32
  const float* column_scales;      ///< {columns of the panel}; null: 1. Not null in int8; not read in fp32 and bf16
  const float* bias;               ///< {columns of the panel}
  std::ptrdiff_t bias_stride = 0;  ///< from row to row; 0: one bias for all rows
  bool accumulate = false;
  /// Of a kernel that keeps sums, when it gets the words in several calls: what the calls before have added up,
  /// {rows, columns of the panel}. The first call does not read it, and only the last one writes y.
  std::uint32_t* sums = nullptr;
  bool first = true, last = true;
};

/// Neighbouring pixels, each a row of x for every tap of a convolution: row i of tap t is at first + offsets[t] + i *
/// words.
struct PixelRows {
  const std::uint32_t* first;
  int words;                      ///< of a pixel, a multiple of TileKernel::run_words
  const std::ptrdiff_t* offsets;  ///< {taps}, in words
  int taps;
};

/// How this CPU multiplies in one precision. A word is 32 bits: 1 number in fp32, 2 in fp16 and bf16, 4 in int8,
/// neighbours in depth of one row of x or of one column of w (a row of the weights, an output channel).
struct TileKernel {
  Precision precision;
  int rows;       ///< of a group of x: {words / run_words, rows, run_words} words
  int columns;    ///< of a panel of w: {words, columns} words, in fp16 {words, 2, columns} halves
  int lanes;      ///< columns of a vector: the last panel of a matrix has a multiple of it
  int max_words;  ///< of one call, so that a panel stays in L1; 0: a call takes all
  bool offset;    ///< int8 of x plus 128; behind a panel are 128 times the sums of its columns, {columns} int32
  int max_w;      ///< |w| in int8: kMaxInt8 or kMaxInt7; 0 in other precisions
  /// One group times one panel of `vectors` * lanes columns, into y of that size. w is aligned to `lanes` words. Null:
  /// a kernel of convolutions alone.
  void (*multiply)(const std::uint32_t* x, const std::uint32_t* w, int words, int vectors, const TileOutput& out);
  int run_words = 1;          ///< of a row that lie side by side in a group; wordsFor() is a multiple
  void (*begin)() = nullptr;  ///< before the products of a thread (TileProducts); null: nothing to do
  void (*end)() = nullptr;    ///< after them
  bool keeps_sums = false;    ///< TileOutput::sums; else the sums of several calls meet in y
  /// The sum over all taps, of `rows` pixels times the panels of the taps one behind the other; null: it cannot. In
  /// int8 there is one tap.
  void (*multiply_pixels)(const PixelRows& x, const std::uint32_t* w, int vectors, const TileOutput& out) = nullptr;

  bool multipliesBesideVectors() const { return begin != nullptr; }  ///< in a unit of its own
  int depth() const { return precision == Precision::kInt8 ? 4 : precision == Precision::kFp32 ? 1 : 2; }
  int wordsFor(int count) const {
    const int step = depth() * run_words;
    return (count + step - 1) / step * run_words;
  }
  int widthOf(int count) const { return (count + lanes - 1) / lanes * lanes; }
  int panelsFor(int out) const { return (out + columns - 1) / columns; }
  std::size_t panelWords(int words) const { return static_cast<std::size_t>(columns) * (words + (offset ? 1 : 0)); }
  std::size_t groupWords(int words) const { return static_cast<std::size_t>(rows) * words; }

  /// Rounds a row of x or of w to wordsFor(count) words and returns its scale: |x| <= kMaxInt8, |w| <= max_w in int8.
  /// Where x has an offset, roundX() adds none, and roundWithOffset() does.
  float roundX(const float* row, int count, std::uint32_t* to) const {
    return roundRow(row, count, to, kMaxInt8, kXExponent);
  }
  float roundWithOffset(const float* row, int count, std::uint32_t* to) const;
  float roundW(const float* row, int count, std::uint32_t* to) const {
    return roundRow(row, count, to, max_w, kWeightExponent);
  }
  /// Copies rounded rows {count, words} into a group. Its rows behind `count` are not written.
  void packRounded(const std::uint32_t* x, std::ptrdiff_t stride, int count, int words, std::uint32_t* to) const;
  /// Packs at most `rows` rows as a group. scales {rows}.
  void packGroup(MatrixView<const float> x, std::uint32_t* to, float* scales) const;
  /// Packs rounded rows, {count, words} words, as columns [first, first + count) of a panel with `width` columns.
  void packColumns(const std::uint32_t* w, int count, int words, std::uint32_t* panel, int first, int width) const;
  /// A group, or pixels, times a panel of `width` columns; out.y may be smaller than the tile.
  void run(const PixelRows& x, const std::uint32_t* w, int width, const TileOutput& out) const;
  void run(const std::uint32_t* x, const std::uint32_t* w, int words, int width, const TileOutput& out) const;

 private:
  float roundRow(const float* row, int count, std::uint32_t* to, int int8_max, int fp16_exponent) const;
  template <class Multiply>
  void runWhole(int width, const TileOutput& out, Multiply multiply_tile) const;
};

/// The products of a thread, from its construction to its end. A CPU with AMX has its tiles configured in between, and
/// only then: nothing of ours relies on what another library leaves, and none finds tiles of ours.
class TileProducts {
 public:
  explicit TileProducts(const TileKernel& kernel) : end_(kernel.end) {
    if (kernel.begin != nullptr) kernel.begin();
  }
  ~TileProducts() {
    if (end_ != nullptr) end_();
  }
  TileProducts(const TileProducts&) = delete;
  TileProducts& operator=(const TileProducts&) = delete;

 private:
  void (*end_)();
};

/// The kernel for a precision; null: this CPU has none.
const TileKernel* tileKernel(Precision precision);

/// The kernel of convolutions with stride 1 in a precision; null: they gather pixels as rows of linear layers.
const TileKernel* convolutionTiles(Precision precision);

/// convolutionTiles() of bf16 on CPUs with AVX512-BF16; null on others.
const TileKernel* pixelsBf16Kernel();

/// In int8 on x86-64. The first adds up four products in one instruction, of 512 bits with AVX512-VNNI, of 256 if the
/// instruction set is "avx_vnni"; else it is null. The second serves the CPUs without: two products at a time, with
/// weights of 7 bits. It is null for plain loops.
const TileKernel* vnniKernel();
const TileKernel* pairsKernel();

/// Writes a tile from its sums in memory, {out.y.rows, out.y.cols}: int32 minus `offsets` of the
/// columns, or float if `offsets` is null. Columns are a multiple of 16. On x86-64.
void takeSums(const std::uint32_t* sums, const std::uint32_t* offsets, const TileOutput& out);

/// The kernel of attention in a net of this precision; null: attention has tiles of its own (attention_input.h).
const TileKernel* attentionTiles(Precision precision);

/// PackedLinear on a kernel.
class TileLinear {
 public:
  TileLinear(const TileKernel& kernel, MatrixView<const float> weight, const float* bias);
  void run(MatrixView<const float> x, MatrixView<float> y, bool accumulate) const;

 private:
  int widthOf(int panel) const { return kernel_.widthOf(std::min(kernel_.columns, out_ - panel * kernel_.columns)); }

  const TileKernel& kernel_;
  int in_, out_;
  float scale_ = 1;  // of all weights, in fp16
  Scratch<std::uint32_t> panels_;
  Scratch<float> bias_, scales_;  // {columns of all panels}
};

/// A convolution with stride 1 on a kernel that multiplies pixels. Its input is rounded once, with a border of zeros.
class TileConvolution {
 public:
  struct Tap {
    int dy, dx;  ///< the pixel that it takes, from the output's place in x
  };
  /// `weight` {outputs, taps * channels}; bias {outputs}.
  TileConvolution(const TileKernel& kernel, std::vector<Tap> taps, int channels, MatrixView<const float> weight,
                  const float* bias);

  /// Rows of output pixels `width` wide, in a border that all taps stay in.
  struct Layout {
    int width, height;   ///< of the input with its border; output pixel (row, column) is row * width + column
    int top, left;       ///< pixel (0, 0) of x
    std::size_t pixels;  ///< that are read
  };
  Layout layoutFor(int out_height, int out_width) const;
  int words() const { return words_; }            ///< of a rounded pixel
  int groupRows() const { return kernel_.rows; }  ///< run() is fastest with a multiple of so many pixels
  /// Rounds `count` pixels {count, channels}.
  void round(const float* pixels, int count, std::uint32_t* to) const;
  /// y {rows, outputs} = (accumulate ? y : 0) + convolution + bias of neighbouring output pixels, the first of which is
  /// `begin`.
  void run(const std::uint32_t* rounded, const Layout& layout, int begin, MatrixView<float> y, bool accumulate) const;

 private:
  int widthOf(int panel) const {
    return kernel_.widthOf(std::min(kernel_.columns, outputs_ - panel * kernel_.columns));
  }

  const TileKernel& kernel_;
  std::vector<Tap> taps_;
  int channels_, outputs_, words_;
  int top_ = 0, left_ = 0, bottom_ = 0, right_ = 0;  // how far taps reach
  Scratch<std::uint32_t> panels_;                    // {panels, taps, words, columns}
  Scratch<float> bias_;
};

}  // namespace mpm
