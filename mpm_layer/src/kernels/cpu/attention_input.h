// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "kernels/attention.h"
#include "kernels/cpu/tiles.h"
#include "kernels/view.h"

namespace mpm {

constexpr float kLog2E = std::numbers::log2e_v<float>;

/// Query rows that one task handles: their scores against 1025 keys are 100 KiB and stay in L2 beside a head's K and V.
/// A kernel whose groups have more rows takes two groups.
constexpr int kAttentionRows = 24, kMaxAttentionRows = 64;

/// Rows of V are padded to this many floats, a multiple of every vector.
constexpr int paddedHeadDim(int head_dim) { return (head_dim + 15) / 16 * 16; }

/// Columns of the score scratch, padded past whole panels so that rows do not fall on one set of L1.
constexpr int scoreStride(int keys) { return (keys + 63) / 64 * 64 + 16; }

/// Two bf16 numbers that are neighbours in depth, as the multiply-add instructions take them.
struct Bf16Pair {
  std::uint16_t first, second;
};
constexpr int pairsFor(int count) { return (count + 1) / 2; }

/// One head, a few query rows, all keys. With operands in bf16, Number is Bf16Pair: rows of q and k have
/// pairsFor(head_dim) of them and v has pairsFor(keys) rows; the fields below count numbers, not pairs. Logits, maxima,
/// sums and the result are float all the same.
template <class Number>
struct AttentionTile {
  const Number* q;  ///< {rows, head_dim}, already times scale * log2(e)
  std::ptrdiff_t q_stride;
  int rows;
  const Number* k;  ///< {panels, head_dim, kPanel}; columns past the last key are finite
  const Number* v;  ///< {keys, paddedHeadDim}
  /// {panels * kPanel}: log2(e) * key bias, -infinity past the last key. Sums start from it, so adding it costs
  /// nothing.
  const float* bias;
  std::ptrdiff_t bias_stride;  ///< from row to row, a multiple of 16; 0: one bias for all rows
  int keys;
  float largest_key_square;  ///< of |k|^2 over the keys; not read in bf16
  int head_dim;
  float* out;  ///< {rows, head_dim}
  std::ptrdiff_t out_stride;
};

/// Floats of scratch that a tile needs, aligned to 64 bytes.
std::size_t attentionScratch(int keys, int head_dim);
void attentionTile(const AttentionTile<float>& tile, float* scratch);
/// Needs cpuHasAvx512Bf16().
void attentionTileBf16(const AttentionTile<Bf16Pair>& tile, float* scratch);

/// The largest |row|^2 of x {rows, cols}; infinity when a row holds a NaN.
float largestSquare(const float* x, std::ptrdiff_t stride, int rows, int cols);

/// Neighbouring rows of a head.
struct AttentionRows {
  int head = 0, begin = 0, count = 0;  ///< count at most rowsOfTask()
};

/// Queries, keys and values of one sequence in the layouts of attentionTile(), head-major, and the key bias. A view: it
/// does not own its memory. With `tiles` both products run on that kernel, and the parts have its layouts.
struct AttentionInput {
  int rows = 0;      ///< queries
  int keys = 0;      ///< rows that they attend to
  int capacity = 0;  ///< rows of k, v and key_squares
  int heads = 0;
  int head_dim = 0;
  const TileKernel* tiles = nullptr;
  bool bf16 = false;             ///< q, k, v hold the layouts of attentionTileBf16(), which need half the memory
  const int* places = nullptr;   ///< KeptKeys::places
  float* q = nullptr;            ///< {heads, rows, head_dim}
  float* k = nullptr;            ///< {heads, panels, head_dim, kPanel}
  float* v = nullptr;            ///< {heads, capacity, paddedHeadDim}
  float* key_squares = nullptr;  ///< {heads, capacity}: |k|^2; not in bf16
  float* bias = nullptr;         ///< {panels * kPanel}
  // With tiles: scales of q and k, and the values of v before finishValues().
  float *q_scales = nullptr, *k_scales = nullptr, *values = nullptr, *v_scales = nullptr;

  /// Floats that a sequence of `row_count` rows needs, beside what is kept.
  static std::size_t size(int row_count, int head_count, int dim, const KeptKeys& kept = {},
                          const TileKernel* with_tiles = nullptr);
  /// Floats of KeptKeys::memory.
  static std::size_t keptSize(int capacity, int head_count, int dim, const TileKernel* with_tiles = nullptr);
  /// Places the parts in `memory` (aligned to 64 bytes).
  AttentionInput(float* memory, int row_count, int head_count, int dim, bool in_bf16 = false, const KeptKeys& kept = {},
                 const TileKernel* with_tiles = nullptr);
  AttentionInput() = default;

  /// Packs rows [begin, begin + q.rows). q, k, v {n, heads * head_dim}. `begin` is a multiple of 32, the largest group,
  /// so that two tasks never write to one cache line of a panel.
  void pack(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows, MatrixView<const float> v_rows,
            float scale) const;
  /// Between pack() of all rows and run(): tasks that bring v into its layout, whose scales are those of all rows.
  int valueTasks() const { return tiles != nullptr ? heads * tiles->panelsFor(head_dim) : 0; }
  void finishValues(int task) const;
  /// `key_bias` {keys} or null.
  void packBias(const float* key_bias) const;

  int rowsOfTask() const { return tiles != nullptr && tiles->rows > kAttentionRows ? 2 * tiles->rows : kAttentionRows; }
  int tasks() const { return heads * ((rows + rowsOfTask() - 1) / rowsOfTask()); }
  /// The rows of task `task` of tasks(); head-major.
  AttentionRows rowsOf(int task) const;
  /// Queries {count, head_dim} as they are packed: times scale * log2(e).
  MatrixView<const float> queries(const AttentionRows& part) const;
  /// Attention of these rows to all keys. out {rows, heads * head_dim}. `biases` of the logits, times log2(e): in place
  /// of `bias` those of each row, {count, scoreStride(keys)}.
  void run(const AttentionRows& part, MatrixView<float> out, const float* biases = nullptr) const;

 private:
  // Places the parts in `memory` and, where there is any, what is kept in `kept_memory`. Returns the floats of both;
  // without memory only these.
  struct Sizes {
    std::size_t own, kept;
  };
  Sizes placeParts(float* memory, float* kept_memory);
  void packTiles(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                 MatrixView<const float> v_rows, float scale) const;
  void runTiles(const AttentionRows& part, MatrixView<float> out) const;
  int placeOf(int row) const { return places != nullptr ? places[row] : row; }
  /// Packs the keys of rows [begin, end) into the panels of head `h`, `depth` floats each; `row` gives those of a row.
  template <class Row>
  void packKeys(int h, int begin, int end, int depth, Row row) const;
  void packBf16(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                MatrixView<const float> v_rows, float scale) const;
};

}  // namespace mpm
