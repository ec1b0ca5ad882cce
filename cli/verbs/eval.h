// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/measure.h"

namespace mpm::cli {

/// The options of `mpm eval` that say what is measured, for its presets too.
struct MeasureOptions {
  MeasurePlan plan{};
  std::string dataset{}, against{};

  /// Throws UsageError for options that do not go together.
  MeasurePlan checked() const;
};
void addMeasureOptions(CLI::App& verb, MeasureOptions& options);

/// Measures, and prints a table of the classes of one variant, or a row for each of several. `json`: an object for each
/// variant instead. Returns the exit code.
int evaluate(const MeasurePlan& plan, bool json);

}  // namespace mpm::cli
