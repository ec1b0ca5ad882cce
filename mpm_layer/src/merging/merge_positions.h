// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "merging/token_state.h"

namespace mpm {

/// The weight of each patch in its merged row, {N}. One state: every member of a row counts the same. Several, one per
/// merge from the first on: each merge took the plain mean of its rows.
std::vector<float> patchWeights(std::span<const TokenState<const float>> states);

}  // namespace mpm
