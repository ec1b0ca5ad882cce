// SPDX-License-Identifier: Apache-2.0
// TileKernel on AMX: tiles of 16 rows and 64 bytes, four of them for the sums of 32 rows and 32 columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/amx_instructions.h"
#include "kernels/cpu/tiles.h"

namespace mpm {

/// Rows, words and columns of a tile; twice as many rows and columns in a group and a panel.
constexpr int kAmxSide = 16;
static_assert(kRunWords == kAmxSide);

/// `Amx`: AmxInstructions, or what the tests have in their place.
template <class Amx>
class AmxTiles {
 public:
  static const TileKernel& kernel(Precision precision) {
    static constexpr int kSize = 2 * kAmxSide;
    // Of a panel and of a group: half of L1 holds a panel, which all groups meet before the next words come.
    static constexpr int kWords = 128;
    static constexpr TileKernel kBf16{.precision = Precision::kBf16,
                                      .rows = kSize,
                                      .columns = kSize,
                                      .lanes = kAmxSide,
                                      .max_words = kWords,
                                      .offset = false,
                                      .max_w = 0,
                                      .multiply = multiply<Precision::kBf16>,
                                      .run_words = kRunWords,
                                      .begin = begin,
                                      .end = end,
                                      .keeps_sums = true,
                                      .multiply_pixels = multiplyPixels};
    // x has an offset, as on VNNI: both give the same bytes.
    static constexpr TileKernel kInt8{.precision = Precision::kInt8,
                                      .rows = kSize,
                                      .columns = kSize,
                                      .lanes = kAmxSide,
                                      .max_words = kWords,
                                      .offset = true,
                                      .max_w = kMaxInt8,
                                      .multiply = multiply<Precision::kInt8>,
                                      .run_words = kRunWords,
                                      .begin = begin,
                                      .end = end,
                                      .keeps_sums = true};
    return precision == Precision::kBf16 ? kBf16 : kInt8;
  }

 private:
  static constexpr std::ptrdiff_t kRowBytes = 4 * kAmxSide;
  static constexpr int kTileWords = kAmxSide * kAmxSide;

  // Every tile is whole: rows, columns and depth are filled up with zeros.
  static void begin() {
    AmxConfiguration whole;
    for (int tile = 0; tile < 8; ++tile) {
      whole.row_bytes[tile] = kRowBytes;
      whole.rows[tile] = kAmxSide;
    }
    Amx::configure(whole);
  }
  static void end() { Amx::release(); }

  template <Precision kPrecision, int kSums, int kX, int kW>
  static void multiplyAdd() {
    if constexpr (kPrecision == Precision::kBf16)
      Amx::template multiplyBf16<kSums, kX, kW>();
    else
      Amx::template multiplyInt8<kSums, kX, kW>();
  }

  // Sums in tiles 0 to 3, row by row; operands in 4 to 7.
  template <int kColumns>
  static void loadSums(const std::uint32_t* sums) {
    Amx::template load<0>(sums, kColumns * kRowBytes);
    Amx::template load<2>(sums + kColumns * kTileWords, kColumns * kRowBytes);
    if constexpr (kColumns == 1) return;
    Amx::template load<1>(sums + kAmxSide, kColumns * kRowBytes);
    Amx::template load<3>(sums + kColumns * kTileWords + kAmxSide, kColumns * kRowBytes);
  }
  template <int kColumns>
  static void zeroSums() {
    Amx::template zero<0>();
    Amx::template zero<2>();
    if constexpr (kColumns == 1) return;
    Amx::template zero<1>();
    Amx::template zero<3>();
  }
  template <int kColumns>
  static void storeSums(std::uint32_t* sums) {
    Amx::template store<0>(sums, kColumns * kRowBytes);
    Amx::template store<2>(sums + kColumns * kTileWords, kColumns * kRowBytes);
    if constexpr (kColumns == 1) return;
    Amx::template store<1>(sums + kAmxSide, kColumns * kRowBytes);
    Amx::template store<3>(sums + kColumns * kTileWords + kAmxSide, kColumns * kRowBytes);
  }

  // Adds words of 16 rows at x and of 16 at `below`, each row `stride` bytes behind the one before; x_step words lie
  // between the operands of two steps. Returns the end of w.
  template <Precision kPrecision, int kColumns>
  static const std::uint32_t* addWords(const std::uint32_t* x, const std::uint32_t* below, std::ptrdiff_t stride,
                                       int x_step, const std::uint32_t* w, int words) {
    for (int k = 0; k < words; k += kAmxSide) {
      Amx::template load<4>(x, stride);
      Amx::template load<6>(w, kColumns * kRowBytes);
      multiplyAdd<kPrecision, 0, 4, 6>();
      Amx::template load<5>(below, stride);
      multiplyAdd<kPrecision, 2, 5, 6>();
      if constexpr (kColumns == 2) {
        Amx::template load<7>(w + kAmxSide, kColumns * kRowBytes);
        multiplyAdd<kPrecision, 1, 4, 7>();
        multiplyAdd<kPrecision, 3, 5, 7>();
      }
      x += x_step;
      below += x_step;
      w += kColumns * kTileWords;
    }
    return w;
  }

  template <Precision kPrecision, int kColumns>
  static void multiplyTile(const std::uint32_t* x, const std::uint32_t* w, int words, const TileOutput& out) {
    alignas(64) std::uint32_t own[2 * kColumns * kTileWords];
    std::uint32_t* const sums = out.sums != nullptr ? out.sums : own;
    out.first ? zeroSums<kColumns>() : loadSums<kColumns>(sums);
    w = addWords<kPrecision, kColumns>(x, x + kTileWords, kRowBytes, 2 * kTileWords, w, words);
    storeSums<kColumns>(sums);
    if (out.last) takeSums(sums, kPrecision == Precision::kInt8 ? w : nullptr, out);
  }
  template <Precision kPrecision>
  static void multiply(const std::uint32_t* x, const std::uint32_t* w, int words, int vectors, const TileOutput& out) {
    vectors == 1 ? multiplyTile<kPrecision, 1>(x, w, words, out) : multiplyTile<kPrecision, 2>(x, w, words, out);
  }

  template <int kColumns>
  static void multiplyTaps(const PixelRows& x, const std::uint32_t* w, const TileOutput& out) {
    alignas(64) std::uint32_t sums[2 * kColumns * kTileWords];
    zeroSums<kColumns>();
    for (int t = 0; t < x.taps; ++t) {
      const std::uint32_t* const first = x.first + x.offsets[t];
      w = addWords<Precision::kBf16, kColumns>(first, first + kAmxSide * x.words, 4 * x.words, kAmxSide, w, x.words);
    }
    storeSums<kColumns>(sums);
    takeSums(sums, nullptr, out);
  }
  static void multiplyPixels(const PixelRows& x, const std::uint32_t* w, int vectors, const TileOutput& out) {
    vectors == 1 ? multiplyTaps<1>(x, w, out) : multiplyTaps<2>(x, w, out);
  }
};

}  // namespace mpm
