// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/attention_input.h"
#include "kernels/parallel.h"
#include "kernels/scratch.h"

namespace mpm::test {

/// Multi-head attention of one image without the N x N matrix, as TransformerBlock computes it. q, k, v, out
/// {rows, heads * head_dim}, heads side by side, any stride; out may not overlap the others.
/// out_h = softmax(scale * q_h k_h^T + key_bias) v_h; `key_bias` {rows} or null.
inline void attend(MatrixView<const float> q, MatrixView<const float> k, MatrixView<const float> v, int heads,
                   float scale, const float* key_bias, MatrixView<float> out, const Parallel& parallel,
                   const TileKernel* kernel = attentionTiles(Precision::kFp32), const KeptKeys& kept = {}) {
  if (q.rows == 0) return;
  constexpr int kPackRows = 128;
  thread_local Scratch<float> memory;
  const int head_dim = q.cols / heads;
  const AttentionInput input(memory.atLeast(AttentionInput::size(q.rows, heads, head_dim, kept, kernel)), q.rows, heads,
                             head_dim, false, kept, kernel);
  input.packBias(key_bias);
  runPieces(parallel, q.rows, kPackRows, [&](int begin, int end) {
    input.pack(begin, q.rowRange(begin, end), k.rowRange(begin, end), v.rowRange(begin, end), scale);
  });
  parallel.run(input.valueTasks(), [&](int task) { input.finishValues(task); });
  parallel.run(input.tasks(), [&](int task) { input.run(input.rowsOf(task), out); });
}

}  // namespace mpm::test
