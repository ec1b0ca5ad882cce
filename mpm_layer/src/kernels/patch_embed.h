// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kernels/elementwise.h"
#include "kernels/linear.h"
#include "kernels/parallel.h"
#include "kernels/precision.h"
#include "kernels/view.h"

namespace mpm {

/// The network input for each byte of an image of three channels. A byte has 256 values, so the arithmetic is done
/// once, and the CPU and every device have the same numbers.
struct PixelValues {
  std::array<std::array<float, 256>, 3> of_byte{};  ///< by channel of the net
  std::array<int, 3> image_channel{};               ///< of the image, by channel of the net
};

/// Size of an image and of the patches cut from it, px.
struct PatchGeometry {
  int channels = 3, height = 0, width = 0;
  int kernel_h = 0, kernel_w = 0;
  int stride_h = 0, stride_w = 0;
  int gridHeight() const { return (height - kernel_h) / stride_h + 1; }
  int gridWidth() const { return (width - kernel_w) / stride_w + 1; }

  bool operator==(const PatchGeometry&) const = default;
};

/// The op PatchEmbed of docs/ops.md, as a device takes it. The pointers are borrowed.
struct PatchEmbedSpec {
  PatchGeometry geometry;             ///< of the image with its border
  int pad_h = 0, pad_w = 0;           ///< rows and columns of zeros on each side of the image
  MatrixView<const float> weight;     ///< {d, channels * kernel_h * kernel_w}
  const float* bias = nullptr;        ///< {d}, only with `norm`
  const NormWeights* norm = nullptr;  ///< of the rows, before positions are added; null: none
  MatrixView<const float> position;   ///< {N, d}
  MatrixView<const float> special;    ///< {E, d}
  Precision precision = Precision::kFp32;
};

/// Patches of one image as rows times the weights, plus the positions: tokens {N, d} = patches W^T + position. `image`
/// {channels, height, width}; `weight` packed from {d, channels * kernel_h * kernel_w}; `position` {N, d}. With `norm`
/// the rows (and the bias packed with the weights) are normalised before positions are added. `only` {tokens.rows}:
/// these patches instead of all.
void patchEmbed(const float* image, const PatchGeometry& geometry, const PackedLinear& weight,
                MatrixView<const float> position, MatrixView<float> tokens, const Parallel& parallel,
                const NormWeights* norm = nullptr, const int* only = nullptr);

}  // namespace mpm
