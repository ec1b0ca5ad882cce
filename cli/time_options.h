// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "vision/times/picture_times.h"

namespace mpm::cli {

/// --times and --time-zone: when pictures were taken.
void addTimes(CLI::App& verb, vision::TimeOptions& options);

}  // namespace mpm::cli
