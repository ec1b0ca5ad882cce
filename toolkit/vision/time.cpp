// SPDX-License-Identifier: Apache-2.0
#include "vision/time.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>

#include "mpm/error.hpp"

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

namespace mpm::vision {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// The rest of a text that is read from its beginning.
struct Rest {
  std::string_view text;

  bool startsWithDigit() const { return !text.empty() && isDigit(text[0]); }

  // One of these characters.
  std::optional<char> takeOne(std::string_view of) {
    if (text.empty() || of.find(text[0]) == std::string_view::npos) return std::nullopt;
    const char c = text[0];
    text.remove_prefix(1);
    return c;
  }

  // A number of exactly so many digits, or of fewer, down to `least`, where no more digits follow.
  std::optional<int> takeNumber(std::size_t most, std::size_t least) {
    std::size_t n = 0;
    int value = 0;
    for (; n < most && n < text.size() && isDigit(text[n]); ++n) value = 10 * value + (text[n] - '0');
    if (n < least) return std::nullopt;
    text.remove_prefix(n);
    return value;
  }
  std::optional<int> takeNumber(std::size_t digits) { return takeNumber(digits, digits); }
};

enum class Form { kText, kName };

// "Z", "+02:00", "+0200", "+02", "+2". In a name "-2" is a number of the picture, and so is "-0015".
std::optional<int> takeOffset(Rest& rest, Form form = Form::kText) {
  if (rest.takeOne("Zz")) return 0;
  const auto sign = rest.takeOne("+-");
  if (!sign) return std::nullopt;
  const auto hours = rest.takeNumber(2, 1);
  if (!hours) return std::nullopt;
  const bool colon = rest.takeOne(":").has_value();
  const auto minutes = rest.takeNumber(2);
  if (*hours > 14 || minutes.value_or(0) > 59 || (colon && !minutes)) return std::nullopt;
  const bool counts = *sign == '-' && !colon && (*hours == 0 || minutes.value_or(0) % 30 != 0);  // west are whole hours
  if (form == Form::kName && (!minutes || *minutes % 15 != 0 || rest.startsWithDigit() || counts)) return std::nullopt;
  const int offset = 60 * *hours + minutes.value_or(0);
  return *sign == '-' ? -offset : offset;
}

// Date and time of day. In a name all digits, no other space than "_", seconds, and an offset only of ISO 8601.
std::optional<WrittenTime> takeTime(Rest& rest, Form form) {
  const std::size_t least = form == Form::kText ? 1 : 2;
  const auto year = rest.takeNumber(4);
  const auto date_mark = rest.takeOne("-_:./");
  const auto month = rest.takeNumber(2, date_mark ? least : 2);
  if (!year || !month || (date_mark && rest.takeOne("-_:./") != date_mark)) return std::nullopt;
  const auto day = rest.takeNumber(2, date_mark ? least : 2);
  const auto between = rest.takeOne(form == Form::kText ? "Tt _" : "Tt _-");
  if (!day || (!between && (date_mark || form == Form::kText))) return std::nullopt;
  const auto hour = rest.takeNumber(2);
  const auto time_mark = rest.takeOne("-_:.");
  const auto minute = rest.takeNumber(2);
  if (!hour || !minute) return std::nullopt;
  std::optional<int> second;
  if (const Rest before = rest; (!time_mark || rest.takeOne("-_:.") == time_mark) && rest.startsWithDigit())
    second = rest.takeNumber(2);
  else
    rest = before;
  if (!second && (form == Form::kName || rest.startsWithDigit())) return std::nullopt;
  const auto time = unixTime(*year, *month, *day, *hour, *minute, second.value_or(0));
  if (!time) return std::nullopt;
  WrittenTime result{*time};
  const Rest before = rest;
  const bool point = second && rest.takeOne(".,");
  if (rest.startsWithDigit()) {  // of the second; phones write milliseconds without a point
    std::string digits;
    while (rest.startsWithDigit()) digits += *rest.takeOne("0123456789");
    if (!point && digits.size() != 3) return std::nullopt;
    digits.resize(3, '0');
    result.wall += std::atoi(digits.c_str());
  } else {
    rest = before;
  }
  const bool iso = form == Form::kText || between == 'T' || between == 't';
  if (Rest offset = rest; iso && (result.offset = takeOffset(offset, form))) rest = offset;
  return result;
}

// SITES: 20220101_001_1020.
std::optional<WrittenTime> takeDayOfYear(Rest rest) {
  const auto year = rest.takeNumber(4), month = rest.takeNumber(2), day = rest.takeNumber(2);
  if (!year || !month || !day || !rest.takeOne("_")) return std::nullopt;
  const auto of_year = rest.takeNumber(3);
  if (!of_year || !rest.takeOne("_")) return std::nullopt;
  const auto hour = rest.takeNumber(2), minute = rest.takeNumber(2);
  if (!hour || !minute || rest.startsWithDigit()) return std::nullopt;
  const auto time = unixTime(*year, *month, *day, *hour, *minute, 0), january = unixTime(*year, 1, 1, 0, 0, 0);
  if (!time || (*time - *january) / kDayMs + 1 != *of_year) return std::nullopt;
  return WrittenTime{*time};
}

// A number of seconds since 1970 from the year 2000 to tomorrow, or of milliseconds: 2024070812 is a date.
std::optional<WrittenTime> takeUnixTime(std::string_view text) {
  const auto digits = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), isDigit) - text.begin());
  if (digits != 10 && digits != 13) return std::nullopt;
  const UnixMs time = std::atoll(std::string(text.substr(0, digits)).c_str()) * (digits == 10 ? kSecondMs : 1);
  if (time < 946'684'800'000 || time > unixNow() + kDayMs) return std::nullopt;
  return WrittenTime{time, 0};
}

// Minutes east of UTC of the time without daylight saving in a rule of POSIX: "CET-1CEST,M3.5.0,M10.5.0/3". Where
// winter is called the saving ("IST-1GMT0"), too.
std::optional<int> standardTime(std::string_view rule) {
  Rest rest{rule};
  const auto takeName = [&] {
    const auto end = rest.text.starts_with('<') ? rest.text.find('>') + 1 : rest.text.find_first_of("+-,0123456789");
    rest.text.remove_prefix(std::min(end, rest.text.size()));
  };
  const auto takeWest = [&]() -> std::optional<int> {
    const bool east = rest.takeOne("+-") == '-';
    const auto hours = rest.takeNumber(2, 1);
    if (!hours) return std::nullopt;
    const int minutes = 60 * *hours + (rest.takeOne(":") ? rest.takeNumber(2).value_or(0) : 0);
    return east ? minutes : -minutes;
  };
  takeName();
  const auto usual = takeWest();
  if (!usual || rest.text.empty()) return usual;
  takeName();
  return std::min(*usual, takeWest().value_or(*usual + 60));
}

}  // namespace

std::optional<UnixMs> unixTime(int year, int month, int day, int hour, int minute, int second) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  if (year < 1970 || year > 2100 || !date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 59)
    return std::nullopt;
  const UnixMs days = sys_days(date).time_since_epoch().count();
  return days * kDayMs + hour * kHourMs + minute * kMinuteMs + second * kSecondMs;
}

std::optional<WrittenTime> readTime(std::string_view text) {
  Rest rest{text};
  const auto time = takeTime(rest, Form::kText);
  return rest.text.empty() ? time : std::nullopt;
}

std::optional<int> readOffset(std::string_view text) {
  Rest rest{text};
  const auto offset = takeOffset(rest);
  return rest.text.empty() ? offset : std::nullopt;
}

std::optional<UnixMs> timeOfIso(const std::string& text) {
  const auto time = readTime(text.size() == 10 ? text + "T00:00" : text);
  return time ? std::optional(time->utc(0)) : std::nullopt;
}

std::optional<WrittenTime> timeInName(std::string_view stem) {
  const auto at_each_number = [&](auto&& read) -> std::optional<WrittenTime> {
    for (std::size_t i = 0; i < stem.size(); ++i)
      if (isDigit(stem[i]) && (i == 0 || !isDigit(stem[i - 1])))
        if (const auto time = read(stem.substr(i))) return time;
    return std::nullopt;
  };
  if (const auto time = at_each_number([](std::string_view text) { return takeDayOfYear({text}); })) return time;
  if (const auto time = at_each_number([](std::string_view text) {
        Rest rest{text};
        return takeTime(rest, Form::kName);
      }))
    return time;
  return at_each_number(takeUnixTime);
}

int parseTimeZone(const std::string& text) {
  if (text == "UTC" || text == "GMT") return 0;
  Rest rest{text};
  if (const auto offset = takeOffset(rest); offset && rest.text.empty()) return *offset;
  const bool path = !text.empty() && text[0] != '/' && text.find("..") == std::string::npos;
  if (std::ifstream file("/usr/share/zoneinfo/" + text, std::ios::binary); path && file) {
    std::string line, last;
    std::getline(file, line);
    const bool zone = line.starts_with("TZif");
    while (std::getline(file, line)) last.swap(line);  // the last one is its rule
    if (const auto offset = standardTime(last); zone && offset) return *offset;
  }
  throw Error("'" + text + "' is neither an offset from UTC, such as +01:00, nor a zone, such as Europe/Paris");
}

int machineTimeZone(UnixMs time) {
  long least = std::numeric_limits<long>::max();
  for (const int half_year : {-1, 0, 1}) {  // one of them has no daylight saving
    const std::time_t second = (time + half_year * 182 * kDayMs) / kSecondMs;
    std::tm parts{};
    ::localtime_r(&second, &parts);
    least = std::min(least, parts.tm_gmtoff);
  }
  return static_cast<int>(least / 60);
}

std::string timeZoneText(int offset) {
  char text[32];
  std::snprintf(text, sizeof text, "UTC%c%02d:%02d", offset < 0 ? '-' : '+', std::abs(offset) / 60,
                std::abs(offset) % 60);
  return text;
}

}  // namespace mpm::vision
