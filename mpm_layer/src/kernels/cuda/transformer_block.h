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

  /// x {rows.total, dim}, packed, in place. `key_bias` {rows.total} or null.
  void run(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows, const float* key_bias,
           float* x) const;

 private:
  Precision precision_;
  int dim_, heads_, head_dim_;
  float scale_;
  bool qk_norm_, gated_, mlp_norm_;
  Activation activation_;
  Norm norm1_, norm2_, q_norm_, k_norm_, hidden_norm_;
  Linear qkv_, proj_, fc1_, fc2_;
};

}  // namespace mpm::cuda
