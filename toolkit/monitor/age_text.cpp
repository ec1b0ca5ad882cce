// SPDX-License-Identifier: Apache-2.0
#include "monitor/age_text.h"

#include <utility>

#include "base/number_text.h"
#include "monitor/clocks.h"
#include "vision/time.h"

namespace mpm::monitor {

std::string ageText(std::int64_t ms) {
  if (ms < 0) return "in the future";
  for (const auto& [unit, length] : {std::pair("day", kDayMs), {"hour", kHourMs}, {"minute", kMinuteMs}})
    if (ms >= 2 * length) return counted(ms / length, unit) + " ago";
  return std::to_string(ms / kSecondMs) + " s ago";
}

}  // namespace mpm::monitor
