// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/study/study.h"

namespace mpm::cli {

/// Writes results.csv, report.html (one file, no network), report.md and figures/NAME.svg and .png into `folder`.
/// `command`: what the report says it was made with.
void writeReport(const std::vector<StudyRow>& rows, const std::string& folder, const std::string& command);

/// IoU of each class, 0..1, from counts {classes, classes}; NaN for a class that does not occur.
std::vector<double> iouOf(const PixelCounts& counts);
/// Mean of iouOf() over the classes that occur, percent.
double meanIouOf(const PixelCounts& counts);

}  // namespace mpm::cli
