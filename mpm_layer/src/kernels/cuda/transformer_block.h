// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/attention.h"
#include "kernels/cuda/linear.h"
#include "kernels/transformer_block.h"

namespace mpm::cuda {

/// Device memory that the blocks of a net share: one runs at a time.
struct BlockWorkspace {
  Buffer<unsigned char> normalised, wide, attended;
};

/// The block of kernels/transformer_block.h with its weights on the device. Operands of products are of the spec's
/// precision; the residual stream and all moments and sums are fp32.
class TransformerBlock {
 public:
  TransformerBlock(const Stream& stream, const TransformerBlockSpec& spec);

  /// x {rows.total, dim}, packed, in place. `key_bias` {rows.total} or null.
  void run(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows, const float* key_bias,
           float* x) const;

 private:
  struct Norm {
    Buffer<float> weight, bias;
    float eps = 0;
    int dim = 0;
    Norm() = default;
    Norm(const Stream& stream, const NormWeights& weights, int columns);
    NormCall call(int rows, int slices, int stride) const;
  };
  Precision precision_;
  int dim_, heads_, head_dim_;
  float scale_;
  bool qk_norm_, gated_, mlp_norm_;
  Activation activation_;
  Norm norm1_, norm2_, q_norm_, k_norm_, hidden_norm_;
  Linear qkv_, proj_, fc1_, fc2_;
};

}  // namespace mpm::cuda
