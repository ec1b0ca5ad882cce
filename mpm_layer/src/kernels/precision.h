// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/options.hpp"

namespace mpm {

/// True when this CPU multiplies bf16 in hardware (AVX512-BF16 or AMX) and this build uses it.
bool cpuHasBf16();

/// True when it does so faster than fp32. A net of bf16 on another CPU with bf16 is multiplied in fp32.
bool cpuHasFastBf16();

/// True when int8 is faster than fp32 on this CPU: on x86-64, and on Arm with SDOT. On others a linear layer in int8
/// multiplies the rounded numbers in fp32, at its speed.
bool cpuHasInt8();

/// True when this CPU multiplies fp16 in hardware (64-bit Arm since version 8.2).
bool cpuHasFp16();

/// The precision of products in a net of this precision: fp32 for a bf16 that is not fast.
Precision multipliedIn(Precision precision);

/// The precision of what has no int8 in a net of this precision: narrow convolutions of a head.
Precision besideBlocks(Precision precision);

/// Throws mpm::Error, which names an alternative, when linear layers on this CPU do not support the precision.
void requireOnCpu(Precision precision);

}  // namespace mpm
