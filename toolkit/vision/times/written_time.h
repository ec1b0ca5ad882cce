// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "vision/time.h"

namespace mpm::vision {

/// A date and time of day as somebody wrote them.
struct WrittenTime {
  UnixMs wall = 0;              ///< as if it were UTC
  std::optional<int> offset{};  ///< minutes east of UTC; nullopt: not written, it is what the camera's clock showed

  UnixMs utc(int offset_of_camera) const { return wall - offset.value_or(offset_of_camera) * kMinuteMs; }
};

/// Milliseconds since 1970 of this moment of UTC; nullopt: there is no such moment between 1970 and 2100.
std::optional<UnixMs> unixTime(int year, int month, int day, int hour, int minute, int second);

/// "2013-07-08T05:54:13", also with a space or "_" for the T, "/", ":" or "." in the date, without seconds, with a
/// fraction of the second, "Z" or an offset such as "+02:00". nullopt: it is something else, or more follows.
std::optional<WrittenTime> readTime(std::string_view text);

/// Back from isoTime(), or of another text of readTime(); without an offset it is UTC. A date alone is its midnight.
/// nullopt: it is no such time.
std::optional<UnixMs> timeOfIso(const std::string& text);

/// The time in the name of a file, without folder and ending: 20130708_055413, 2013-07-08_05-54-13,
/// 2013-07-08T05:54:13Z, site_2013_07_08_055413, IMG_20130708_055413123, SITES' site_20220101_001_1020 (date, day of
/// the year, hour and minute), or Unix time in seconds or milliseconds. nullopt: it holds none.
std::optional<WrittenTime> timeInName(std::string_view stem);

/// Minutes east of UTC: "+01:00", "-0530", "+1", "Z", "UTC", or a zone such as "Europe/Paris", whose standard time
/// counts all year. Throws mpm::Error for another text.
int parseTimeZone(const std::string& text);

/// Minutes east of UTC of the standard time of this machine, in the year around this moment.
int machineTimeZone(UnixMs time = unixNow());

/// "UTC+01:00".
std::string timeZoneText(int offset);

}  // namespace mpm::vision
