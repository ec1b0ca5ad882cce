// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/cuda/device.h"
#include "kernels/cuda/elementwise.h"

namespace mpm::cuda {

/// Where a product goes: stored as operands of the next, stored as floats, or added to the floats that are there.
enum class Into { kOperand, kFloat, kAddToFloat };

/// The GEMM library of one stream: its workspace, and the algorithms it chose for the shapes it has seen. Belongs to
/// one net; one thread at a time.
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
  };
  /// y = [y +] x W^T [+ b], sums in fp32. TF32 is fp32 where the device has none.
  void run(const Stream& stream, const Call& call);

  /// Products so far whose bias took a kernel more, because the library has none that adds it to such a result.
  long long biasKernels() const;
  /// Shapes so far that needed an algorithm of their own, because that of a multiple of 64 rows does not take them.
  long long refusedShapes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::cuda
