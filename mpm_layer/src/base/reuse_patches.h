// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace mpm {

/// Throws mpm::Error where an Estimator with `count` patches cannot compute these `patches` of a frame: they are
/// ascending, and none is there twice. `reuses`: it reuses rows of earlier frames.
void requirePatches(const std::vector<int>& patches, int count, bool reuses);

}  // namespace mpm
