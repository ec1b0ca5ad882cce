// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "base/json_file.h"
#include "mpm/estimator.hpp"

namespace mpm::evaluation {

/// The stages of a pass and their names in JSON.
inline constexpr std::pair<const char*, double StageTimes::*> kStages[] = {{"total", &StageTimes::total},
                                                                           {"preprocess", &StageTimes::preprocess},
                                                                           {"backbone", &StageTimes::backbone},
                                                                           {"merge", &StageTimes::merge},
                                                                           {"restore", &StageTimes::restore},
                                                                           {"head", &StageTimes::head},
                                                                           {"postprocess", &StageTimes::postprocess}};
/// {"total", "preprocess", "backbone", "merge", "restore", "head", "postprocess"}, ms.
Json toJson(const StageTimes& times);

/// The number; null for none and for NaN.
Json orNull(std::optional<double> number);
/// A share as a percentage with three decimals; null for NaN.
Json percentJson(double share);

}  // namespace mpm::evaluation
