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
/// - bf16 and int8: F(2x2, 3x3), 4 of 9 products, of numbers that are rounded behind the transforms. So the error is
///   larger than that of rounded pixels and weights, and with F(4x4) it would be too large. In int8 each of the 16
///   transforms of the pixels of a block has a scale of its own, and each of an output channel's weights.
class Winograd {
 public:
  /// `weight` {outputs, channels, 3, 3}, borrowed until the constructor returns. `kernel`: of bf16 or int8; null: fp32.
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
  int columns() const { return kernel_ == nullptr ? kPanel : kernel_->columns; }  // of a panel
  int panels() const { return (outputs_ + columns() - 1) / columns(); }
  std::size_t ofPanel() const {
    return kernel_ == nullptr ? static_cast<std::size_t>(words_) * kPanel : kernel_->panelWords(words_);
  }
  void pack(MatrixView<const float> weight, std::uint32_t* to, float* scales) const;
  void transform(const float* const* pixels, bool relu, std::uint32_t* to, std::ptrdiff_t stride, float* scales) const;
  void multiply(const std::uint32_t* x, const float* scales, int rows, int product, int panel,
                MatrixView<float> sums) const;

  int channels_, outputs_;
  const TileKernel* kernel_;
  int words_;                       // of a transformed pixel
  Scratch<std::uint32_t> weights_;  // {products, panels}: panels
  Scratch<float> scales_;           // {products, panels, columns}
  int max_blocks_;
};

}  // namespace mpm
