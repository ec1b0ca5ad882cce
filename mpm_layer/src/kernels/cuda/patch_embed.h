// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/linear.h"
#include "kernels/patch_embed.h"

namespace mpm::cuda {

/// The operator PatchEmbed of docs/ops.md, images to tokens.
class PatchEmbed {
 public:
  /// On the host: `weight` {d, channels * kernel_h * kernel_w}, `position` {N, d}, `special` {E, d}.
  PatchEmbed(const Stream& stream, const PatchGeometry& geometry, MatrixView<const float> weight,
             MatrixView<const float> position, MatrixView<const float> special, Precision precision);

  /// images {batch, channels, height, width} on the device -> tokens {batch * (E + N), d}, packed.
  void run(const Stream& stream, Gemm& gemm, const float* images, int batch, float* tokens);

  int patches() const { return patches_; }
  int special() const { return special_; }
  int dim() const { return weight_.out(); }

 private:
  PatchGeometry geometry_;
  Precision precision_;
  int patches_, special_;
  Linear weight_;
  Buffer<float> rows_;        // {E + N, d}: special tokens and positions
  Buffer<int> pixel_offset_;  // {channels * kernel_h * kernel_w}: from the first pixel of a patch
  Buffer<unsigned char> gathered_;
};

}  // namespace mpm::cuda
