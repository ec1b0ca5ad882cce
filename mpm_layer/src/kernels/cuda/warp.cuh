// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/platform.cuh"

namespace mpm::cuda {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ __forceinline__ int laneIndex() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ __forceinline__ int warpIndex() { return static_cast<int>(threadIdx.x) / kWarp; }

/// The sum over the warp. The order of additions is fixed, so every lane has the same bits in every run.
template <typename T>
__device__ __forceinline__ T warpSum(T x) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) x += __shfl_xor_sync(kAllLanes, x, distance);
  return x;
}

/// Maps floats (no NaN) to unsigned integers in the same order, for an atomic maximum. -0 and +0 are equal.
__device__ __forceinline__ unsigned orderedBits(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float fromOrderedBits(unsigned bits) {
  return __uint_as_float((bits & 0x80000000u) != 0 ? bits & 0x7fffffffu : ~bits);
}

}  // namespace mpm::cuda
