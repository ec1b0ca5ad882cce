// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mpm {

/// Wall time: milliseconds since 1970-01-01 00:00 UTC. Everything that is stored carries it.
using UnixMs = std::int64_t;
inline constexpr UnixMs kSecondMs = 1000, kMinuteMs = 60 * kSecondMs, kHourMs = 60 * kMinuteMs, kDayMs = 24 * kHourMs;

UnixMs unixNow();

/// ms of a clock that never jumps; only differences mean something.
std::int64_t steadyNow();

/// "2026-11-03T17:04:05Z", to the second; `milliseconds`: "2026-11-03T17:04:05.250Z".
std::string isoTime(UnixMs time, bool milliseconds = false);
/// A time for file names: "2026-11-03T17-04-05Z".
std::string fileTime(UnixMs time, bool milliseconds = false);

}  // namespace mpm

namespace mpm::vision {

class CameraClock;

/// A date and time of day as somebody wrote them.
struct WrittenTime {
  UnixMs wall = 0;              ///< as if it were UTC
  std::optional<int> offset{};  ///< minutes east of UTC; nullopt: not written, it is what the camera's clock showed
  bool whole_hours = false;     ///< `offset` is cut to whole hours: +05:30 is written as 5

  /// The moment, by the camera's clock where no offset is written.
  UnixMs utc(const CameraClock& clock) const;
};

/// Minutes east of UTC: "Z", "+02:00", "+0200", "+02", "+2". nullopt: it is something else, or more follows.
std::optional<int> readOffset(std::string_view text);

/// Milliseconds since 1970 of this moment of UTC; nullopt: there is no such moment between 1970 and 2100.
std::optional<UnixMs> unixTime(int year, int month, int day, int hour, int minute, int second);

/// "2013-07-08T05:54:13", also with a space or "_" for the T, "/", ":" or "." in the date, without seconds, with a
/// fraction of the second, "Z" or an offset such as "+02:00". nullopt: it is something else, before `first_year`, or
/// more follows.
std::optional<WrittenTime> readTime(std::string_view text, int first_year = 1970);

/// Back from isoTime() or another text of readTime(), from 1900 on, where scenes begin; without an offset UTC, a date
/// alone its midnight. nullopt: none.
std::optional<UnixMs> timeOfIso(const std::string& text);

}  // namespace mpm::vision
