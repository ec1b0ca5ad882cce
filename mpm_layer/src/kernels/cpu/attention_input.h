// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <numbers>

#include "kernels/attention.h"
#include "kernels/cpu/tiles.h"
#include "kernels/view.h"

namespace mpm {

constexpr float kLog2E = std::numbers::log2e_v<float>;

/// Neighbouring rows of a head.
struct AttentionRows {
  int head = 0, begin = 0, count = 0;  ///< count at most kAttentionRows
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

  /// Packs rows [begin, begin + q.rows). q, k, v {n, heads * head_dim}. `begin` is a multiple of 16, so that two tasks
  /// never write to one cache line of a panel.
  void pack(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows, MatrixView<const float> v_rows,
            float scale) const;
  /// Between pack() of all rows and run(): tasks that bring v into its layout, whose scales are those of all rows.
  int valueTasks() const { return tiles != nullptr ? heads * tiles->panelsFor(head_dim) : 0; }
  void finishValues(int task) const;
  /// `key_bias` {keys} or null.
  void packBias(const float* key_bias) const;

  int tasks() const;
  /// The rows of task `task` of tasks(); head-major.
  AttentionRows rowsOf(int task) const;
  /// Queries {count, head_dim} as they are packed: times scale * log2(e).
  MatrixView<const float> queries(const AttentionRows& part) const;
  /// Attention of these rows to all keys. out {rows, heads * head_dim}. `biases` of the logits, times log2(e): in place
  /// of `bias` those of each row, {count, scoreStride(keys)}.
  void run(const AttentionRows& part, MatrixView<float> out, const float* biases = nullptr) const;

 private:
  // The parts of `memory` and `kept` with tiles; returns the floats of both. Without memory only these.
  struct Sizes {
    std::size_t own, kept;
  };
  Sizes placeTiles(float* memory, float* kept_memory);
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
