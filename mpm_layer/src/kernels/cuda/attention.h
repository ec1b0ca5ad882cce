// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/elementwise.h"

namespace mpm::cuda {

/// Multi-head attention of a batch of ragged images without the N x N matrix (kernels/attention.h). qkv
/// {rows.total, 3 heads head_dim} packed: q, k, v, each head-major; out {rows.total, heads head_dim}. `key_bias`
/// {rows.total} or null. 16-bit numbers run on the tensor cores if head_dim is a multiple of 8. Everything else
/// runs in fp32 on the ordinary cores. Throws mpm::Error when head_dim > 128. Same bytes in every run.
struct AttentionCall {
  int heads = 0, head_dim = 0;
  float scale = 0;
  const float* key_bias = nullptr;
  Ragged rows;
  bool warpgroups = true;  ///< with hasWarpgroupProducts(): heads of 33 to 64 columns run on warpgroups
};
void attention(const Stream& stream, const AttentionCall& call, Number number, const void* qkv, void* out);

}  // namespace mpm::cuda
