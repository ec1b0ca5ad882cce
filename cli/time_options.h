// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "vision/times/picture_times.h"

namespace mpm::cli {

/// --times and --time-zone: when pictures were taken.
void addTimes(CLI::App& verb, vision::TimeOptions& options);

/// --time-zone of what `meaning` says: minutes east of UTC.
CLI::Option* addTimeZone(CLI::App& verb, std::optional<int>& zone, const std::string& meaning);

}  // namespace mpm::cli
