// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/cuda/device.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/view.h"

namespace mpm::cuda {

/// How a product is stored: as operands of the next product, as floats, or added to the floats in y.
enum class Into { kOperand, kFloat, kAddToFloat };

/// Matrix products of one net (cuBLASLt): the workspace, and the algorithm of each shape. One thread at a time.
class Gemm {
 public:
  explicit Gemm(const Stream& stream);
  ~Gemm();
  Gemm(Gemm&&) noexcept;
  Gemm& operator=(Gemm&&) noexcept;

  struct Call {
    Precision precision = Precision::kFp32;
    int rows = 0, in = 0, out = 0;
    const void* x = nullptr;       ///< operands {rows, in}
    const void* weight = nullptr;  ///< operands {out, in}
    const void* bias = nullptr;    ///< {out} of the type of y, or null
    Into into = Into::kFloat;
    void* y = nullptr;  ///< {rows, out}

    bool operator==(const Call&) const = default;
  };
  /// y = [y +] x W^T [+ b], sums in fp32. TF32 is fp32 on devices without TF32.
  void run(const Stream& stream, const Call& call);

  /// Products so far whose bias needed a separate kernel, because cuBLASLt could not add it.
  long long biasKernels() const;
  /// Shapes so far for which the algorithm of the next multiple of 64 rows failed.
  long long refusedShapes() const;

 private:
  struct Impl;
  struct Product;
  std::unique_ptr<Impl> impl_;
};

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
