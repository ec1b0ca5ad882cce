// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <iomanip>
#include <sstream>

#include "vision/time.h"

namespace mpm::test {

/// A time in UTC by the C library's own calendar, in the form of strftime().
inline std::string formatted(UnixMs time, const char* form) {
  const std::time_t second = time / kSecondMs;
  std::tm parts{};
  ::gmtime_r(&second, &parts);
  std::ostringstream text;
  text << std::put_time(&parts, form);
  return text.str();
}

}  // namespace mpm::test
