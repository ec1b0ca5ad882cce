// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/attention.h"
#include "kernels/cuda/kept_rows.h"
#include "kernels/transformer_block.h"

namespace mpm::cuda {

/// The block of kernels/transformer_block.h. Operands of products have the precision of the spec. The residual stream,
/// moments and sums are fp32.
class TransformerBlock {
 public:
  TransformerBlock(const Stream& stream, const TransformerBlockSpec& spec);

  /// What a block gets and gives besides its tokens. All are packed and on the device.
  struct Extras {
    const float* key_bias = nullptr;   ///< {rows.total} or null
    const float* rotations = nullptr;  ///< {rows.total - batch * special, 2 * tables * pairs}, with rotary positions
    int pairs = 0;                     ///< of `rotations`
    float* keys = nullptr;             ///< {rows.total, head_dim} or null: the mean of each row's keys over the heads
    /// {kept_rows, 2 heads head_dim} operands or null: keys and values of all rows of the only image. Those of x
    /// replace theirs at `places`, and attend to all; `key_bias` is {kept_rows}.
    void* kept = nullptr;
    int kept_rows = 0;
    Places places{};
  };
  /// Bytes of Extras::kept for so many rows.
  std::size_t keptBytes(int rows) const;
  /// x {rows.total, dim}, packed, in place.
  void run(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows, const Extras& extras,
           float* x) const;

 private:
  void attend(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows, const Extras& extras,
              float* x) const;
  /// `normalised`: the operands of fc1.
  void runMlp(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, int rows, const void* normalised,
              float* x) const;

  Precision precision_;
  BlockPart part_;
  bool parallel_;
  int special_, rotary_tables_;
  bool gated_, mlp_norm_;
  Activation activation_;
  AttentionLayers attention_;
  Norm norm2_, hidden_norm_;
  Linear fc1_, fc2_;
};

}  // namespace mpm::cuda
