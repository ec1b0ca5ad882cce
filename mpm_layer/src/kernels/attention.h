// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/elementwise.h"
#include "kernels/linear.h"
#include "kernels/precision.h"

namespace mpm {

/// Weights of a block's attention. The pointers are borrowed.
struct AttentionSpec {
  int dim = 0;
  int heads = 0;
  int head_dim = 0;
  float scale = 0;  ///< multiplies q k^T
  NormWeights norm1;
  LinearWeights qkv;  ///< {3 heads head_dim, dim}: q, k, v rows, head-major
  bool qk_norm = false;
  bool norm_per_head = false;  ///< each head has its own weights of q_norm and k_norm
  NormWeights q_norm, k_norm;  ///< over head_dim; weights {head_dim}, or {heads head_dim}
  bool attention_norm = false;
  NormWeights attention_norm_weights;  ///< over heads head_dim, before proj
  LinearWeights proj;                  ///< {dim, heads head_dim}
  Precision precision = Precision::kFp32;

  int normWidth() const { return norm_per_head ? heads * head_dim : head_dim; }
};

/// Keys and values that outlive a call, in a net that reuses rows of earlier frames (docs/reuse.md). A view of memory,
/// aligned to 64 bytes, that holds zeros at first.
struct KeptKeys {
  float* memory = nullptr;      ///< null: nothing is kept
  int capacity = 0;             ///< rows that it has room for
  int rows = 0;                 ///< attention sees the first so many
  const int* places = nullptr;  ///< {rows of the call}, ascending: where their keys and values go; null: row i to i
};

}  // namespace mpm
