// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace mpm {

/// Rows of a register tile: 6 x 4 accumulators, 4 operands and a broadcast fit 32 registers; 6 x 2 fit 16.
inline constexpr int kTileRows = 6;

/// Calls body(R, i) for each group of R rows that begins at row i: kTileRows rows, fewer at the end. R is a
/// compile-time constant, so that a tile of R rows fits registers. A lambda compiled for an instruction set needs the
/// attribute of that set.
template <class Body>
__attribute__((always_inline)) inline void forRowGroups(int rows, const Body& body) {
  static_assert(kTileRows == 6);
  int i = 0;
  for (; i + kTileRows <= rows; i += kTileRows) body(std::integral_constant<int, kTileRows>(), i);
  const int rest = rows - i;
  if (rest == 1) body(std::integral_constant<int, 1>(), i);
  if (rest == 2) body(std::integral_constant<int, 2>(), i);
  if (rest == 3) body(std::integral_constant<int, 3>(), i);
  if (rest == 4) body(std::integral_constant<int, 4>(), i);
  if (rest == 5) body(std::integral_constant<int, 5>(), i);
}

}  // namespace mpm
