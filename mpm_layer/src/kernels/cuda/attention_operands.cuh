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
  const T* kept;  // null: the keys and values of qkv
  int kept_rows;

  bool operator==(const Operands&) const = default;
};

// One image and one head of the packed rows.
template <typename T>
struct HeadRows {
  const T *q, *k, *v;
  const float* bias;
  T* out;
  int rows, keys;
  std::ptrdiff_t stride, key_stride, out_stride;
};

template <typename T>
__device__ __forceinline__ HeadRows<T> headRows(const Operands<T>& all, int image, int head) {
  const int begin = all.rows.offsets[image];
  const int width = all.heads * all.head_dim, column = head * all.head_dim;
  const int rows = all.rows.offsets[image + 1] - begin;
  const T* const q = rowOf(all.qkv, begin, 3 * width) + column;
  const T* const k = all.kept != nullptr ? all.kept + column : q + width;
  return {q,
          k,
          k + width,
          all.key_bias != nullptr ? all.key_bias + begin : nullptr,
          rowOf(all.out, begin, width) + column,
          rows,
          all.kept != nullptr ? all.kept_rows : rows,
          3 * width,
          all.kept != nullptr ? 2 * width : 3 * width,
          width};
}

/// For 16-bit operands and a head_dim that is a multiple of 8, up to 128. `warpgroups`: use them where possible.
template <typename T>
void attentionOnTensorCores(const Stream& stream, const Operands<T>& all, std::optional<bool> warpgroups);

}  // namespace mpm::cuda
