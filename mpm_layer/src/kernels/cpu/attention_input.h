// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/relative_positions.h"
#include "kernels/parallel.h"
#include "kernels/scratch.h"
#include "kernels/transformer_block.h"
#include "kernels/view.h"

namespace mpm {

/// A PositionBias, times log2(e).
struct PackedPositionBias {
  int tokens = 0, entries = 0;
  std::vector<float> table;
  std::vector<std::uint16_t> index;

  PackedPositionBias() = default;
  PackedPositionBias(const PositionBias& bias, int heads);
};

/// Queries, keys and values of one image in the layouts of attentionTile(), head-major, and the key bias. A view: it
/// does not own its memory.
struct AttentionInput {
  int rows = 0;
  int heads = 0;
  int head_dim = 0;
  bool bf16 = false;             ///< q, k, v hold the layouts of attentionTileBf16(), which need half the memory
  float* q = nullptr;            ///< {heads, rows, head_dim}
  float* k = nullptr;            ///< {heads, panels, head_dim, kPanel}
  float* v = nullptr;            ///< {heads, rows, paddedHeadDim}
  float* bias = nullptr;         ///< {panels * kPanel}
  float* key_squares = nullptr;  ///< {heads, units of 16 rows}: the largest |k|^2 of each; not in bf16
  const PackedPositionBias* position_bias = nullptr;            ///< null: none
  const PackedRelativePositions* relative_positions = nullptr;  ///< null: none

  /// Floats that an image of `row_count` rows needs.
  static std::size_t size(int row_count, int head_count, int dim);
  /// Places the parts in `memory` (aligned to 64 bytes).
  AttentionInput(float* memory, int row_count, int head_count, int dim, bool in_bf16 = false);
  AttentionInput() = default;

  /// Packs rows [begin, begin + q.rows). q, k, v {n, heads * head_dim}. `begin` is a multiple of 16, so that two tasks
  /// never write to one cache line of a panel.
  void pack(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows, MatrixView<const float> v_rows,
            float scale) const;
  /// `key_bias` {rows} or null.
  void packBias(const float* key_bias) const;

  int tasks() const;
  /// Task `task` of tasks(): one head, one tile of rows; head-major. out {rows, heads * head_dim}.
  void run(int task, MatrixView<float> out) const;

 private:
  /// True when each row has its own biases.
  bool rowBiases() const { return position_bias != nullptr || relative_positions != nullptr; }
  /// The biases of a tile of rows of a head, {kAttentionRows, scoreStride(rows)}.
  const float* tileBias(int head, int begin, int count) const;
  /// The queries of a tile, {count, head_dim}, as they are packed: times scale * log2(e).
  MatrixView<const float> tileQueries(int head, int begin, int count) const;
  void packBf16(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                MatrixView<const float> v_rows, float scale) const;
};

}  // namespace mpm
