// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "charts/calendar.h"
#include "monitor/store/store_reader.h"
#include "vision/camera_clock.h"
#include "vision/sources/source.h"

namespace mpm::monitor {

/// Which picture of a day stands for it, in a calendar and in a film.
struct DayMoment {
  enum class By { kHighestSun, kClock, kRisingSun, kSinkingSun };
  By by = By::kHighestSun;
  double value = 0;  ///< kClock: minute of the day; kRisingSun, kSinkingSun: height of the sun in degrees
};

/// "noon", "13:30", "sun:20" (in the morning), "sun:20:evening". Throws mpm::Error for another text.
DayMoment parseDayMoment(const std::string& text);

/// Moments that people choose from. `text` is one that parseDayMoment() reads, as it does others.
struct NamedMoment {
  const char* text;
  const char* name;  ///< in English; translated in the context "moments"
};
std::span<const NamedMoment> dayMoments();

/// Chooses the picture that stands for a day.
class DayPictures {
 public:
  /// `place`: of the camera. Without one the highest sun is at 12:00 of its clock; throws mpm::Error for another height
  /// of the sun.
  DayPictures(const DayMoment& moment, const std::optional<vision::GeoPosition>& place, vision::CameraClock clock);

  /// The date of a picture: days since 1970 by the clock of the camera.
  std::int64_t dayOf(UnixMs time) const { return clock_.wall(time) / kDayMs; }
  /// Of each day, ascending, the index of the picture nearest to the moment that is `good`. Goes by the times first, so
  /// that few pictures have to be opened.
  std::vector<std::size_t> choose(const std::vector<UnixMs>& times,
                                  const std::function<bool(std::size_t index)>& good) const;

 private:
  // Smaller for a picture that is nearer to the moment; nullopt: the moment does not allow it.
  std::optional<double> away(UnixMs time) const;

  DayMoment moment_;
  std::optional<vision::GeoPosition> place_;
  vision::CameraClock clock_;
};

/// Where the camera of a source stands, as its latest session says that knows; nullopt: none does.
std::optional<vision::GeoPosition> storedPlace(const StoreReader& store, std::int64_t source);

/// A year by the clock of a camera: the part of it in which a source has something, [from, to).
struct CalendarYear {
  int year = 0;
  UnixMs from = 0, to = 0;
};

/// From the year of the first sample to that of the last; empty where nothing is kept.
std::vector<CalendarYear> calendarYears(const SourceRecord& source);

/// What the days of a calendar are coloured by: the mean of a quantity or of an area; or the share of the time in which
/// a state counted, of the time of the day in which any state did.
struct CalendarKey {
  SeriesKey series{};
  std::string states{}, state{};  ///< of a head, by names; empty: `series` counts
};

/// The picture that stands for a day.
struct DayPicture {
  UnixMs taken = 0;
  std::string address{};  ///< where the caller finds it
};

/// The days of the camera's clock that have samples of the series of a source in [from, to), or a picture; without
/// texts.
charts::CalendarDrawing calendarOf(const StoreReader& store, const SourceRecord& source, const SeriesRecord& series,
                                   const CalendarKey& key, const std::vector<DayPicture>& pictures, UnixMs from,
                                   UnixMs to);

}  // namespace mpm::monitor
