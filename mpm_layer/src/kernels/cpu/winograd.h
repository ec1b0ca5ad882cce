// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/scratch.h"
#include "kernels/view.h"

namespace mpm {

/// 3x3 convolutions with stride 1 in fp32, a block of 2 x 2 output pixels at a time: Winograd's F(2x2, 3x3) multiplies
/// 16 times per block, channel and output, where the definition multiplies 36 times.
class Winograd {
 public:
  static constexpr int kMaxBlocks = 48;  ///< of a call: its operands and sums stay in L2

  /// `weight` {outputs, channels, 3, 3}.
  Winograd(const float* weight, int channels, int outputs);

  /// y {4 * blocks, outputs} += the convolutions. Row 4 b + 2 i + j is pixel (i, j) of block b. `pixels` {blocks, 16}:
  /// the channels of the 4 x 4 pixels of x that a block sees, row by row. relu: x is max(x, 0).
  void run(const float* const* pixels, int blocks, bool relu, MatrixView<float> y) const;

 private:
  int channels_, outputs_;
  Scratch<float> weights_;  // {16, panels, channels, kPanel}
};

}  // namespace mpm
