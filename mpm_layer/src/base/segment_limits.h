// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/model_info.hpp"

namespace mpm {

/// EstimatorOptions::min_score where none is given: of its publisher for box queries.
constexpr double defaultMinScore(HeadKind head) { return head == HeadKind::kBoxQueries ? 0.5 : 0.8; }

}  // namespace mpm
