// SPDX-License-Identifier: Apache-2.0
// Includes Highway for the targets we ship: one per register width. The others (SSSE3, AVX3_DL and later) bring nothing
// to fp32 arithmetic and would double the compile time. Include this in place of hwy headers.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (~(HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | HWY_NEON | HWY_EMU128 | HWY_SCALAR))
#endif
#include <hwy/base.h>
#include <hwy/detect_targets.h>
