// SPDX-License-Identifier: Apache-2.0
#include "cli/night_rule.h"

#include <algorithm>

#include "mpm/error.hpp"
#include "program/model_options.h"
#include "program/terminal/program.h"

namespace mpm::cli {

monitor::NightRule NightRuleOptions::rule() const {
  const bool sun = latitude || longitude;
  if (sun + brightness.has_value() + hours.has_value() > 1)
    throw UsageError("day and night come from one of --lat with --lon, --night-brightness, --night-hours");
  if (sun && !(latitude && longitude)) throw UsageError("--lat and --lon go together");
  return orUsageError([&] {
    monitor::NightRule rule;
    if (sun) rule = monitor::NightBySun{.latitude = *latitude, .longitude = *longitude};
    if (brightness)
      rule =
          monitor::NightByBrightness{.night_below = *brightness, .day_above = std::min(255.0, 1.3 * *brightness + 5)};
    if (hours) rule = monitor::parseNightHours(*hours);
    monitor::validate(rule);
    return rule;
  });
}

void addNightRule(CLI::App& verb, NightRuleOptions& options) {
  addNumber(verb, "--lat", options.latitude, "DEGREES", -90, 90,
            "By the sun: night while it is 6 degrees below the horizon");
  addNumber(verb, "--lon", options.longitude, "DEGREES", -180, 180, "Degrees north and east");
  addNumber(verb, "--night-brightness", options.brightness, "0..255", 0, 255,
            "By the image: night below this mean grey value");
  addOption(verb, "--night-hours", options.hours, "FROM-TO", "By the clock: 21:00-06:30, local time");
}

}  // namespace mpm::cli
