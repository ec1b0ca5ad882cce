// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpm {

/// What lies beyond the borders of a map.
enum class GridPadding { kZeros, kBorder, kReflection };

/// How ONNX's GridSample reads a map between its pixels.
struct GridSampling {
  int taps = 2;  ///< per axis: 1 nearest, 2 linear, 4 cubic
  GridPadding padding = GridPadding::kZeros;
  bool corners = false;  ///< -1 and 1 are the middles of the pixels at the border, not their outer edges

  bool operator==(const GridSampling&) const = default;
};

}  // namespace mpm
