// SPDX-License-Identifier: Apache-2.0
// Includes Highway for the targets we ship: one per register width. The others (SSSE3, AVX3_DL and later) bring nothing
// to fp32 arithmetic and would double the compile time. Include this in place of hwy headers.
#pragma once

// On 64-bit Arm that is NEON, which is in every such CPU: chosen when compiling, because Highway's choice at run time
// asks for AES, too, and a Raspberry Pi 4 has none.
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
