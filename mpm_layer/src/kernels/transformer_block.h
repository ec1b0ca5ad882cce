// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/elementwise.h"
#include "kernels/parallel.h"
#include "kernels/precision.h"
#include "kernels/view.h"

namespace mpm {

struct LinearWeights {
  MatrixView<const float> weight;  ///< {out, in}
  const float* bias = nullptr;     ///< {out}, or null
};

/// A constant that attention adds to the logit of query i and key j of head h (relative positions): table[h * entries +
/// e] with e = index[i * tokens + j], or e = i * tokens + j without an index.
struct PositionBias {
  int tokens = 0;                ///< rows of an image; 0: no bias
  int entries = 0;               ///< of a head
  const float* table = nullptr;  ///< {heads, entries}
  const float* index = nullptr;  ///< {tokens, tokens}, whole numbers below kMaxEntries, or null

  static constexpr int kMaxEntries = 1 << 16;
};

/// Windows of an image whose rows attend to each other only. Every row of the image is in one of them, once.
struct AttentionWindows {
  int count = 0;                ///< of an image; 0: attention over the whole image
  int tokens = 0;               ///< of a window
  const float* rows = nullptr;  ///< {count, tokens}: rows of the image; -1 for padding, a row of zeros behind norm1
};

/// Positions that depend on the query. The logit of the query at (y, x) and the key at (v, u) of a grid gets
/// q . (rows[y - v + height - 1] + columns[x - u + width - 1]) more, with q before its scale.
struct RelativePositions {
  int height = 0, width = 0;       ///< of the grid of a window, or of an image without windows; 0: no such positions
  const float* rows = nullptr;     ///< {2 height - 1, head_dim}
  const float* columns = nullptr;  ///< {2 width - 1, head_dim}
};

/// The half of a block that an op runs. Tokens may merge between the two.
enum class BlockPart {
  kWhole,
  kAttention,  ///< x + Attention(LN(x))
  kMlp,        ///< x + MLP(LN(x))
};

/// One pre-norm ViT block, as the op TransformerBlock of docs/ops.md describes it. The pointers are borrowed until the
/// constructor of TransformerBlock returns.
struct TransformerBlockSpec {
  BlockPart part = BlockPart::kWhole;  ///< weights of the other part stay empty
  int dim = 0;
  int heads = 0;
  int head_dim = 0;
  float scale = 0;  ///< multiplies q k^T
  NormWeights norm1;
  LinearWeights qkv;  ///< {3 heads head_dim, dim}: q, k, v rows, head-major
  bool qk_norm = false;
  NormWeights q_norm, k_norm;  ///< over head_dim
  int special = 0;             ///< rows in front that rotary positions leave as they are
  int rotary_tables = 0;       ///< 0: no rotary positions; 1: all heads have the same; else one per head
  PositionBias position_bias;  ///< every image then has this many rows
  /// Blocks with windows have no position_bias, no rotary positions, no keys and no key bias.
  AttentionWindows windows;
  RelativePositions relative_positions;  ///< not beside a position_bias
  bool attention_norm = false;
  NormWeights attention_norm_weights;  ///< over heads head_dim, before proj
  LinearWeights proj;                  ///< {dim, heads head_dim}
  NormWeights norm2;
  LinearWeights fc1;  ///< {hidden, dim}, or {2 hidden, dim} when gated
  bool gated = false;
  Activation activation = Activation::kGeluErf;
  bool mlp_norm = false;
  NormWeights mlp_norm_weights;  ///< over hidden, between the activation and fc2
  LinearWeights fc2;             ///< {dim, hidden}
  Precision precision = Precision::kFp32;
};

/// x' + MLP(LN(x')) with x' = x + Attention(LN(x)), or one of the two parts. Weights are packed once. Tiled, so that
/// intermediates stay in L2 and the N x N scores never exist: LN+QKV per row tile, attention per head and row tile, the
/// rest per row tile again.
class TransformerBlock {
 public:
  explicit TransformerBlock(const TransformerBlockSpec& spec);
  ~TransformerBlock();
  TransformerBlock(TransformerBlock&&) noexcept;
  TransformerBlock& operator=(TransformerBlock&&) noexcept;

  /// x, y {batch, capacity, dim}, the same rows; y may not overlap x. `key_bias` {batch, capacity} or null: added to
  /// the scaled logits of each key (proportional attention: log cluster size). Same bytes for any number of threads.
  /// Thread-safe; scratch is kept per calling thread and grows to the largest call. `keys` {batch, capacity, head_dim}
  /// or without data: the mean of each row's keys over the heads, before rotary positions. `rotations`
  /// {batch * (capacity - special), 2 * tables * pairs}, as rotate() takes them, of a block with rotary positions.
  void run(TokensView<const float> x, const float* key_bias, TokensView<float> y, const Parallel& parallel,
           TokensView<float> keys = {}, MatrixView<const float> rotations = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm
