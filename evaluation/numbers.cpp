// SPDX-License-Identifier: Apache-2.0
#include "evaluation/numbers.h"

#include <cmath>
#include <cstdio>

namespace mpm::cli {

Json toJson(const StageTimes& times) {
  Json json;
  for (const auto& [name, stage] : kStages) json[name] = std::round(times.*stage * 1e3) / 1e3;
  return json;
}

StageTimes stageTimesOf(const JsonValue& json) {
  StageTimes times;
  for (const auto& [name, stage] : kStages) times.*stage = json.at(name).number(0);
  return times;
}

Json orNull(std::optional<double> number) { return number && !std::isnan(*number) ? Json(*number) : Json(nullptr); }

Json percentJson(double share) { return orNull(std::round(share * 1e5) / 1e3); }

std::string fixed(std::optional<double> value, int digits) {
  if (!value || std::isnan(*value)) return "-";
  char text[400];  // of any double
  std::snprintf(text, sizeof text, "%.*f", digits, *value);
  return text;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace mpm::cli
