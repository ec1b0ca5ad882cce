// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/scratch.h"
#include "kernels/view.h"

namespace mpm {

/// Rounds `count` floats to bf16, to nearest even; NaN stays NaN.
void toBf16(const float* from, std::uint16_t* to, int count);

/// The largest number of a row of int8. Two products of a weight of 7 bits and a byte without sign add up to at most
/// 2 * 255 * 64 = 32640, which fits int16.
constexpr int kMaxInt8 = 127, kMaxInt7 = 64;

/// A row in int8: from[i] is about scale * to[i], |to[i]| <= largest, rounded to nearest even. Returns the scale, the
/// largest |from[i]| / largest: 0 when |from[i]| < 1e-30, and NaN when a number is not finite; then `to` holds zeros.
float toInt8(const float* from, std::int8_t* to, int count, int largest);

/// A row in fp16: from[i] is the result times to[i], |to[i]| <= 2^exponent, rounded to nearest even. The result is a
/// power of two, 0 or NaN in the cases of toInt8(). So a number of any size neither overflows nor loses digits, unless
/// it is 2^-14 times the row's largest or below.
float toFp16(const float* from, std::uint16_t* to, int count, int exponent);

/// What int8 leaves of each row of x, in float32 and in `memory`: the operands of a CPU without int8 instructions.
MatrixView<const float> roundedToInt8(MatrixView<const float> x, Scratch<float>& memory);

}  // namespace mpm
