// SPDX-License-Identifier: Apache-2.0
// What 'mpm report' gives of the numbers of a source: text, a line, JSON or a chart.
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>

#include "base/json_file.h"
#include "cli/report/source_report.h"

namespace mpm::cli {

void printReport(const SourceReport& report);
/// One line for somebody who looks after many cameras: is all well? `bytes`: of the databases that the report was asked
/// of.
void printBrief(const monitor::StoreReader& store, const SourceReport& report, std::uintmax_t bytes);
Json reportJson(const SourceReport& report);
/// Tokens, areas of classes, regions, and where it was on, the reuse of rows.
cv::Mat reportChart(const monitor::StoreReader& store, const SourceReport& report);

}  // namespace mpm::cli
