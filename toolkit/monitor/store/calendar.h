// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "charts/calendar.h"
#include "monitor/store/store.h"
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

/// Says how near pictures are to the moment of their day.
class DayPictures {
 public:
  /// `place`: of the camera. Without one the highest sun is at 12:00 of its clock; throws mpm::Error for another height
  /// of the sun.
  DayPictures(const DayMoment& moment, const std::optional<vision::GeoPosition>& place, vision::CameraClock clock);

  /// Smaller for a picture that is nearer to the moment; nullopt: the moment does not allow it.
  std::optional<double> away(UnixMs time) const;
  /// The date of a picture: days since 1970 by the clock of the camera.
  std::int64_t dayOf(UnixMs time) const { return clock_.wall(time) / kDayMs; }
  /// The indices of pictures by their days, ascending; of each day the nearest one first. Picks by times alone, so that
  /// only the picture of a day that is shown needs to be looked at.
  std::vector<std::vector<std::size_t>> byDays(const std::vector<UnixMs>& times) const;

 private:
  DayMoment moment_;
  std::optional<vision::GeoPosition> place_;
  vision::CameraClock clock_;
};

/// Where the camera of a source stands, as its latest session says that knows; nullopt: none does.
std::optional<vision::GeoPosition> storedPlace(const StoreReader& store, std::int64_t source);

/// What the days of a calendar are coloured by: a quantity or an area, else how long a state counted.
struct CalendarKey {
  SeriesKey series{};
  std::string states{}, state{};  ///< of a head, by names; empty: `series` counts
};

/// The picture that stands for a day.
struct DayPicture {
  UnixMs taken = 0;
  std::string address{};  ///< where the caller finds it
};

/// A day of the camera's clock with samples of a series. `value`: their mean, or the share in percent of the time,
/// within [from, to) and of that in which any state counted, in which the state did; nullopt: there is none.
struct CalendarDay {
  UnixMs start = 0, end = 0;
  std::optional<double> value{};
};
std::vector<CalendarDay> calendarDays(const StoreReader& store, const SeriesRecord& series, const CalendarKey& key,
                                      UnixMs from, UnixMs to, const vision::CameraClock& clock);

/// These days and those of the pictures, ascending by time, without texts.
charts::CalendarDrawing calendarOf(const std::vector<CalendarDay>& days, const std::vector<DayPicture>& pictures,
                                   UnixMs from, UnixMs to, const vision::CameraClock& clock);

}  // namespace mpm::monitor
