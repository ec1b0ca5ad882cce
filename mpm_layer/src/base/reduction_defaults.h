// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/options.hpp"

namespace mpm {

/// What a Reduction without `attention` has.
Attention defaultAttention(ReductionMethod method);

/// `reduction` with its blocks, and every other default that counts, in a model of so many blocks. Merging in no block
/// is kNone.
Reduction withDefaults(Reduction reduction, int blocks);

}  // namespace mpm
