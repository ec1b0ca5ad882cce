// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/transformer_block.h"

#include <algorithm>

#include "mpm/error.hpp"

namespace mpm::cuda {

// All fields of the spec are bound by name: one that is new does not compile until it is used here.
TransformerBlock::TransformerBlock(const Stream& stream, const TransformerBlockSpec& spec) {
  const auto linear = [&](const LinearWeights& weights) {
    return Linear(stream, weights.weight, weights.bias, precision_);
  };
  const auto& [dim, heads, head_dim, scale, norm1, qkv, qk_norm, norm_per_head, q_norm, k_norm, attention_norm,
               attention_norm_weights, proj, precision] = static_cast<const AttentionSpec&>(spec);
  const auto& [part, parallel, special, rotary_tables] = static_cast<const BlockTask&>(spec);
  const auto& [norm2, fc1, gated, activation, mlp_norm, mlp_norm_weights, fc2] = static_cast<const MlpSpec&>(spec);
  if (norm_per_head || parallel) throw Error("norms of each head, and attention and MLP side by side, are for the CPU");
  precision_ = precision;
  part_ = part;
  dim_ = dim;
  heads_ = heads;
  head_dim_ = head_dim;
  special_ = special;
  rotary_tables_ = rotary_tables;
  scale_ = scale;
  qk_norm_ = qk_norm;
  attention_norm_ = attention_norm;
  gated_ = gated;
  mlp_norm_ = mlp_norm;
  activation_ = activation;
  if (part != BlockPart::kMlp) {
    norm1_ = Norm(stream, norm1, dim);
    qkv_ = linear(qkv);
    proj_ = linear(proj);
    if (qk_norm) {
      q_norm_ = Norm(stream, q_norm, head_dim);
      k_norm_ = Norm(stream, k_norm, head_dim);
    }
    if (attention_norm) attended_norm_ = Norm(stream, attention_norm_weights, heads * head_dim);
  }
  if (part != BlockPart::kAttention) {
    norm2_ = Norm(stream, norm2, dim);
    fc1_ = linear(fc1);
    fc2_ = linear(fc2);
    if (mlp_norm) hidden_norm_ = Norm(stream, mlp_norm_weights, fc2_.in());
  }
}

void TransformerBlock::run(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows,
                           const Extras& extras, float* x) const {
  if (part_ != BlockPart::kMlp) attend(stream, gemm, workspace, rows, extras, x);
  if (part_ != BlockPart::kAttention) runMlp(stream, gemm, workspace, rows.total, x);
}

void TransformerBlock::attend(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows,
                              const Extras& extras, float* x) const {
  const int n = rows.total, width = heads_ * head_dim_;
  const Number operand = operandOf(precision_);
  const std::size_t bytes = bytesOf(operand);
  void* const normalised = workspace.normalised.atLeast(stream, area(n, dim_) * bytes);
  void* const qkv = workspace.wide.atLeast(stream, area(n, 3 * width) * bytes);
  void* const attended = workspace.attended.atLeast(stream, area(n, width) * bytes);
  void* const k = static_cast<unsigned char*>(qkv) + static_cast<std::size_t>(width) * bytes;

  norm1_.run(stream, n, Number::kFloat, x, operand, normalised);
  qkv_.run(stream, gemm, normalised, n, Into::kOperand, qkv);
  if (qk_norm_) {
    q_norm_.runOnSlices(stream, n, heads_, 3 * width, operand, qkv);
    k_norm_.runOnSlices(stream, n, heads_, 3 * width, operand, k);
  }
  if (extras.keys != nullptr) meanOfSlices(stream, n, heads_, head_dim_, 3 * width, operand, k, extras.keys);
  if (rotary_tables_ > 0) {
    const RotaryCall call{heads_, head_dim_, special_, rotary_tables_, extras.pairs, rows, extras.rotations};
    rotate(stream, call, 3 * width, operand, qkv);
  }
  attention(stream, {heads_, head_dim_, scale_, extras.key_bias, rows}, operand, qkv, attended);
  if (attention_norm_) attended_norm_.run(stream, n, operand, attended, operand, attended);
  proj_.run(stream, gemm, attended, n, Into::kAddToFloat, x);
}

void TransformerBlock::runMlp(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, int rows, float* x) const {
  const int hidden = fc2_.in();
  const Number operand = operandOf(precision_);
  const std::size_t bytes = bytesOf(operand);
  void* const normalised = workspace.normalised.atLeast(stream, area(rows, dim_) * bytes);
  void* const wide = workspace.wide.atLeast(stream, area(rows, fc1_.out()) * bytes);

  norm2_.run(stream, rows, Number::kFloat, x, operand, normalised);
  fc1_.run(stream, gemm, normalised, rows, Into::kOperand, wide);
  // A gated activation cannot be in place. It takes the memory of attention's result.
  void* const activated = gated_ ? workspace.attended.atLeast(stream, area(rows, hidden) * bytes) : wide;
  activate(stream, activation_, gated_, rows, hidden, operand, wide, activated);
  if (mlp_norm_) hidden_norm_.run(stream, rows, operand, activated, operand, activated);
  fc2_.run(stream, gemm, activated, rows, Into::kAddToFloat, x);
}

}  // namespace mpm::cuda
