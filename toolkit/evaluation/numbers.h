// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>
#include <string>
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
inline Json toJson(const StageTimes& times) {
  Json json;
  for (const auto& [name, stage] : kStages) json[name] = std::round(times.*stage * 1e3) / 1e3;
  return json;
}

/// The text of a key; "" where there is none.
inline std::string textOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The number; null for none and for NaN.
inline Json orNull(std::optional<double> number) {
  return number && !std::isnan(*number) ? Json(*number) : Json(nullptr);
}
/// With nine decimals: who rounds it again for a person gets the digits of the number itself. Null for NaN.
inline Json rounded(double number) { return orNull(std::round(number * 1e9) / 1e9 + 0.0); }  // no -0
/// A share as a percentage with three decimals; null for NaN.
inline Json percentJson(double share) { return orNull(std::round(share * 1e5) / 1e3); }

}  // namespace mpm::evaluation
