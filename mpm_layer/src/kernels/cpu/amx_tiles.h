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

/// `Amx`: AmxInstructions, or what the tests have in their place.
template <class Amx>
class AmxTiles {
 public:
  static const TileKernel& kernel(Precision precision) {
    static constexpr int kSize = 2 * kAmxSide;
    static constexpr TileKernel kBf16{Precision::kBf16,           kSize,    kSize, kAmxSide, 256, false, 0,
                                      multiply<Precision::kBf16>, kAmxSide, begin, end};
    // x has an offset, as on VNNI: both give the same bytes.
    static constexpr TileKernel kInt8{Precision::kInt8,           kSize,    kSize, kAmxSide, 0, true, kMaxInt8,
                                      multiply<Precision::kInt8>, kAmxSide, begin, end};
    return precision == Precision::kBf16 ? kBf16 : kInt8;
  }

 private:
  static constexpr int kRowBytes = 4 * kAmxSide;

  // Every tile is whole: rows, columns and depth are filled up with zeros.
  static void begin() {
    AmxConfiguration whole;
    for (int tile = 0; tile < 8; ++tile) whole.row_bytes[tile] = kRowBytes, whole.rows[tile] = kAmxSide;
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
  template <Precision kPrecision, bool kTwoColumns>
  static void multiplyTile(const std::uint32_t* x, const std::uint32_t* w, int words, const TileOutput& out) {
    constexpr int kColumns = kTwoColumns ? 2 : 1;
    alignas(64) std::uint32_t sums[2 * kAmxSide * kColumns * kAmxSide];
    Amx::template zero<0>();
    Amx::template zero<2>();
    if constexpr (kTwoColumns) {
      Amx::template zero<1>();
      Amx::template zero<3>();
    }
    for (int k = 0; k < words; k += kAmxSide) {
      Amx::template load<4>(x, kRowBytes);
      Amx::template load<6>(w, kColumns * kRowBytes);
      multiplyAdd<kPrecision, 0, 4, 6>();
      Amx::template load<5>(x + kAmxSide * kAmxSide, kRowBytes);
      multiplyAdd<kPrecision, 2, 5, 6>();
      if constexpr (kTwoColumns) {
        Amx::template load<7>(w + kAmxSide, kColumns * kRowBytes);
        multiplyAdd<kPrecision, 1, 4, 7>();
        multiplyAdd<kPrecision, 3, 5, 7>();
      }
      x += 2 * kAmxSide * kAmxSide;
      w += kColumns * kAmxSide * kAmxSide;
    }
    std::uint32_t* const below = sums + kAmxSide * kColumns * kAmxSide;
    Amx::template store<0>(sums, kColumns * kRowBytes);
    Amx::template store<2>(below, kColumns * kRowBytes);
    if constexpr (kTwoColumns) {
      Amx::template store<1>(sums + kAmxSide, kColumns * kRowBytes);
      Amx::template store<3>(below + kAmxSide, kColumns * kRowBytes);
    }
    takeSums(sums, kPrecision == Precision::kInt8 ? w : nullptr, out);
  }

  template <Precision kPrecision>
  static void multiply(const std::uint32_t* x, const std::uint32_t* w, int words, int vectors, const TileOutput& out) {
    vectors == 1 ? multiplyTile<kPrecision, false>(x, w, words, out) : multiplyTile<kPrecision, true>(x, w, words, out);
  }
};

}  // namespace mpm
