// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <new>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/view.h"

namespace mpm::worlds {

/// Random sizes and values. The same seed gives the same ones on every computer.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  /// From `least` to `most`. Small numbers are as likely as large ones, since loops go wrong at their ends.
  int size(int least, int most) {
    const int range = most - least + 1;
    return least + static_cast<int>(engine_() % static_cast<unsigned>(1 + engine_() % static_cast<unsigned>(range)));
  }
  bool chance(unsigned one_in) { return engine_() % one_in == 0; }
  template <typename T>
  T oneOf(std::initializer_list<T> values) {
    return values.begin()[engine_() % values.size()];
  }
  float normal(float sigma) {
    float sum = -6;  // of uniform numbers: std::normal_distribution differs between standard libraries
    for (int i = 0; i < 12; ++i) sum += static_cast<float>(engine_()) * 0x1p-32f;
    return sigma * sum;
  }
  unsigned bits() { return static_cast<unsigned>(engine_()); }

 private:
  std::mt19937 engine_;
};

/// The memory of one call of a kernel. Each array ends, or begins, at a page that nobody may touch: what reads or
/// writes past it ends the process with SIGSEGV. Its other end, the gaps between rows and all inputs are compared with
/// what they held before.
class Memory {
 public:
  explicit Memory(Random& random) : random_(random) {}
  ~Memory() {
    for (const Block& block : blocks_) ::munmap(block.mapped, block.mapped_bytes);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// An array that kernels only read.
  template <typename T>
  T* input(std::span<const T> values) {
    T* const data = static_cast<T*>(add(values.size_bytes()));
    std::memcpy(static_cast<void*>(data), values.data(), values.size_bytes());
    blocks_.back().kept.assign(reinterpret_cast<const unsigned char*>(data),
                               reinterpret_cast<const unsigned char*>(data + values.size()));
    return data;
  }
  const float* inputOf(std::size_t count, float sigma = 1, float mean = 0) {
    return input<float>(normal(count, sigma, mean));
  }
  std::vector<float> normal(std::size_t count, float sigma = 1, float mean = 0) {
    std::vector<float> values(count);
    for (float& value : values) value = mean + random_.normal(sigma);
    return values;
  }

  /// An array that kernels write; its bytes are those of NaN.
  template <typename T>
  T* output(std::size_t count) {
    return static_cast<T*>(add(count * sizeof(T)));
  }

  /// Rows of these numbers, with or without gaps of NaN between them. `dense`: never gaps.
  MatrixView<const float> inputRows(int rows, int cols, const std::vector<float>& numbers, bool dense = false) {
    const int stride = cols + (dense ? 0 : gap());
    std::vector<float> values(lengthOf(rows, cols, stride), std::numeric_limits<float>::quiet_NaN());
    for (int i = 0; i < rows; ++i) {
      std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(i) * cols, cols,
                  values.begin() + static_cast<std::ptrdiff_t>(i) * stride);
    }
    return {input<float>(values), rows, cols, stride};
  }
  MatrixView<const float> inputRows(int rows, int cols, float sigma = 1, bool dense = false) {
    return inputRows(rows, cols, normal(static_cast<std::size_t>(rows) * cols, sigma), dense);
  }
  /// Rows to be written. What lies between them has to stay.
  MatrixView<float> outputRows(int rows, int cols, bool dense = false) {
    const int stride = cols + (dense ? 0 : gap());
    float* const data = output<float>(lengthOf(rows, cols, stride));
    blocks_.back().rows = {data, rows, cols, stride};
    return {data, rows, cols, stride};
  }
  /// The same, with the values of `from` at first.
  MatrixView<float> copyOf(MatrixView<const float> from) {
    const MatrixView<float> rows = outputRows(from.rows, from.cols);
    copyRows(from, rows);
    return rows;
  }

  /// What a kernel did to memory that is not its own; empty: nothing.
  std::string damage() const {
    for (const Block& block : blocks_) {
      for (const unsigned char* at = block.pages; at != block.pages + block.page_bytes; ++at) {
        if ((at < block.data || at >= block.data + block.bytes) && *at != kCanary)
          return at < block.data ? "writes in front of an array" : "writes behind an array";
      }
      if (!block.kept.empty() && std::memcmp(block.kept.data(), block.data, block.bytes) != 0)
        return "changes an input";
      const MatrixView<float>& rows = block.rows;
      for (int i = 0; i + 1 < rows.rows; ++i) {
        for (const float* gap = rows.row(i) + rows.cols; gap != rows.row(i + 1); ++gap)
          if (!isCanary(*gap)) return "writes between the rows of an output";
      }
    }
    return "";
  }

 private:
  static constexpr unsigned char kCanary = 0xff;  // four of them are a NaN

  struct Block {
    unsigned char* mapped;
    std::size_t mapped_bytes;
    unsigned char* pages;  // those between the two that nobody may touch
    std::size_t page_bytes;
    unsigned char* data;
    std::size_t bytes;
    std::vector<unsigned char> kept;  // of an input
    MatrixView<float> rows;           // of an output with gaps
  };

  int gap() { return random_.chance(2) ? 0 : random_.size(1, 5); }
  static std::size_t lengthOf(int rows, int cols, int stride) {
    return rows == 0 ? 0 : static_cast<std::size_t>(rows - 1) * stride + cols;
  }
  static bool isCanary(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits == 0xffffffffu;
  }

  void* add(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    Block block{};
    block.bytes = bytes;
    block.page_bytes = (bytes + page) / page * page;
    block.mapped_bytes = block.page_bytes + 2 * page;
    void* const mapped =
        ::mmap(nullptr, block.mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    block.mapped = static_cast<unsigned char*>(mapped);
    block.pages = block.mapped + page;
    ::mprotect(block.mapped, page, PROT_NONE);
    ::mprotect(block.pages + block.page_bytes, page, PROT_NONE);
    std::memset(block.pages, kCanary, block.page_bytes);
    block.data = random_.chance(3) ? block.pages : block.pages + block.page_bytes - bytes;
    blocks_.push_back(block);
    return block.data;
  }

  Random& random_;
  std::deque<Block> blocks_;
};

}  // namespace mpm::worlds
