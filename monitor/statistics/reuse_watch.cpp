// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/reuse_watch.h"

#include <cstdio>
#include <string>
#include <utility>

namespace mpm::monitor {
namespace {

std::string percentText(double percent) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %%", percent);
  return text;
}

}  // namespace

std::optional<Event> ReuseWatch::add(const ReuseReport& report, const Reuse& options, UnixMs time) {
  if (!report.agreement) return std::nullopt;
  const double wanted = options.agreement.value_or(kWanted);
  const std::string found = "reuse agrees with the full model on " + percentText(*report.agreement) + " of the pixels";
  if (*report.agreement >= wanted) {
    if (std::exchange(below_, 0) < kInARow) return std::nullopt;
    return Event{time, EventKind::kReuse, Severity::kInfo, found + ", " + percentText(wanted) + " or more again"};
  }
  if (++below_ != kInARow) return std::nullopt;
  return Event{time, EventKind::kReuse, Severity::kWarning,
               found + ", less than " + percentText(wanted) + " at " + std::to_string(kInARow) +
                   " key frames in a row: " +
                   (options.agreement   ? "no threshold is low enough here, turn reuse off"
                    : options.threshold ? "choose a lower threshold, or turn reuse off"
                                        : "let agreement= steer the threshold, or turn reuse off")};
}

}  // namespace mpm::monitor
