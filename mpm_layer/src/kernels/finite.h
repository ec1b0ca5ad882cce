// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace mpm {

/// True when none of the `count` values is NaN or infinite.
inline bool allFinite(const float* values, std::size_t count) {
  std::uint32_t max = 0;  // of the bits without the sign: those of infinities and NaNs are the largest
  for (std::size_t i = 0; i < count; ++i) max = std::max(max, std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffu);
  return max < 0x7f800000u;
}

}  // namespace mpm
