// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/gemm.h"
#include "kernels/view.h"

namespace mpm::cuda {

/// y = x W^T + b. The weights are on the device, as operands of the precision.
class Linear {
 public:
  Linear() = default;
  /// `weight` {out, in}, `bias` {out} or null, both on the host; copied.
  Linear(const Stream& stream, MatrixView<const float> weight, const float* bias, Precision precision);

  void run(const Stream& stream, Gemm& gemm, const void* x, int rows, Into into, void* y) const;

  int in() const { return in_; }
  int out() const { return out_; }

 private:
  Precision precision_ = Precision::kFp32;
  int in_ = 0, out_ = 0;
  bool biased_ = false;
  Memory weight_, bias_;
  Buffer<float> float_bias_;
};

}  // namespace mpm::cuda
