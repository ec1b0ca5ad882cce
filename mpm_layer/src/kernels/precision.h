// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/options.hpp"

namespace mpm {

/// True when this CPU multiplies bf16 in hardware (AVX512-BF16 or AMX) and the GEMM library uses it.
bool cpuHasBf16();

/// True when this CPU multiplies int8 in hardware (AVX512-VNNI or AVX-VNNI; SDOT on Arm) and we use it. A linear
/// layer in int8 gives the same without, up to rounding, at the speed of fp32.
bool cpuHasInt8();

/// True when this CPU multiplies fp16 in hardware (64-bit Arm since version 8.2).
bool cpuHasFp16();

/// The precision of convolutions of a head in a net of this precision: int8 is of blocks only.
Precision besideBlocks(Precision precision);

/// Throws mpm::Error, which names an alternative, when linear layers on this CPU do not support the precision.
void requireOnCpu(Precision precision);

}  // namespace mpm
