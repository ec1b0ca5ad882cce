// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/attention.h"

#include <string>
#include <type_traits>

#include "kernels/cuda/attention_operands.cuh"
#include "kernels/cuda/numbers.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {

void attention(const Stream& stream, const AttentionCall& call, Number number, const void* qkv, void* out) {
  if (call.rows.batch == 0 || call.rows.longest == 0) return;
  if (call.head_dim < 1 || call.head_dim > 128) {
    throw Error("attention on a GPU takes heads of up to 128 columns, not " + std::to_string(call.head_dim) +
                "; run this model on the CPU");
  }
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    const Operands<T> all{static_cast<const T*>(qkv), static_cast<T*>(out), call.heads, call.head_dim,
                          call.scale * kLog2E,        call.key_bias,        call.rows};
    if constexpr (!std::is_same_v<T, float>) {
      const int widest = stream.device().major < 8 ? 96 : 128;  // Turing: 64 KB of shared memory
      if (call.head_dim % 8 == 0 && call.head_dim <= widest) {
        return attentionOnTensorCores(stream, all, call.warpgroups);
      }
    }
    attentionInFp32(stream, all);
  });
}

}  // namespace mpm::cuda
