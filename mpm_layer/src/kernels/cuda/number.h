// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpm::cuda {

/// IEEE binary16 and bfloat16 as they lie in device memory. Storage only: arithmetic is fp32 or the tensor cores'.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

/// Arithmetic of a GPU net: operands of the products. Sums, similarities, reductions and the residual stream are fp32.
enum class Arithmetic { kFp32, kTf32, kBf16, kFp16 };

}  // namespace mpm::cuda
