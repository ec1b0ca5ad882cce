// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpm {

/// `count` floats to bf16, to nearest even; a NaN stays one.
void toBf16(const float* from, std::uint16_t* to, int count);

}  // namespace mpm
