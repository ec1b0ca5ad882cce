// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/panels.h"
#include "kernels/cpu/tiles.h"
#include "kernels/scratch.h"
#include "kernels/view.h"

namespace mpm {

/// 3x3 convolutions with stride 1 by Winograd's method (Lavin and Gray, "Fast Algorithms for Convolutional Neural
/// Networks", 2016). It makes a block of side x side output pixels from the seen x seen input pixels below it, and
/// multiplies seen * seen times per block, channel and output, where the definition multiplies 9 * side * side times.
/// - fp32: F(4x4, 3x3), a quarter of the products. The transforms see their polynomials at 0, +-sqrt(1/2), +-sqrt(2)
///   and infinity, because the usual 0, +-1, +-2 and infinity lose more digits.
/// - bf16: F(2x2, 3x3), 4 of 9 products, of numbers that are rounded behind the transforms. So the error is larger than
///   that of rounded pixels and weights, and with F(4x4) it would be too large.
class Winograd {
 public:
  /// `weight` {outputs, channels, 3, 3}, borrowed until the constructor returns. `kernel`: of bf16; null: fp32.
  Winograd(const float* weight, int channels, int outputs, const TileKernel* kernel);

  int side() const { return kernel_ == nullptr ? 4 : 2; }
  int seen() const { return side() + 2; }
  /// Of a call to run(). Their operands and sums stay in L2. Weights that the last cache does not keep come from memory
  /// in each call: then a call has more blocks.
  int maxBlocks() const { return max_blocks_; }
  static constexpr int kMaxBlocks = 60;

  /// y {side * side * blocks, outputs} += the convolutions. Block after block, each row by row. `pixels` {blocks, seen
  /// * seen}: the channels of the pixels of x that a block sees, row by row. relu: x is max(x, 0).
  void run(const float* const* pixels, int blocks, bool relu, MatrixView<float> y) const;

 private:
  int products() const { return seen() * seen(); }
  int panels() const { return panelsFor(outputs_); }
  std::ptrdiff_t ofPanel() const { return static_cast<std::ptrdiff_t>(words_) * kPanel; }
  void pack(MatrixView<const float> weight, std::uint32_t* to) const;
  void transform(const float* const* pixels, bool relu, std::uint32_t* to, std::ptrdiff_t stride) const;
  void multiply(const std::uint32_t* x, int rows, int panel, const std::uint32_t* w, MatrixView<float> sums) const;

  int channels_, outputs_;
  const TileKernel* kernel_;
  int words_;                       // of a transformed pixel
  Scratch<std::uint32_t> weights_;  // {products, panels, words, kPanel}
  int max_blocks_;
};

}  // namespace mpm
