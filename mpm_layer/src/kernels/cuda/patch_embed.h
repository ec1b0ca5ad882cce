// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/gemm.h"
#include "kernels/patch_embed.h"

namespace mpm::cuda {

/// Converts 8-bit pixels to network input on the device. Only a quarter of the bytes has to be uploaded.
class Normaliser {
 public:
  Normaliser(const Stream& stream, const PixelValues& values);

  /// pixels {count, 3} on the device -> planes {3, count}.
  void run(const Stream& stream, const unsigned char* pixels, int count, float* planes) const;

 private:
  Buffer<float> of_byte_;  // {3, 256}
  int image_channel_[3];
};

/// The operator PatchEmbed of docs/ops.md, images to tokens.
class PatchEmbed {
 public:
  /// What `spec` points at is on the host; copied.
  PatchEmbed(const Stream& stream, const PatchEmbedSpec& spec);

  /// images {batch, channels, height, width}, without their border, on the device -> tokens {batch * (E + N), d},
  /// packed. `only` {count}, on the device: these patches of the only image instead of all.
  void run(const Stream& stream, Gemm& gemm, const float* images, int batch, float* tokens, const int* only = nullptr,
           int count = 0);

  int patches() const { return patches_; }
  int special() const { return special_; }
  int dim() const { return weight_.out(); }

 private:
  PatchGeometry geometry_;
  int pad_h_, pad_w_;
  Precision precision_;
  int patches_, special_;
  bool normed_;
  Norm norm_;
  Linear weight_;
  Buffer<float> rows_;        // {E + N, d}: special tokens and positions
  Buffer<int> pixel_offset_;  // {channels * kernel_h * kernel_w}: from the first pixel of a patch
  Buffer<unsigned char> gathered_;
  Buffer<float> bordered_;
};

}  // namespace mpm::cuda
