// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/study/study.h"

namespace mpm::cli {

/// Writes the numbers of each row into `folder`: summary.jsonl, and results.csv without the lists. Prints a table of
/// those without the depth sweep. Rows whose full model has another number of images are left out.
void writeSummary(const std::vector<StudyRow>& rows, const std::string& folder);

}  // namespace mpm::cli
