// SPDX-License-Identifier: Apache-2.0
// Includes Highway for the targets we ship: one per register width. The others (SSSE3, AVX3_DL and later) do not speed
// up fp32 arithmetic and would double the compile time. Include this instead of Highway's headers.
#pragma once

// On 64-bit Arm the target is NEON, which every such CPU has. It is fixed at compile time: Highway's choice at run time
// also requires AES, which a Raspberry Pi 4 lacks.
#ifndef HWY_DISABLED_TARGETS
#if defined(__aarch64__)
#define HWY_COMPILE_ONLY_STATIC
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#else
#define HWY_DISABLED_TARGETS (~(HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | HWY_EMU128 | HWY_SCALAR))
#endif
#endif
#include <hwy/base.h>
#include <hwy/detect_targets.h>
