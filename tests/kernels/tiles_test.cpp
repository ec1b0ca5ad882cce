// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/amx_tiles.h"
#include "kernels/each_instruction_set.h"
#include "kernels/emulated_amx.h"
#include "kernels/random.h"

namespace mpm {
namespace {

// Memory between two borders, which nothing may write to.
template <class T>
class Bordered {
 public:
  explicit Bordered(std::size_t count) : count_(count), all_(memory_.atLeast(count + 2 * kBorder)) {
    std::memset(all_, kMark, (count + 2 * kBorder) * sizeof(T));
  }
  T* data() { return all_ + kBorder; }
  std::vector<T> copy() const { return {all_ + kBorder, all_ + kBorder + count_}; }
  bool bordersAreIntact() const {
    const auto marked = [](const T* begin) {
      const auto* const bytes = reinterpret_cast<const unsigned char*>(begin);
      return std::all_of(bytes, bytes + kBorder * sizeof(T), [](unsigned char byte) { return byte == kMark; });
    };
    return marked(all_) && marked(all_ + kBorder + count_);
  }

 private:
  static constexpr std::size_t kBorder = 16;  // keeps the alignment
  static constexpr unsigned char kMark = 0x5a;
  std::size_t count_;
  Scratch<T> memory_;
  T* all_;
};

// The one that linear layers take; the one for CPUs without VNNI, which would take it with AVX-512, too; and that of
// AMX on an emulation.
std::vector<const TileKernel*> int8Kernels() {
  std::vector<const TileKernel*> kernels = {tileKernel(Precision::kInt8)};
#if defined(__x86_64__)
  kernels.push_back(pairsKernel());
  kernels.push_back(&AmxTiles<test::EmulatedAmx>::kernel(Precision::kInt8));
#endif
  std::erase(kernels, nullptr);
  return kernels;
}

// What the numbers of a case are like.
enum class Numbers { kAny, kExtreme, kAllLargest, kAllSmallest };

struct Case {
  int rows, columns, depth;
  Numbers numbers;
  bool accumulate;
};

class Int8Tiles : public test::EachInstructionSet {
 protected:
  void SetUp() override {
    EachInstructionSet::SetUp();
    if (int8Kernels().empty()) GTEST_SKIP() << "no products of int8 here";
  }

  int upTo(int most) { return std::uniform_int_distribution<int>(1, most)(engine_); }

  Case randomCase(const TileKernel& kernel) {
    const int depth = upTo(4) == 1 ? upTo(8) : upTo(256);  // the sums stay below 2^24
    return {upTo(kernel.rows), upTo(kernel.columns), depth, static_cast<Numbers>(upTo(4) - 1), upTo(2) == 1};
  }

  // Whole numbers from `least` to `most`.
  Matrix whole(int rows, int cols, int least, int most, Numbers numbers) {
    std::uniform_int_distribution<int> any(least, most);
    Matrix matrix(rows, cols, upTo(5) - 1);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)
        matrix.at(i, j) = static_cast<float>(numbers == Numbers::kAny          ? any(engine_)
                                             : numbers == Numbers::kExtreme    ? (upTo(2) == 1 ? least : most)
                                             : numbers == Numbers::kAllLargest ? most
                                                                               : least);
    return matrix;
  }

  // Rows of int8, whose scale is 1 because the largest number is in each.
  Matrix bytes(int rows, int cols, int largest, Numbers numbers) {
    Matrix matrix = whole(rows, cols, -largest, largest, numbers);
    for (int i = 0; i < rows; ++i) {
      float& one = matrix.at(i, upTo(cols) - 1);
      one = std::copysign(static_cast<float>(largest), one);
    }
    return matrix;
  }

  // The panel of w, packed in two parts.
  void packPanelOf(const TileKernel& kernel, const Matrix& w, Bordered<std::uint32_t>& panel) {
    const int words = kernel.wordsFor(w.cols), first = upTo(w.rows) - 1, width = kernel.widthOf(w.rows);
    std::fill_n(panel.data(), static_cast<std::size_t>(width) * (words + (kernel.offset ? 1 : 0)), 0u);
    std::vector<std::uint32_t> rounded(static_cast<std::size_t>(w.rows) * words);
    for (int j = 0; j < w.rows; ++j)
      ASSERT_EQ(kernel.roundW(w.view().row(j), w.cols, rounded.data() + static_cast<std::ptrdiff_t>(j) * words), 1.0f);
    kernel.packColumns(rounded.data(), first, words, panel.data(), 0, width);
    kernel.packColumns(rounded.data() + static_cast<std::ptrdiff_t>(first) * words, w.rows - first, words, panel.data(),
                       first, width);
  }

  // Runs a packed tile with scales, biases and sums that float32 holds exactly.
  void expectSums(const TileKernel& kernel, const Case& of, Bordered<std::uint32_t>& group,
                  Bordered<std::uint32_t>& panel, const Matrix& x, const Matrix& w) {
    const int words = kernel.wordsFor(of.depth), width = kernel.widthOf(of.columns);
    Bordered<float> row_scales(kernel.rows), column_scales(width), bias(width);
    for (int i = 0; i < kernel.rows; ++i) row_scales.data()[i] = static_cast<float>(upTo(2));
    for (int j = 0; j < width; ++j) {
      column_scales.data()[j] = static_cast<float>(upTo(2)) / 2;
      bias.data()[j] = static_cast<float>(upTo(100) - 50);
    }
    const Matrix before = whole(of.rows, of.columns, -50, 50, Numbers::kAny);
    Matrix y = before;
    const std::vector<std::uint32_t> x_words = group.copy(), w_words = panel.copy();
    const TileProducts products(kernel);
    kernel.run(group.data(), panel.data(), words, width,
               {.y = y.view(),
                .row_scales = row_scales.data(),
                .column_scales = column_scales.data(),
                .bias = bias.data(),
                .accumulate = of.accumulate});
    for (int i = 0; i < of.rows; ++i)
      for (int j = 0; j < of.columns; ++j) {
        int sum = 0;
        for (int k = 0; k < of.depth; ++k) sum += static_cast<int>(x.at(i, k)) * static_cast<int>(w.at(j, k));
        const double start = of.accumulate ? static_cast<double>(before.at(i, j)) : 0.0;
        const double expected =
            start + static_cast<double>(bias.data()[j]) +
            sum * static_cast<double>(row_scales.data()[i]) * static_cast<double>(column_scales.data()[j]);
        ASSERT_EQ(static_cast<double>(y.at(i, j)), expected) << i << ", " << j;
        y.at(i, j) = before.at(i, j);
      }
    EXPECT_EQ(std::memcmp(y.values.data(), before.values.data(), y.values.size() * sizeof(float)), 0)
        << "written between the rows";
    EXPECT_TRUE(group.copy() == x_words && panel.copy() == w_words) << "the operands changed";
    for (const Bordered<float>* memory : {&row_scales, &column_scales, &bias}) EXPECT_TRUE(memory->bordersAreIntact());
    EXPECT_TRUE(group.bordersAreIntact() && panel.bordersAreIntact());
  }

  std::mt19937 engine_{1};
};
MPM_EACH_INSTRUCTION_SET(Int8Tiles);

TEST_P(Int8Tiles, AreTheIntegerSums) {
  for (const TileKernel* const kernel : int8Kernels())
    for (int number = 0; number < 400; ++number) {
      const Case of = randomCase(*kernel);
      SCOPED_TRACE(::testing::Message() << "weights up to " << kernel->max_w << ", " << of.rows << " x " << of.depth
                                        << " -> " << of.columns << ", numbers " << static_cast<int>(of.numbers));
      const int words = kernel->wordsFor(of.depth);
      const Matrix x = bytes(of.rows, of.depth, 127, of.numbers);
      const Matrix w = bytes(of.columns, of.depth, kernel->max_w, static_cast<Numbers>(upTo(4) - 1));
      Bordered<std::uint32_t> group(kernel->groupWords(words)), panel(kernel->panelWords(words));
      Bordered<float> scales(kernel->rows);
      kernel->packGroup(x.view(), group.data(), scales.data());
      for (int i = 0; i < kernel->rows; ++i) ASSERT_EQ(scales.data()[i], i < of.rows ? 1.0f : 0.0f);
      ASSERT_TRUE(scales.bordersAreIntact());
      ASSERT_NO_FATAL_FAILURE(packPanelOf(*kernel, w, panel));
      ASSERT_NO_FATAL_FAILURE(expectSums(*kernel, of, group, panel, x, w));
    }
}

// Attention weighs values by bytes from 0 to 255, without an offset.
TEST_P(Int8Tiles, TakeBytesWithoutSign) {
  for (const TileKernel* const kernel : int8Kernels()) {
    if (!kernel->offset) continue;
    for (int number = 0; number < 200; ++number) {
      const Case of = randomCase(*kernel);
      SCOPED_TRACE(::testing::Message() << "weights up to " << kernel->max_w << ", " << of.rows << " x " << of.depth
                                        << " -> " << of.columns << ", numbers " << static_cast<int>(of.numbers));
      const int words = kernel->wordsFor(of.depth), width = kernel->widthOf(of.columns);
      const Matrix x = whole(of.rows, of.depth, 0, 255, of.numbers);
      const Matrix w = bytes(of.columns, of.depth, kernel->max_w, static_cast<Numbers>(upTo(4) - 1));
      Bordered<std::uint32_t> group(kernel->groupWords(words)), panel(kernel->panelWords(words));
      std::fill_n(group.data(), kernel->groupWords(words), 0u);
      std::vector<std::uint32_t> rounded(static_cast<std::size_t>(of.rows) * words);
      for (int i = 0; i < of.rows; ++i) {
        auto* const to = reinterpret_cast<std::uint8_t*>(rounded.data() + static_cast<std::ptrdiff_t>(i) * words);
        for (int k = 0; k < of.depth; ++k) to[k] = static_cast<std::uint8_t>(x.at(i, k));
      }
      kernel->packRounded(rounded.data(), words, of.rows, words, group.data());
      ASSERT_NO_FATAL_FAILURE(packPanelOf(*kernel, w, panel));
      std::fill_n(panel.data() + static_cast<std::ptrdiff_t>(words) * width, width, 0u);
      ASSERT_NO_FATAL_FAILURE(expectSums(*kernel, of, group, panel, x, w));
    }
  }
}

}  // namespace
}  // namespace mpm
