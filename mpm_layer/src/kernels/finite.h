// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace mpm {

/// Whether none of the `count` values is NaN or an infinity.
inline bool allFinite(const float* values, std::size_t count) {
  std::uint32_t most = 0;  // of the bits without the sign: those of an infinity, and behind them NaNs, are the largest
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffu);
  return most < 0x7f800000u;
}

}  // namespace mpm
