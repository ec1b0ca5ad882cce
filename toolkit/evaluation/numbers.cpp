// SPDX-License-Identifier: Apache-2.0
#include "evaluation/numbers.h"

#include <cmath>

namespace mpm::evaluation {

Json toJson(const StageTimes& times) {
  Json json;
  for (const auto& [name, stage] : kStages) json[name] = std::round(times.*stage * 1e3) / 1e3;
  return json;
}

Json orNull(std::optional<double> number) { return number && !std::isnan(*number) ? Json(*number) : Json(nullptr); }

Json percentJson(double share) { return orNull(std::round(share * 1e5) / 1e3); }

}  // namespace mpm::evaluation
