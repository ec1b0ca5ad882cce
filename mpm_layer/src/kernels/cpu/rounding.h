// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpm {

/// Rounds `count` floats to bf16, to nearest even; NaN stays NaN.
void toBf16(const float* from, std::uint16_t* to, int count);

}  // namespace mpm
