// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/day_night.h"

#include <cmath>
#include <cstdio>
#include <ctime>

#include "mpm/error.hpp"
#include "vision/astronomy.h"

namespace mpm::monitor {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

int minuteOfDay(UnixMs time, std::optional<int> zone) {
  if (zone) return static_cast<int>((time + *zone * kMinuteMs + kDayMs) % kDayMs / kMinuteMs);
  const std::time_t second = static_cast<std::time_t>(std::floor(static_cast<double>(time) / kSecondMs));
  std::tm parts{};
  ::localtime_r(&second, &parts);
  return parts.tm_hour * 60 + parts.tm_min;
}

}  // namespace

double sunElevation(UnixMs time, double latitude, double longitude) {
  return vision::sunPosition(static_cast<double>(time) / kSecondMs, latitude, longitude).elevation;
}

NightByHours parseNightHours(const std::string& text) {
  int from_hour = 0, from_minute = 0, to_hour = 0, to_minute = 0, end = -1;
  if (std::sscanf(text.c_str(), "%2d:%2d-%2d:%2d%n", &from_hour, &from_minute, &to_hour, &to_minute, &end) != 4 ||
      end != static_cast<int>(text.size()) || from_minute < 0 || from_minute > 59 || to_minute < 0 || to_minute > 59)
    throw Error("'" + text + "' is not FROM-TO as hours and minutes, for example 21:00-06:30");
  const NightByHours hours{from_hour * 60 + from_minute, to_hour * 60 + to_minute};
  validate(hours);
  return hours;
}

void validate(const NightRule& rule) {
  std::visit(Overloaded{[](std::monostate) {},
                        [](const NightBySun& sun) {
                          if (!(std::abs(sun.latitude) <= 90))
                            throw Error("a latitude lies between -90 and 90 degrees");
                          if (!(std::abs(sun.longitude) <= 180))
                            throw Error("a longitude lies between -180 and 180 degrees");
                          if (!(std::abs(sun.night_below) < 90))
                            throw Error("the sun's elevation lies between -90 and 90 degrees");
                        },
                        [](const NightByBrightness& brightness) {
                          if (!(brightness.night_below >= 0 && brightness.day_above <= 255))
                            throw Error("a brightness lies between 0 and 255");
                          if (!(brightness.night_below <= brightness.day_above))
                            throw Error("the day must begin at a brightness not below that of the night");
                        },
                        [](const NightByHours& hours) {
                          for (int minute : {hours.from, hours.to})
                            if (minute < 0 || minute > 24 * 60) throw Error("an hour lies between 00:00 and 24:00");
                          if (hours.from == hours.to) throw Error("a night that begins when it ends is none");
                        }},
             rule);
}

DayNight::DayNight(NightRule rule) : rule_(rule) { validate(rule_); }

std::optional<bool> DayNight::night(UnixMs time, double brightness) {
  return std::visit(Overloaded{[](std::monostate) -> std::optional<bool> { return std::nullopt; },
                               [&](const NightBySun& sun) -> std::optional<bool> {
                                 return sunElevation(time, sun.latitude, sun.longitude) < sun.night_below;
                               },
                               [&](const NightByBrightness& band) -> std::optional<bool> {
                                 if (!last_) last_ = brightness < (band.night_below + band.day_above) / 2;
                                 if (brightness < band.night_below) last_ = true;
                                 if (brightness > band.day_above) last_ = false;
                                 return last_;
                               },
                               [&](const NightByHours& hours) -> std::optional<bool> {
                                 const int minute = minuteOfDay(time, hours.zone);
                                 return hours.from < hours.to ? minute >= hours.from && minute < hours.to
                                                              : minute >= hours.from || minute < hours.to;
                               }},
                    rule_);
}

}  // namespace mpm::monitor
