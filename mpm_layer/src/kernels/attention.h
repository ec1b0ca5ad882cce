// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/parallel.h"
#include "kernels/view.h"

namespace mpm {

/// Multi-head attention of one image without the N x N matrix, as TransformerBlock computes it. For tests and
/// benchmarks. q, k, v, out {rows, heads * head_dim}, heads side by side, any stride; out may not overlap the others.
/// out_h = softmax(scale * q_h k_h^T + key_bias) v_h; `key_bias` {rows} or null. Same bytes for any number of threads.
void attention(MatrixView<const float> q, MatrixView<const float> k, MatrixView<const float> v, int heads, float scale,
               const float* key_bias, MatrixView<float> out, const Parallel& parallel);

}  // namespace mpm
