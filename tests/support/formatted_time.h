// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <iomanip>
#include <sstream>

#include "vision/time.h"

namespace mpm::test {

enum class Zone { kUtc, kTz };  ///< kTz: that of the variable TZ

/// A time by the C library's own calendar, in the form of strftime().
inline std::string formatted(UnixMs time, const char* form, Zone zone = Zone::kUtc) {
  const std::time_t second = time / kSecondMs;
  std::tm parts{};
  (zone == Zone::kUtc ? ::gmtime_r : ::localtime_r)(&second, &parts);
  std::ostringstream text;
  text << std::put_time(&parts, form);
  return text.str();
}

}  // namespace mpm::test
