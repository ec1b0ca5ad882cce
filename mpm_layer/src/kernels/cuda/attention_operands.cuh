// SPDX-License-Identifier: Apache-2.0
// Operands of the implementations of attention. attention.cu chooses one.
#pragma once

#include "kernels/cuda/kernel.cuh"

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
  std::ptrdiff_t stride, out_stride;
};

template <typename T>
__device__ __forceinline__ HeadRows<T> headRows(const Operands<T>& all, int image, int head) {
  const int begin = all.rows.offsets[image];
  const int width = all.heads * all.head_dim, column = head * all.head_dim;
  const T* q = rowOf(all.qkv, begin, 3 * width) + column;
  return {q,
          q + width,
          q + 2 * width,
          all.key_bias != nullptr ? all.key_bias + begin : nullptr,
          rowOf(all.out, begin, width) + column,
          all.rows.offsets[image + 1] - begin,
          3 * width,
          width};
}

/// For 16-bit operands and a head_dim that is a multiple of 8, up to 128. `warpgroups`: use them where possible.
template <typename T>
void attentionOnTensorCores(const Stream& stream, const Operands<T>& all, std::optional<bool> warpgroups);

}  // namespace mpm::cuda
