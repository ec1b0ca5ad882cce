// SPDX-License-Identifier: Apache-2.0
#include "vision/time.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <system_error>

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
  std::replace(text.begin(), text.end(), ':', '-');  // not allowed in names on other systems' disks
  return text;
}

std::optional<UnixMs> timeOfIso(const std::string& text) {
  std::string_view rest = text;
  const auto takes = [&](char mark) {
    const bool there = rest.starts_with(mark);
    rest.remove_prefix(there ? 1 : 0);
    return there;
  };
  const auto number = [&](std::size_t digits, int& value) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + std::min(digits, rest.size()), value);
    if (error != std::errc() || value < 0 || end != rest.data() + digits) return false;
    rest.remove_prefix(digits);
    return true;
  };
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, milliseconds = 0, offset = 0;
  if (!number(4, year) || !takes('-') || !number(2, month) || !takes('-') || !number(2, day)) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  if (takes('T') || takes(' ')) {
    if (!number(2, hour) || !takes(':') || !number(2, minute) || hour > 23 || minute > 59) return std::nullopt;
    if (takes(':') && (!number(2, second) || second > 59)) return std::nullopt;
    if (takes('.') && !number(3, milliseconds)) return std::nullopt;
    if (const bool east = rest.starts_with('+'); !takes('Z') && (takes('+') || takes('-'))) {
      int hours = 0, minutes = 0;
      if (!number(2, hours) || !takes(':') || !number(2, minutes) || hours > 23 || minutes > 59) return std::nullopt;
      offset = (east ? 1 : -1) * (hours * 60 + minutes);
    }
  }
  if (!rest.empty()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * kDayMs + hour * kHourMs +
         (minute - offset) * kMinuteMs + second * kSecondMs + milliseconds;
}

}  // namespace mpm
