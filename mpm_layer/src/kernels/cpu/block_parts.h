// SPDX-License-Identifier: Apache-2.0
// Parts that TransformerBlock and WindowAttention share.
#pragma once

#include <vector>

#include "kernels/attention.h"
#include "kernels/cpu/attention_input.h"
#include "kernels/elementwise.h"
#include "kernels/linear.h"
#include "kernels/view.h"

namespace mpm {

/// A copy of NormWeights.
struct PackedNorm {
  std::vector<float> weight, bias;
  float eps = 0;
  bool rms = false;

  PackedNorm() = default;
  PackedNorm(const NormWeights& weights, int dim);
  void run(MatrixView<const float> x, MatrixView<float> y) const { runFrom(0, x, y); }
  /// With the weights from `first` on.
  void runFrom(int first, MatrixView<const float> x, MatrixView<float> y) const {
    norm(x, {weight.data() + first, bias.data() + first, eps, rms}, y);
  }
};

/// An AttentionSpec, packed.
struct PackedAttention {
  int heads = 0, head_dim = 0;
  int norm_step = 0;  ///< from the weights of q_norm and k_norm for a head to those for the next one
  float scale = 0;
  bool bf16 = false;                                ///< of q k^T and of the sum of v
  const TileKernel* tiles = nullptr;                ///< for both, if not null
  PackedNorm norm1, q_norm, k_norm, attended_norm;  ///< without weights: none
  PackedLinear qkv, proj;

  PackedAttention() = default;
  explicit PackedAttention(const AttentionSpec& spec);

  int width() const { return heads * head_dim; }
  /// Floats that the AttentionInput of a sequence needs.
  std::size_t inputSize(int rows, const KeptKeys& kept = {}) const {
    return AttentionInput::size(rows, heads, head_dim, kept, tiles);
  }
  AttentionInput input(float* memory, int rows, const KeptKeys& kept = {}) const {
    return {memory, rows, heads, head_dim, bf16, kept, tiles};
  }

  struct Operands {
    MatrixView<float> q, k, v;  ///< {rows, width()}
  };
  /// The parts of `all`, what qkv gave; q and k normalised in place.
  Operands operands(MatrixView<float> all) const;
  /// y = x + proj(attended). May change `attended`.
  void addTo(MatrixView<const float> x, MatrixView<float> attended, MatrixView<float> y) const;
};

/// Rows of a sequence: of an image, or of a window of one.
struct RowTile {
  int sequence, begin, end;
};

/// Row tiles of one sequence, in front of `rows_after` rows of the next ones.
void appendTiles(int sequence, int rows, int rows_after, int threads, std::vector<RowTile>& tiles);

/// Memory of a tile, kept by the calling thread: two matrices of at most PackedLinear::kMaxRows rows.
MatrixView<float> narrowScratch(int rows, int cols);
MatrixView<float> wideScratch(int rows, int cols);

}  // namespace mpm
