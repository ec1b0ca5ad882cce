// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "kernels/cpu/amx_instructions.h"

namespace mpm::test {

/// What the instructions of AMX do, in C++: each thread has its tiles. What raises a fault on a CPU throws
/// std::logic_error here.
class EmulatedAmx {
 public:
  static constexpr int kTiles = 8, kMaxRows = 16, kMaxRowBytes = 64;

  static void configure(const AmxConfiguration& configuration) {
    require(configuration.palette == 1 && configuration.start_row == 0, "ldtilecfg: not palette 1");
    for (const std::uint8_t byte : configuration.reserved) require(byte == 0, "ldtilecfg: reserved byte");
    for (int t = 0; t < 16; ++t) {
      const int rows = configuration.rows[t], bytes = configuration.row_bytes[t];
      require(rows <= kMaxRows && bytes <= kMaxRowBytes && (rows == 0) == (bytes == 0), "ldtilecfg: size of a tile");
      require(t < kTiles || rows == 0, "ldtilecfg: no such tile");
    }
    state() = {};
    state().configured = true;
    state().configuration = configuration;
  }
  static void release() { state() = {}; }
  static bool isConfigured() { return state().configured; }

  template <int kTile>
  static void zero() {
    used(kTile) = {};
  }
  template <int kTile>
  static void load(const void* rows, std::ptrdiff_t stride_bytes) {
    Tile& tile = used(kTile);
    tile = {};
    for (int i = 0; i < rowsOf(kTile); ++i)
      std::memcpy(tile.bytes[i], static_cast<const char*>(rows) + i * stride_bytes, bytesOf(kTile));
  }
  template <int kTile>
  static void store(void* rows, std::ptrdiff_t stride_bytes) {
    const Tile& tile = used(kTile);
    for (int i = 0; i < rowsOf(kTile); ++i)
      std::memcpy(static_cast<char*>(rows) + i * stride_bytes, tile.bytes[i], bytesOf(kTile));
  }

  // Manuals differ in the order of the sums of one instruction; no test depends on it.
  template <int kSums, int kX, int kW>
  static void multiplyBf16() {
    multiply<kSums, kX, kW>([](std::uint32_t sum, std::uint32_t x, std::uint32_t w) {
      float total = std::bit_cast<float>(sum);
      for (const auto& [a, b] : {std::pair{x << 16, w << 16}, std::pair{x & 0xffff0000u, w & 0xffff0000u}})
        total = flushed(std::fma(flushed(std::bit_cast<float>(a)), flushed(std::bit_cast<float>(b)), flushed(total)));
      return std::bit_cast<std::uint32_t>(total);
    });
  }
  template <int kSums, int kX, int kW>
  static void multiplyInt8() {
    multiply<kSums, kX, kW>([](std::uint32_t sum, std::uint32_t x, std::uint32_t w) {
      for (int byte = 0; byte < 32; byte += 8) {
        const int a = static_cast<std::uint8_t>(x >> byte), b = static_cast<std::int8_t>(w >> byte);
        sum += static_cast<std::uint32_t>(a * b);  // wraps, does not saturate
      }
      return sum;
    });
  }

 private:
  struct Tile {
    unsigned char bytes[kMaxRows][kMaxRowBytes] = {};
    std::uint32_t word(int row, int column) const {
      std::uint32_t word;
      std::memcpy(&word, bytes[row] + 4 * static_cast<std::ptrdiff_t>(column), 4);
      return word;
    }
  };
  struct State {
    bool configured = false;
    AmxConfiguration configuration;
    Tile tiles[kTiles];
  };

  static State& state() {
    thread_local State of_thread;
    return of_thread;
  }
  static int rowsOf(int tile) { return state().configuration.rows[tile]; }
  static std::size_t bytesOf(int tile) { return state().configuration.row_bytes[tile]; }
  static int wordsOf(int tile) { return static_cast<int>(bytesOf(tile) / 4); }
  static Tile& used(int tile) {
    require(state().configured && rowsOf(tile) > 0, "a tile without configuration");
    return state().tiles[tile];
  }
  static void require(bool holds, const char* fault) {
    if (!holds) throw std::logic_error(fault);
  }
  // Denormal numbers are zero, as operands and as results.
  static float flushed(float x) { return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }

  template <int kSums, int kX, int kW, class Add>
  static void multiply(Add add) {
    static_assert(kSums != kX && kSums != kW && kX != kW, "the CPU refuses it");
    Tile& sums = used(kSums);
    const Tile &x = used(kX), &w = used(kW);
    require(rowsOf(kSums) == rowsOf(kX) && wordsOf(kSums) == wordsOf(kW) && wordsOf(kX) == rowsOf(kW),
            "sizes of tiles do not fit together");
    Tile result;  // what lies beside the rows and columns of the sums becomes zero
    for (int i = 0; i < rowsOf(kSums); ++i) {
      for (int j = 0; j < wordsOf(kSums); ++j) {
        std::uint32_t sum = sums.word(i, j);
        for (int k = 0; k < wordsOf(kX); ++k) sum = add(sum, x.word(i, k), w.word(k, j));
        std::memcpy(result.bytes[i] + 4 * static_cast<std::ptrdiff_t>(j), &sum, 4);
      }
    }
    sums = result;
  }
};

}  // namespace mpm::test
