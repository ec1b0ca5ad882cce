// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"

namespace mpm {

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
