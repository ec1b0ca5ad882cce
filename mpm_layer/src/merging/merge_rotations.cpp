// SPDX-License-Identifier: Apache-2.0
#include "merging/merge_rotations.h"

#include <algorithm>

namespace mpm {

void mergeRotations(MatrixView<const float> cosine, MatrixView<const float> sine, TokenState<const float> state,
                    MatrixView<float> rotations) {
  const int patches = state.patches, pairs = cosine.cols, tables = cosine.rows / patches;
  for (int row = 0; row < state.live(); ++row) std::fill_n(rotations.row(row), rotations.cols, 0.0f);
  for (int i = 0; i < patches; ++i) {
    const int row = static_cast<int>(state.clusterOfToken()[i]);
    const float share = 1 / state.clusterSize()[row];
    float* to = rotations.row(row);
    for (const auto* table : {&cosine, &sine}) {
      for (int t = 0; t < tables; ++t, to += pairs) {
        const float* from = table->row(t * patches + i);
        for (int j = 0; j < pairs; ++j) to[j] += share * from[j];
      }
    }
  }
}

}  // namespace mpm
