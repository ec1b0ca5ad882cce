// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/attention.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"
#include "kernels/view.h"

namespace mpm {

/// The half of a block that an op runs. Tokens may merge between the two.
enum class BlockPart {
  kWhole,
  kAttention,  ///< x + Attention(LN(x))
  kMlp,        ///< x + MLP(LN(x))
};

/// What of a block runs, and which rows its positions turn.
struct BlockTask {
  BlockPart part = BlockPart::kWhole;  ///< weights of the other part stay empty
  bool parallel = false;               ///< x + Attention(LN(x)) + MLP(LN(x)); only of a whole block
  int special = 0;                     ///< rows in front that rotary positions leave as they are
  int rotary_tables = 0;               ///< 0: no rotary positions; 1: all heads have the same; else one per head
};

/// Weights of a block's MLP. The pointers are borrowed.
struct MlpSpec {
  NormWeights norm2;
  LinearWeights fc1;  ///< {hidden, dim}, or {2 hidden, dim} when gated
  bool gated = false;
  Activation activation = Activation::kGeluErf;
  bool mlp_norm = false;
  NormWeights mlp_norm_weights;  ///< over hidden, between the activation and fc2
  LinearWeights fc2;             ///< {dim, hidden}
};

/// One pre-norm ViT block, as the op TransformerBlock of docs/ops.md describes it. The pointers are borrowed until the
/// constructor of TransformerBlock returns. It has no fields of its own: code for a device binds all fields of its
/// bases by name, so a new field does not compile until that code has decided what to do with it.
struct TransformerBlockSpec : AttentionSpec, BlockTask, MlpSpec {};

/// x' + MLP(LN(x')) with x' = x + Attention(LN(x)), or x' + MLP(LN(x)), or one of the two parts. Weights are packed
/// once. Tiled, so that intermediates stay in L2 and the N x N scores never exist: LN+QKV per row tile, attention per
/// head and row tile, the rest per row tile again.
class TransformerBlock {
 public:
  explicit TransformerBlock(const TransformerBlockSpec& spec);

  /// x, y {batch, capacity, dim}, the same rows; y may not overlap x. `key_bias` {batch, capacity} or null: added to
  /// the scaled logits of each key (proportional attention: log cluster size). Same bytes for any number of threads.
  /// Thread-safe; scratch is kept per calling thread and grows to the largest call. `keys` {batch, capacity, head_dim}
  /// or without data: the mean of each row's keys over the heads, before rotary positions. `rotations`
  /// {batch * (capacity - special), 2 * tables * pairs}, as rotate() takes them, of a block with rotary positions.
  /// `kept`, of a single image: the rows of x replace their keys and values there and attend to all of them, whose
  /// biases are `key_bias` {kept.rows}.
  void run(TokensView<const float> x, const float* key_bias, TokensView<float> y, const Parallel& parallel,
           TokensView<float> keys = {}, MatrixView<const float> rotations = {}, const KeptKeys& kept = {}) const;

  /// Floats of KeptKeys::memory for so many rows; 0 for a block without attention.
  std::size_t keptSize(int capacity) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace mpm
