// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/precision.h"
#include "kernels/view.h"

namespace mpm {

struct LinearWeights {
  MatrixView<const float> weight;  ///< {out, in}
  const float* bias = nullptr;     ///< {out}, or null
};

/// y = x W^T + b with weights packed once, for the tile loops of the kernels. Runs on the calling thread only, on
/// oneDNN (x86-64) or kernels/cpu/tiles.h. Copies share the weights. A call with a known height allocates nothing and
/// creates no primitive.
class PackedLinear {
 public:
  /// Maximum rows per call. The weights of a ViT-B block are in L3 and are read once per call.
  static constexpr int kMaxRows = 256;
  /// The GEMM library is called with a multiple of this many rows. Other heights cost as much as the next multiple.
  static const int kRowUnit;

  PackedLinear() = default;
  /// `weight` {out, in}; `bias` {out} or null. Both are copied.
  PackedLinear(MatrixView<const float> weight, const float* bias, Precision precision = Precision::kFp32);

  /// y {rows, out} = (accumulate ? y : 0) + x W^T + b. x {rows, in} float32, rows <= kMaxRows; x and y may not overlap.
  /// A bf16 linear rounds x to bf16 first, an fp16 linear to fp16 times a power of two. An int8 linear rounds each row
  /// of the weights, once, and each row of x to int8 with a scale of its own (kernels/cpu/rounding.h); a row of x that
  /// is not finite gives NaN. Row r of y depends on row r of x only, and not on `rows`. Thread-safe.
  void run(MatrixView<const float> x, MatrixView<float> y, bool accumulate = false) const;

  int in() const;
  int out() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // never changes
};

/// A matrix as it is in memory, or its transpose.
struct Operand {
  MatrixView<const float> view;
  bool transposed = false;
  int rows() const { return transposed ? view.cols : view.rows; }
  int cols() const { return transposed ? view.rows : view.cols; }
};

/// c = (accumulate ? c : 0) + a b for matrices that change with each call; PackedLinear is faster for weights that
/// stay. On the calling thread only, so the result does not depend on the number of threads. No size is 0; c overlaps
/// neither a nor b.
void multiply(const Operand& a, const Operand& b, MatrixView<float> c, bool accumulate = false);

}  // namespace mpm
