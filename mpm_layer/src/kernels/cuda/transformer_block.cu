// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/transformer_block.h"

#include <algorithm>

namespace mpm::cuda {

// All fields of the spec are bound by name: one that is new does not compile until it is used here.
TransformerBlock::TransformerBlock(const Stream& stream, const TransformerBlockSpec& spec) {
  const auto& [part, parallel, special, rotary_tables] = static_cast<const BlockTask&>(spec);
  const auto& [norm2, fc1, gated, activation, mlp_norm, mlp_norm_weights, fc2] = static_cast<const MlpSpec&>(spec);
  precision_ = spec.precision;
  part_ = part;
  parallel_ = parallel;
  special_ = special;
  rotary_tables_ = rotary_tables;
  gated_ = gated;
  mlp_norm_ = mlp_norm;
  activation_ = activation;
  if (part != BlockPart::kMlp) attention_ = AttentionLayers(stream, spec);
  if (part != BlockPart::kAttention) {
    norm2_ = Norm(stream, norm2, spec.dim);
    fc1_ = Linear(stream, fc1.weight, fc1.bias, precision_);
    fc2_ = Linear(stream, fc2.weight, fc2.bias, precision_);
    if (mlp_norm) hidden_norm_ = Norm(stream, mlp_norm_weights, fc2_.in());
  }
}

std::size_t TransformerBlock::keptBytes(int rows) const {
  return area(rows, 2 * attention_.width()) * bytesOf(attention_.operand());
}

void TransformerBlock::run(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows,
                           const Extras& extras, float* x) const {
  // Side by side both parts see the rows as they come, and attention changes them in place.
  void* beside = nullptr;
  if (parallel_) {
    beside = workspace.beside.atLeast(stream, area(rows.total, fc1_.in()) * bytesOf(operandOf(precision_)));
    norm2_.run(stream, rows.total, Number::kFloat, x, operandOf(precision_), beside);
  }
  if (part_ != BlockPart::kMlp) attend(stream, gemm, workspace, rows, extras, x);
  if (part_ == BlockPart::kAttention) return;
  if (!parallel_) {
    beside = workspace.normalised.atLeast(stream, area(rows.total, fc1_.in()) * bytesOf(operandOf(precision_)));
    norm2_.run(stream, rows.total, Number::kFloat, x, operandOf(precision_), beside);
  }
  runMlp(stream, gemm, workspace, rows.total, beside, x);
}

void TransformerBlock::attend(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, const Ragged& rows,
                              const Extras& extras, float* x) const {
  const int n = rows.total, width = attention_.width(), heads = attention_.heads(), head_dim = attention_.headDim();
  const Number operand = attention_.operand();
  const std::size_t bytes = bytesOf(operand);
  void* const normalised = workspace.normalised.atLeast(stream, area(n, attention_.dim()) * bytes);
  void* const qkv = workspace.wide.atLeast(stream, area(n, 3 * width) * bytes);
  void* const attended = workspace.attended.atLeast(stream, area(n, width) * bytes);
  void* const k = static_cast<unsigned char*>(qkv) + static_cast<std::size_t>(width) * bytes;

  attention_.normalise(stream, n, x, normalised);
  attention_.project(stream, gemm, n, normalised, qkv);
  if (extras.keys != nullptr) meanOfSlices(stream, n, heads, head_dim, 3 * width, operand, k, extras.keys);
  if (rotary_tables_ > 0) {
    const RotaryCall call{heads, head_dim, special_, rotary_tables_, extras.pairs, rows, extras.rotations};
    rotate(stream, call, 3 * width, operand, qkv);
  }
  if (extras.kept != nullptr) keepRows(stream, extras.places, 2 * width, 3 * width, operand, k, extras.kept);
  AttentionCall call{heads, head_dim, attention_.scale(), extras.key_bias, rows};
  call.kept = extras.kept;
  call.kept_rows = extras.kept_rows;
  attention(stream, call, operand, qkv, attended);
  attention_.addTo(stream, gemm, n, attended, x);
}

void TransformerBlock::runMlp(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, int rows,
                              const void* normalised, float* x) const {
  const int hidden = fc2_.in();
  const Number operand = operandOf(precision_);
  const std::size_t bytes = bytesOf(operand);
  void* const wide = workspace.wide.atLeast(stream, area(rows, fc1_.out()) * bytes);

  fc1_.run(stream, gemm, normalised, rows, Into::kOperand, wide);
  // A gated activation cannot be in place. It takes the memory of attention's result.
  void* const activated = gated_ ? workspace.attended.atLeast(stream, area(rows, hidden) * bytes) : wide;
  activate(stream, activation_, gated_, rows, hidden, operand, wide, activated);
  if (mlp_norm_) hidden_norm_.run(stream, rows, operand, activated, operand, activated);
  fc2_.run(stream, gemm, activated, rows, Into::kAddToFloat, x);
}

}  // namespace mpm::cuda
