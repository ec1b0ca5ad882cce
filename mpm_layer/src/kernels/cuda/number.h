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

}  // namespace mpm::cuda
