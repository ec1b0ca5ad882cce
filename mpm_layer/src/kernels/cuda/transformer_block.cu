// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/transformer_block.h"

#include <algorithm>

namespace mpm::cuda {

TransformerBlock::TransformerBlock(const Stream& stream, const TransformerBlockSpec& spec)
    : precision_(spec.precision),
      dim_(spec.dim),
      heads_(spec.heads),
      head_dim_(spec.head_dim),
      scale_(spec.scale),
      qk_norm_(spec.qk_norm),
      gated_(spec.gated),
      mlp_norm_(spec.mlp_norm),
      activation_(spec.activation),
      norm1_(stream, spec.norm1, spec.dim),
      norm2_(stream, spec.norm2, spec.dim),
      qkv_(stream, spec.qkv.weight, spec.qkv.bias, spec.precision),
      proj_(stream, spec.proj.weight, spec.proj.bias, spec.precision),
      fc1_(stream, spec.fc1.weight, spec.fc1.bias, spec.precision),
      fc2_(stream, spec.fc2.weight, spec.fc2.bias, spec.precision) {
  if (qk_norm_) {
    q_norm_ = Norm(stream, spec.q_norm, head_dim_);
    k_norm_ = Norm(stream, spec.k_norm, head_dim_);
  }
  if (mlp_norm_) hidden_norm_ = Norm(stream, spec.mlp_norm_weights, fc2_.in());
}

void TransformerBlock::run(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows,
                           const float* key_bias, float* x) const {
  const int n = rows.total, width = heads_ * head_dim_, hidden = fc2_.in();
  const Number operand = operandOf(precision_);
  const std::size_t bytes = bytesOf(operand);
  void* const normalised = workspace.normalised.atLeast(stream, area(n, dim_) * bytes);
  void* const wide = workspace.wide.atLeast(stream, area(n, std::max(qkv_.out(), fc1_.out())) * bytes);
  // The result of attention, and later that of a gated activation, which cannot be in place.
  void* const attended = workspace.attended.atLeast(stream, area(n, gated_ ? std::max(width, hidden) : width) * bytes);

  norm1_.run(stream, n, Number::kFloat, x, operand, normalised);
  qkv_.run(stream, gemm, normalised, n, Into::kOperand, wide);
  if (qk_norm_) {
    void* const k = static_cast<unsigned char*>(wide) + static_cast<std::size_t>(width) * bytes;
    q_norm_.runOnSlices(stream, n, heads_, 3 * width, operand, wide);
    k_norm_.runOnSlices(stream, n, heads_, 3 * width, operand, k);
  }
  attention(stream, {heads_, head_dim_, scale_, key_bias, rows}, operand, wide, attended);
  proj_.run(stream, gemm, attended, n, Into::kAddToFloat, x);

  norm2_.run(stream, n, Number::kFloat, x, operand, normalised);
  fc1_.run(stream, gemm, normalised, n, Into::kOperand, wide);
  void* const activated = gated_ ? attended : wide;
  activate(stream, activation_, gated_, n, hidden, operand, wide, activated);
  if (mlp_norm_) hidden_norm_.run(stream, n, operand, activated, operand, activated);
  fc2_.run(stream, gemm, activated, n, Into::kAddToFloat, x);
}

}  // namespace mpm::cuda
