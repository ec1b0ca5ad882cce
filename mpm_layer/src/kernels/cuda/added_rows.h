// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cuda/gemm.h"
#include "kernels/cuda/merging.h"

namespace mpm::cuda {

/// Adds rows of the full grid to packed tokens: a merged row receives the mean of its members' rows, or the mean of
/// means that a method of plain means takes (merging/merge_positions.h).
class AddedRows {
 public:
  /// x {rows, dim} += `added`, in place. `states`: those after each merge, or the last alone; the rows of x are those
  /// of the last. `added` {batch, special + patches, dim}, without `with_special` {batch, patches, dim}; with `one` the
  /// batch is 1, and all images get the same rows.
  void run(const Stream& stream, const std::vector<const TokenState*>& states, const float* added, bool with_special,
           bool one, int dim, float* x);

 private:
  Buffer<float> weights_;
  Buffer<int> rows_;
};

/// The operator AttentionPool of docs/ops.md: one query per head attends to all live rows.
class AttentionPool {
 public:
  /// `keys` {heads, dim}: the logit of row x in head h is keys_h . x. `values` {heads * head_dim, dim}, `bias` {heads *
  /// head_dim}: of the values. On the host; copied.
  AttentionPool(const Stream& stream, MatrixView<const float> keys, MatrixView<const float> values, const float* bias);

  /// x {rows, dim}, packed -> pooled {batch, heads * head_dim}. A row counts as often as it has patches.
  void run(const Stream& stream, Gemm& gemm, const float* x, const TokenState& state, float* pooled);

 private:
  int heads_, dim_, width_;
  Linear keys_;
  Buffer<float> values_, bias_, logits_, means_;
};

}  // namespace mpm::cuda
