// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/tensor.h"
#include "kernels/grid_sample.h"

namespace mpm::cuda {

/// The operator HeadGridSample of docs/ops.md: maps {batch, channels, height, width} at `grid` {batch, places, 2}, or
/// with `one_grid` {1, places, 2} -> y {batch, channels, places}.
struct GridSampleCall {
  int batch = 0, channels = 0, height = 0, width = 0, places = 0;
  const float* maps = nullptr;
  const float* grid = nullptr;
  bool one_grid = false;

  bool operator==(const GridSampleCall&) const = default;
};
void gridSample(const Stream& stream, const GridSampling& sampling, const GridSampleCall& call, float* y);

/// Slices of an array by indices that the net computes, such as ONNX's Gather. A negative index counts from the end.
struct GatherCall {
  ElementLayout slices;  ///< shape of the result without its slices, and steps[0]: where each begins without indices
  std::size_t index_rows = 0;                     ///< slice i has row i % index_rows of `indices`
  int depth = 0;                                  ///< indices of a row, each along an axis of its own
  int sides[ElementLayout::kMaxRank] = {};        ///< of these axes
  long long steps[ElementLayout::kMaxRank] = {};  ///< from one entry of these axes to the next
  std::size_t width = 0;                          ///< elements of a slice
  const float* x = nullptr;
  const float* indices = nullptr;  ///< {index_rows, depth}

  bool operator==(const GatherCall&) const = default;
};
/// Sets *outside to 1 if an index is outside of its axis; then that slice is undefined.
void gatherSlices(const Stream& stream, const GatherCall& call, float* y, int* outside);

}  // namespace mpm::cuda
