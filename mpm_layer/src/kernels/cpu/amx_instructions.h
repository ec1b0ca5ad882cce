// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpm {

/// The operand of ldtilecfg in palette 1: how large each of the tiles is.
struct alignas(64) AmxConfiguration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};  ///< at most 64
  std::uint8_t rows[16] = {};        ///< at most 16
};
static_assert(sizeof(AmxConfiguration) == 64);

/// The instructions of AMX, on tiles by their number. In assembly, which needs no flag of the compiler: the intrinsics
/// of gcc 12 take a literal number only, and do not say that tileloadd reads memory.
struct AmxInstructions {
  static void configure(const AmxConfiguration& configuration) {
    asm volatile("ldtilecfg %0" : : "m"(configuration) : "memory");
  }
  /// The tiles lose their values, and switching to another thread no longer saves them.
  static void release() { asm volatile("tilerelease"); }

  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  static void load(const void* rows, std::ptrdiff_t stride_bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(rows), "r"(stride_bytes), "i"(kTile) : "memory");
  }
  template <int kTile>
  static void store(void* rows, std::ptrdiff_t stride_bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(rows), "r"(stride_bytes), "i"(kTile) : "memory");
  }
  /// sums {rows, columns} += x {rows, words} w {words, columns}. A word is two bf16; the sums are float.
  template <int kSums, int kX, int kW>
  static void multiplyBf16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kX), "i"(kW));
  }
  /// The same with four bytes in a word, of x without sign and of w with sign; the sums are int32.
  template <int kSums, int kX, int kW>
  static void multiplyInt8() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kX), "i"(kW));
  }
};

}  // namespace mpm
