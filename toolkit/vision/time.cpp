// SPDX-License-Identifier: Apache-2.0
#include "vision/time.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "vision/camera_clock.h"
#include "vision/times/text_reader.h"

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
  const auto [year, month, day, hour, minute, second, millisecond] = vision::civilTime(time);
  if (year < 0 || year > 9999) return "?";
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, hour, minute, second);
  std::string result = text;
  if (milliseconds) {
    std::snprintf(text, sizeof text, ".%03d", millisecond);
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

namespace mpm::vision {
namespace {

// "Z", "+02:00", "+0200", "+02", "+2".
std::optional<int> takeOffset(Rest& rest) {
  if (rest.takeOne("Zz")) return 0;
  const auto sign = rest.takeOne("+-");
  if (!sign) return std::nullopt;
  const auto hours = rest.takeNumber(2, 1);
  if (!hours) return std::nullopt;
  const bool colon = rest.takeOne(":").has_value();
  const auto minutes = rest.takeNumber(2);
  if (*hours > 14 || minutes.value_or(0) > 59 || (colon && !minutes)) return std::nullopt;
  const int offset = 60 * *hours + minutes.value_or(0);
  return *sign == '-' ? -offset : offset;
}

// Milliseconds since 1970 of a moment of UTC.
std::optional<UnixMs> momentFrom(int first_year, int year, int month, int day, int hour, int minute, int second) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  if (year < first_year || year > 2100 || !date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 59)
    return std::nullopt;
  const UnixMs days = sys_days(date).time_since_epoch().count();
  return days * kDayMs + hour * kHourMs + minute * kMinuteMs + second * kSecondMs;
}

std::optional<WrittenTime> takeTime(Rest& rest, int first_year) {
  const auto year = rest.takeNumber(4);
  const auto date_mark = rest.takeOne("-_:./");
  const std::size_t least = date_mark ? 1 : 2;
  const auto month = rest.takeNumber(2, least);
  if (!year || !month || (date_mark && rest.takeOne("-_:./") != date_mark)) return std::nullopt;
  const auto day = rest.takeNumber(2, least);
  if (!day || !rest.takeOne("Tt _")) return std::nullopt;
  const auto hour = rest.takeNumber(2);
  const auto time_mark = rest.takeOne("-_:.");
  const auto minute = rest.takeNumber(2);
  if (!hour || !minute) return std::nullopt;
  std::optional<int> second;
  if (const Rest before = rest; (!time_mark || rest.takeOne("-_:.") == time_mark) && rest.startsWithDigit())
    second = rest.takeNumber(2);
  else
    rest = before;
  if (!second && rest.startsWithDigit()) return std::nullopt;
  const auto time = momentFrom(first_year, *year, *month, *day, *hour, *minute, second.value_or(0));
  if (!time) return std::nullopt;
  WrittenTime result{*time};
  if (Rest fraction = rest; second && fraction.takeOne(".,") && fraction.startsWithDigit()) {
    result.wall += fraction.takeMilliseconds();
    rest = fraction;
  }
  if (Rest offset = rest; (result.offset = takeOffset(offset))) rest = offset;
  return result;
}

}  // namespace

UnixMs WrittenTime::utc(const CameraClock& clock) const {
  const UnixMs by_clock = clock.time(wall);
  if (!offset) return by_clock;
  const bool same_hours = whole_hours && (wall - by_clock) / kHourMs == *offset / 60;
  return same_hours ? by_clock : wall - *offset * kMinuteMs;
}

std::optional<UnixMs> unixTime(int year, int month, int day, int hour, int minute, int second) {
  return momentFrom(1970, year, month, day, hour, minute, second);
}

std::optional<WrittenTime> readTime(std::string_view text, int first_year) {
  Rest rest{text};
  const auto time = takeTime(rest, first_year);
  return rest.text.empty() ? time : std::nullopt;
}

std::optional<int> readOffset(std::string_view text) {
  Rest rest{text};
  const auto offset = takeOffset(rest);
  return rest.text.empty() ? offset : std::nullopt;
}

std::optional<UnixMs> timeOfIso(const std::string& text) {
  const auto time = readTime(text.size() == 10 ? text + "T00:00" : text, 1900);
  return time ? std::optional(time->utc(CameraClock())) : std::nullopt;
}

}  // namespace mpm::vision
