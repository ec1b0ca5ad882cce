// SPDX-License-Identifier: Apache-2.0
// What the kernels share: types of numbers, lanes of a warp, rows of a matrix.
#pragma once

#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/platform.cuh"

namespace mpm::cuda {

/// exp(x) is exp2(kLog2E * x).
constexpr float kLog2E = 1.4426950408889634f;

/// body(T()) with T the type that `number` names.
template <typename Body>
void withNumber(Number number, Body body) {
  if (number == Number::kHalf) return body(Half());
  if (number == Number::kBfloat) return body(Bfloat());
  body(float());
}

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

/// The sum over a block of `kWarpsOfBlock` warps, in every thread, in an order that is always the same. `sums`
/// {kWarpsOfBlock} is shared memory. Every thread of the block calls it.
template <int kWarpsOfBlock, typename T>
__device__ __forceinline__ T blockSum(T x, T* sums) {
  x = warpSum(x);
  __syncthreads();  // the sums of a call before have been read
  if (laneIndex() == 0) sums[warpIndex()] = x;
  __syncthreads();
  T sum = 0;
  for (int w = 0; w < kWarpsOfBlock; ++w) {
    sum += sums[w];
  }
  return sum;
}

/// Maps floats (no NaN) to unsigned integers in the same order, for an atomic maximum. -0 and +0 are equal.
__device__ __forceinline__ unsigned orderedBits(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float fromOrderedBits(unsigned bits) {
  return __uint_as_float((bits & 0x80000000u) != 0 ? bits & 0x7fffffffu : ~bits);
}

/// Row `row` of a matrix whose rows are `stride` elements apart.
template <typename T>
__device__ __forceinline__ T* rowOf(T* matrix, std::ptrdiff_t row, std::ptrdiff_t stride) {
  return matrix + row * stride;
}

/// Neighbouring elements that are read and written at once.
template <typename T, std::size_t kCount>
struct alignas(kCount * sizeof(T)) Pack {
  T at[kCount];
};
template <typename T>
using Four = Pack<T, 4>;

/// Elements k ... k + 3 of a row {length}, 0 after the end. k is a multiple of 4. Rows follow each other without a gap,
/// and the first is aligned to 16 bytes, so all are aligned if length % 4 == 0.
template <typename T>
__device__ __forceinline__ float4 loadFour(const T* row, int length, int k) {
  if (length % 4 == 0) {
    if (k >= length) return make_float4(0, 0, 0, 0);
    const Four<T> four = *reinterpret_cast<const Four<T>*>(row + k);
    return make_float4(toFloat(four.at[0]), toFloat(four.at[1]), toFloat(four.at[2]), toFloat(four.at[3]));
  }
  return make_float4(k < length ? toFloat(row[k]) : 0.0f, k + 1 < length ? toFloat(row[k + 1]) : 0.0f,
                     k + 2 < length ? toFloat(row[k + 2]) : 0.0f, k + 3 < length ? toFloat(row[k + 3]) : 0.0f);
}

/// Stores them; nothing is written after the end.
template <typename T>
__device__ __forceinline__ void storeFour(T* row, int length, int k, float4 v) {
  const Four<T> four = {{fromFloat<T>(v.x), fromFloat<T>(v.y), fromFloat<T>(v.z), fromFloat<T>(v.w)}};
  if (length % 4 == 0) {
    if (k < length) *reinterpret_cast<Four<T>*>(row + k) = four;
    return;
  }
  for (int e = 0; e < 4 && k + e < length; ++e) row[k + e] = four.at[e];
}

/// Four elements at an address aligned to four.
template <typename T>
__device__ __forceinline__ void storeFour(T* to, const T (&values)[4]) {
  *reinterpret_cast<Four<T>*>(to) = {{values[0], values[1], values[2], values[3]}};
}

}  // namespace mpm::cuda
