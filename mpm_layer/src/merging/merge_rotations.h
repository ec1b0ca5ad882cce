// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/view.h"
#include "merging/token_state.h"

namespace mpm {

/// Rotary positions of merged rows: for each live row of `state` the mean over its patches. `cosine` and `sine`
/// {tables * N, pairs}; `rotations` {N, 2 * tables * pairs}, the form that rotate() takes.
void mergeRotations(MatrixView<const float> cosine, MatrixView<const float> sine, TokenState<const float> state,
                    MatrixView<float> rotations);

}  // namespace mpm
