// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/measure.h"

namespace mpm::cli {

/// Prints a table of the classes of one variant, or a row for each of several; with `json` an object for each variant
/// instead.
void printMeasured(const Measured& all, bool json);

/// printMeasured(), or where the run of `plan` was interrupted, how it goes on. Returns the exit code.
int showMeasured(const Measured& measured, const MeasurePlan& plan, bool json);

}  // namespace mpm::cli
