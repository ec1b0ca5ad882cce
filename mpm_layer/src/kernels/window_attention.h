// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/attention.h"
#include "kernels/parallel.h"

namespace mpm {

/// Windows of an image whose rows attend to each other only. Every row of the image is in one of them, once.
struct AttentionWindows {
  int count = 0;                ///< of an image
  int tokens = 0;               ///< of a window
  const float* rows = nullptr;  ///< {count, tokens}: rows of the image; -1 for padding, a row of zeros behind norm1
};

/// A constant that is added to the logit of query i and key j of head h: table[h * entries + e] with
/// e = index[i * tokens + j], or e = i * tokens + j without an index.
struct PositionBias {
  int entries = 0;               ///< of a head; 0: no bias
  const float* table = nullptr;  ///< {heads, entries}
  const float* index = nullptr;  ///< {tokens, tokens}, whole numbers below kMaxEntries, or null

  static constexpr int kMaxEntries = 1 << 16;
};

/// Positions that depend on the query. The logit of the query at (y, x) and the key at (v, u) of the grid of a window
/// gets q . (rows[y - v + height - 1] + columns[x - u + width - 1]) more, with q before its scale.
struct RelativePositions {
  int height = 0, width = 0;       ///< 0: no such positions
  const float* rows = nullptr;     ///< {2 height - 1, head_dim}
  const float* columns = nullptr;  ///< {2 width - 1, head_dim}
};

/// Which rows attend to each other, and what their positions add.
struct WindowSpec {
  AttentionWindows windows;
  PositionBias position_bias;
  RelativePositions relative_positions;  ///< not beside a position_bias
};

/// As the op WindowAttention of docs/ops.md describes it. The pointers are borrowed until the constructor of
/// WindowAttention returns. It has no fields of its own, see TransformerBlockSpec.
struct WindowAttentionSpec : AttentionSpec, WindowSpec {};

/// x + Attention(LN(x)) inside windows. Weights are packed once, and tiled like those of TransformerBlock.
class WindowAttention {
 public:
  explicit WindowAttention(const WindowAttentionSpec& spec);

  /// x, y {batch, capacity, dim}; each image has the rows of the windows. y may not overlap x. Same bytes for any
  /// number of threads. Thread-safe; scratch is kept per calling thread and grows to the largest call.
  void run(TokensView<const float> x, TokensView<float> y, const Parallel& parallel) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace mpm
