// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/cuda/gemm.h"
#include "kernels/transformer_block.h"

namespace mpm::cuda {

/// Multi-head attention of a batch of ragged images without the N x N matrix: softmax(scale q k^T + key_bias) v. qkv
/// {rows.total, 3 heads head_dim} packed: q, k, v, each head-major; out {rows.total, heads head_dim}. `key_bias`
/// {rows.total} or null. 16-bit numbers run on the tensor cores if head_dim is a multiple of 8. Everything else
/// runs in fp32 on the ordinary cores. Throws mpm::Error when head_dim > 128. Same bytes in every run.
struct AttentionCall {
  int heads = 0, head_dim = 0;
  float scale = 0;
  const float* key_bias = nullptr;
  Ragged rows;
  /// Whether heads of 33 to 64 columns run on warpgroups, with hasWarpgroupProducts(). nullopt: if the batch is large.
  std::optional<bool> warpgroups{};
};
void attention(const Stream& stream, const AttentionCall& call, Number number, const void* qkv, void* out);

/// Device memory that the blocks of a net share. One block runs at a time.
struct BlockWorkspace {
  Buffer<unsigned char> normalised, wide, attended;
};

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
  };
  /// x {rows.total, dim}, packed, in place.
  void run(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows, const Extras& extras,
           float* x) const;

 private:
  void attend(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows, const Extras& extras,
              float* x) const;
  void runMlp(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, int rows, float* x) const;

  Precision precision_;
  BlockPart part_;
  int dim_, heads_, head_dim_, special_, rotary_tables_;
  float scale_;
  bool qk_norm_, attention_norm_, gated_, mlp_norm_;
  Activation activation_;
  Norm norm1_, norm2_, q_norm_, k_norm_, attended_norm_, hidden_norm_;
  Linear qkv_, proj_, fc1_, fc2_;
};

}  // namespace mpm::cuda
