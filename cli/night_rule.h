// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "monitor/statistics/day_night.h"

namespace mpm::cli {

/// What --lat and --lon, --night-brightness and --night-hours say.
struct NightRuleOptions {
  std::optional<double> latitude, longitude, brightness;
  std::optional<std::string> hours;

  /// monostate: none was given. Throws UsageError for several rules at once, and for half of one.
  monitor::NightRule rule() const;
};

void addNightRule(CLI::App& verb, NightRuleOptions& options);

}  // namespace mpm::cli
