// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention.h"

namespace mpm::cuda {

// All fields of the spec are bound by name: one that is new does not compile until it is used here.
AttentionLayers::AttentionLayers(const Stream& stream, const AttentionSpec& spec) {
  const auto& [dim, heads, head_dim, scale, norm1, qkv, qk_norm, norm_per_head, q_norm, k_norm, attention_norm,
               attention_norm_weights, proj, precision] = spec;
  precision_ = precision;
  dim_ = dim;
  heads_ = heads;
  head_dim_ = head_dim;
  scale_ = scale;
  qk_norm_ = qk_norm;
  attention_norm_ = attention_norm;
  norm1_ = Norm(stream, norm1, dim);
  qkv_ = Linear(stream, qkv.weight, qkv.bias, precision);
  proj_ = Linear(stream, proj.weight, proj.bias, precision);
  if (qk_norm) {
    q_norm_ = Norm(stream, q_norm, head_dim, norm_per_head ? heads : 1);
    k_norm_ = Norm(stream, k_norm, head_dim, norm_per_head ? heads : 1);
  }
  if (attention_norm) attended_norm_ = Norm(stream, attention_norm_weights, heads * head_dim);
}

void AttentionLayers::normalise(const Stream& stream, int rows, const float* x, void* normalised) const {
  norm1_.run(stream, rows, Number::kFloat, x, operand(), normalised);
}

void AttentionLayers::project(const Stream& stream, Gemm& gemm, int rows, const void* normalised, void* qkv) const {
  qkv_.run(stream, gemm, normalised, rows, Into::kOperand, qkv);
  if (!qk_norm_) return;
  void* const k = static_cast<unsigned char*>(qkv) + static_cast<std::size_t>(width()) * bytesOf(operand());
  q_norm_.runOnSlices(stream, rows, heads_, 3 * width(), operand(), qkv);
  k_norm_.runOnSlices(stream, rows, heads_, 3 * width(), operand(), k);
}

void AttentionLayers::addTo(const Stream& stream, Gemm& gemm, int rows, void* attended, float* x) const {
  if (attention_norm_) attended_norm_.run(stream, rows, operand(), attended, operand(), attended);
  proj_.run(stream, gemm, attended, rows, Into::kAddToFloat, x);
}

}  // namespace mpm::cuda
