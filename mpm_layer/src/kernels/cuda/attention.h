// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/attention.h"
#include "kernels/cuda/gemm.h"

namespace mpm::cuda {

/// What is added to the logit of query i and key j of an image because of where they are (kernels/window_attention.h
/// has both kinds). On the device. All images have the same number of rows.
struct PairPositions {
  int tokens = 0;                   ///< rows of an image; 0: no positions
  const float* table = nullptr;     ///< {heads, entries}, or null
  const int* index = nullptr;       ///< {tokens, tokens}: the entry of a pair; null: entry i * tokens + j
  int entries = 0;                  ///< of a head
  const float* products = nullptr;  ///< {rows.total, heads, height + width}, from relativeProducts(), or null
  int height = 0, width = 0;        ///< of the grid of an image

  bool operator==(const PairPositions&) const = default;
};

/// Multi-head attention of a batch of ragged images without the N x N matrix: softmax(scale q k^T + key_bias) v. qkv
/// {rows.total, 3 heads head_dim} packed: q, k, v, each head-major; out {rows.total, heads head_dim}. `key_bias`
/// {rows.total} or null. 16-bit numbers run on the tensor cores if head_dim is a multiple of 8. Everything else
/// runs in fp32 on the ordinary cores, and so does all attention with positions of pairs. Throws mpm::Error when
/// head_dim > 256, or > 128 on Turing. Same bytes in every run.
struct AttentionCall {
  int heads = 0, head_dim = 0;
  float scale = 0;
  const float* key_bias = nullptr;
  Ragged rows;
  /// Whether heads of 33 to 64 columns run on warpgroups, with hasWarpgroupProducts(). nullopt: if the batch is large.
  std::optional<bool> warpgroups{};
  PairPositions positions{};
  /// {kept_rows, 2 heads head_dim} or null: keys and values of all rows of the only image, of which qkv has a part. The
  /// queries of qkv attend to all of them, and `key_bias` is {kept_rows}.
  const void* kept = nullptr;
  int kept_rows = 0;
};
void attention(const Stream& stream, const AttentionCall& call, Number number, const void* qkv, void* out);

/// products {rows.total, heads, height + width}: for the query at (y, x) of the grid of its image, q . rows[y - v +
/// height - 1] for each v and q . columns[x - u + width - 1] for each u. `rows` {2 height - 1, head_dim}, `columns` {2
/// width - 1, head_dim}. qkv as in attention().
void relativeProducts(const Stream& stream, const AttentionCall& call, int height, int width, const float* rows,
                      const float* columns, Number number, const void* qkv, float* products);

/// Device memory that the blocks of a net share. One block runs at a time.
struct BlockWorkspace {
  Buffer<unsigned char> normalised, beside, wide, attended;
  Buffer<float> products;
};

/// The norms and linear layers of attention (kernels/attention.h).
class AttentionLayers {
 public:
  AttentionLayers() = default;
  /// What `spec` points at is on the host; copied.
  AttentionLayers(const Stream& stream, const AttentionSpec& spec);

  int dim() const { return dim_; }
  int heads() const { return heads_; }
  int headDim() const { return head_dim_; }
  int width() const { return heads_ * head_dim_; }
  float scale() const { return scale_; }
  Number operand() const { return operandOf(precision_); }

  /// x {rows, dim} -> operands {rows, dim}.
  void normalise(const Stream& stream, int rows, const float* x, void* normalised) const;
  /// normalised {rows, dim} -> qkv {rows, 3 width}, behind the norms of q and k.
  void project(const Stream& stream, Gemm& gemm, int rows, const void* normalised, void* qkv) const;
  /// x {rows, dim} += what attention gave {rows, width}, behind its norm and its projection. Changes `attended`.
  void addTo(const Stream& stream, Gemm& gemm, int rows, void* attended, float* x) const;

 private:
  Precision precision_ = Precision::kFp32;
  int dim_ = 0, heads_ = 0, head_dim_ = 0;
  float scale_ = 0;
  bool qk_norm_ = false, attention_norm_ = false;
  Norm norm1_, q_norm_, k_norm_, attended_norm_;
  Linear qkv_, proj_;
};

}  // namespace mpm::cuda
