// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vision/time.h"

namespace mpm::vision {

/// The clock of a camera: turns moments into dates and times of day, and back. Nothing else in the project does.
///
/// Its zone is an offset from UTC that never changes, or a zone of the tz database (/usr/share/zoneinfo, or $TZDIR)
/// with its summer time. "Wall" is what the clock shows, as milliseconds since 1970-01-01 00:00 of the same clock:
/// civilTime() takes it apart. A value: copies share what was read from the database. Thread-safe.
class CameraClock {
 public:
  /// UTC.
  CameraClock() = default;
  /// "UTC", "Z", "+01:00", "-0330", "+9", "UTC+01:00", or a name of the tz database: "Europe/Paris". Throws mpm::Error
  /// for another text, and where this machine lacks the database.
  explicit CameraClock(const std::string& zone);
  /// This many minutes ahead of UTC all year.
  static CameraClock ahead(int minutes);
  /// The local time of this machine with its summer time: $TZ, else /etc/localtime; UTC where there is neither.
  static CameraClock ofMachine();

  /// What the constructor reads: "+01:00", "Europe/Paris". Empty for a machine whose zone has no name.
  const std::string& zone() const { return zone_; }
  /// For people: "UTC", "UTC+01:00", "Europe/Paris", "local time".
  std::string name() const;
  /// For people, with the offset of this moment: "UTC+02:00".
  std::string offsetText(UnixMs time) const;

  /// "2026-06-01T14:00:00+02:00".
  std::string localTime(UnixMs time) const;

  /// How far the clock is ahead of UTC, ms.
  UnixMs offset(UnixMs time) const;
  UnixMs wall(UnixMs time) const { return time + offset(time); }

  enum class Twice { kFirst, kSecond };
  /// The moment at which the clock shows this. Where it is put back it shows an hour twice: `twice` says which of the
  /// two is meant. Where it is put forward an hour is missing: a time in it counts as if the clock had not been changed
  /// yet, so that 02:30 is what the clock shows as 03:30.
  UnixMs time(UnixMs wall, Twice twice = Twice::kFirst) const;

  /// The first moment of the date that lies `days` after the date of `time`: 00:00, or later where the clock is put
  /// forward at midnight. Days have 23 to 25 hours.
  UnixMs startOfDay(UnixMs time, int days = 0) const;
  /// "2026-11-03".
  std::string date(UnixMs time) const { return isoTime(wall(time)).substr(0, 10); }
  /// From when on the clock is how far ahead of UTC in [from, to), ascending; the first is at `from`.
  std::vector<std::pair<UnixMs, UnixMs>> offsets(UnixMs from, UnixMs to) const;
  /// The same zone without summer time, as it is in the year around this moment: what a camera shows that is never put
  /// forward.
  CameraClock standardTime(UnixMs around) const;

  /// The same zone, by its text.
  friend bool operator==(const CameraClock& a, const CameraClock& b) {
    return a.zone_ == b.zone_ && a.offset_ == b.offset_ && a.rules_ == b.rules_;
  }

 private:
  struct Rules;

  std::string zone_ = "+00:00";
  UnixMs offset_ = 0;                     // without rules
  std::shared_ptr<const Rules> rules_{};  // null: the offset never changes
};

/// The clock that times of a camera are shown in and read by: its own where it is known, else this machine's.
CameraClock clockOrMachine(const std::optional<CameraClock>& known);

/// The parts of what a clock shows.
struct CivilTime {
  int year = 1970, month = 1, day = 1;  ///< from 1
  int hour = 0, minute = 0, second = 0, millisecond = 0;
};

/// Takes a wall time apart. One that is more than 25000 years from 1970 counts as the nearest that is not.
CivilTime civilTime(UnixMs wall);
/// The inverse. A month or a day beyond its range counts on: month 13 is January of the next year, day 0 the last one
/// of the month before.
UnixMs wallTime(const CivilTime& civil);

}  // namespace mpm::vision
