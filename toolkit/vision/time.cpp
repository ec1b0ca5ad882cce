// SPDX-License-Identifier: Apache-2.0
#include "vision/time.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace mpm {

UnixMs unixNow() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::int64_t steadyNow() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

std::string isoTime(UnixMs time, bool milliseconds) {
  const UnixMs rest = ((time % kSecondMs) + kSecondMs) % kSecondMs;
  const std::time_t second = (time - rest) / kSecondMs;
  std::tm parts{};
  if (!::gmtime_r(&second, &parts)) return "?";
  char text[64];
  text[std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts)] = '\0';
  std::string result = text;
  if (milliseconds) {
    std::snprintf(text, sizeof text, ".%03d", static_cast<int>(rest));
    result += text;
  }
  return result + "Z";
}

std::string fileTime(UnixMs time, bool milliseconds) {
  std::string text = isoTime(time, milliseconds);
  std::ranges::replace(text, ':', '-');  // not allowed in names on other systems' disks
  return text;
}

}  // namespace mpm
