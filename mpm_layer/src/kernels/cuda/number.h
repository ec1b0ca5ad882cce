// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpm::cuda {

/// IEEE binary16 and bfloat16 in device memory. For storage only: arithmetic is fp32 or runs on the tensor cores.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

}  // namespace mpm::cuda
