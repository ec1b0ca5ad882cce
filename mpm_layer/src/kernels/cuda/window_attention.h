// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/attention.h"
#include "kernels/window_attention.h"

namespace mpm::cuda {

/// x + Attention(LN(x)) inside windows (kernels/window_attention.h). The rows of windows are gathered, with rows of
/// zeros for padding, and attend as images of a packed batch do.
class WindowAttention {
 public:
  /// What `spec` points at is on the host; copied.
  WindowAttention(const Stream& stream, const WindowAttentionSpec& spec);

  /// Rows of an image.
  int rows() const { return rows_; }
  int dim() const { return layers_.dim(); }
  /// x {batch * rows(), dim}, in place.
  void run(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, int batch, float* x);

 private:
  AttentionLayers layers_;
  int windows_, tokens_, rows_;
  Buffer<int> row_of_;    // {windows, tokens}: the row at each place, -1 for padding
  Buffer<int> place_of_;  // {rows}: the place of each row
  PairPositions positions_;
  Buffer<float> table_, row_positions_, column_positions_;
  Buffer<int> index_, offsets_;
  int batch_ = 0;  // of offsets_
};

}  // namespace mpm::cuda
