// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "kernels/view.h"
#include "merging/token_state.h"
#include "mpm/options.hpp"

namespace mpm {

/// The weight of each patch in its merged row, {N}. One state: every member of a row counts the same. Several, one per
/// merge from the first on: each merge took the plain mean of its rows.
std::vector<float> patchWeights(std::span<const TokenState<const float>> states);

/// Rotary positions of merged rows, `rotations` {N, 2 * tables * pairs}, of which the live rows of `state` are written:
/// cosines, then sines, as rotate() takes them. `cosine` and `sine` {tables * N, pairs}. For kCentroid `cosine` are
/// angles and `sine` is not read.
void mergeRotations(MergedPositions policy, MatrixView<const float> cosine, MatrixView<const float> sine,
                    TokenState<const float> state, MatrixView<float> rotations);

}  // namespace mpm
