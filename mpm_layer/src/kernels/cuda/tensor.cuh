// SPDX-License-Identifier: Apache-2.0
// What the kernels of tensor.cu, reduce.cu and sampling.cu share.
#pragma once

#include "kernels/cuda/kernel.cuh"
#include "kernels/cuda/tensor.h"

namespace mpm::cuda {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

/// Elements of the result.
inline std::size_t countOf(const ElementLayout& layout) {
  std::size_t count = 1;
  for (int axis = 0; axis < layout.rank; ++axis) count *= static_cast<std::size_t>(layout.shape[axis]);
  return count;
}

/// Where element `index` of the result lies in each of the first kOperands operands.
template <int kOperands>
__device__ void findPlaces(const ElementLayout& layout, std::size_t index, long long (&places)[kOperands]) {
  for (long long& place : places) place = 0;
  for (int axis = layout.rank - 1; axis >= 0; --axis) {
    const auto side = static_cast<std::size_t>(layout.shape[axis]);
    const auto at = static_cast<long long>(index % side);
    index /= side;
    for (int k = 0; k < kOperands; ++k) places[k] += at * layout.steps[k][axis];
  }
}

/// The same in the first operand.
__device__ inline long long placeOf(const ElementLayout& layout, std::size_t index) {
  long long places[1];
  findPlaces(layout, index, places);
  return places[0];
}

}  // namespace mpm::cuda
