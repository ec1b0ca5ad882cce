// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "cli/measure.h"

namespace mpm::cli {

/// The options of `mpm eval` and `mpm study` that say what is measured.
void addMeasureOptions(CLI::App& verb, MeasurePlan& plan);

}  // namespace mpm::cli
