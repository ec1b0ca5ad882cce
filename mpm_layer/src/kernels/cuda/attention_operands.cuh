// SPDX-License-Identifier: Apache-2.0
// What the ways of attention share: which numbers are whose. attention.cu chooses the way.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/platform.cuh"

namespace mpm::cuda {

constexpr float kInfinity = __builtin_inff();

template <typename T>
struct Operands {
  const T* qkv;
  T* out;
  int heads, head_dim;
  float scale;  // times log2(e): the softmax is in powers of two
  const float* key_bias;
  Ragged rows;
};

// One image and one head of the packed rows.
template <typename T>
struct HeadRows {
  const T *q, *k, *v;
  const float* bias;
  T* out;
  int rows;
  std::size_t stride, out_stride;
};

template <typename T>
__device__ __forceinline__ HeadRows<T> headRows(const Operands<T>& all, int image, int head) {
  const int begin = all.rows.offsets[image];
  const std::size_t width = static_cast<std::size_t>(all.heads) * static_cast<std::size_t>(all.head_dim);
  const std::size_t column = static_cast<std::size_t>(head) * static_cast<std::size_t>(all.head_dim);
  const T* q = all.qkv + static_cast<std::size_t>(begin) * 3 * width + column;
  return {q,
          q + width,
          q + 2 * width,
          all.key_bias != nullptr ? all.key_bias + begin : nullptr,
          all.out + static_cast<std::size_t>(begin) * width + column,
          all.rows.offsets[image + 1] - begin,
          3 * width,
          width};
}

/// 16-bit operands and a head_dim that is a multiple of 8 up to 128. `warpgroups`: on those where they serve.
template <typename T>
void attentionOnTensorCores(const Stream& stream, const Operands<T>& all, bool warpgroups);

/// Any operands and a head_dim up to 128.
template <typename T>
void attentionInFp32(const Stream& stream, const Operands<T>& all);

}  // namespace mpm::cuda
