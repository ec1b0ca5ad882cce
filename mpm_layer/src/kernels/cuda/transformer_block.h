// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/attention.h"
#include "kernels/cuda/gemm.h"
#include "kernels/transformer_block.h"

namespace mpm::cuda {

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
