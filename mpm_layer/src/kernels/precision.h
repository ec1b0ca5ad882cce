// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/options.hpp"

namespace mpm {

/// True when this CPU multiplies bf16 in hardware (AVX512-BF16 or AMX) and the GEMM library uses it.
bool cpuHasBf16();

/// Throws mpm::Error, which names an alternative, when linear layers on this CPU do not support the precision.
void requireOnCpu(Precision precision);

}  // namespace mpm
