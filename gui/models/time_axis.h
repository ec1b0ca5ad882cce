// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <vector>

namespace mpm::gui {

/// A stretch of time mapped to pixels. Times are seconds since 1970.
struct TimeAxis {
  static constexpr double kShortest = 10;                 ///< s
  static constexpr double kLongest = 20 * 366 * 86400.0;  ///< s

  double from = 0;
  double to = 3600;
  double left = 0;     ///< px
  double width = 100;  ///< px
  friend bool operator==(const TimeAxis&, const TimeAxis&) = default;

  double x(double time) const { return left + (time - from) / (to - from) * width; }
  double time(double x) const { return from + (x - left) / width * (to - from); }

  /// `factor` > 1 shows less, the time under `x` stays where it is.
  TimeAxis zoomedAt(double x, double factor) const;
  TimeAxis pannedBy(double pixels) const;

  struct Tick {
    double time;
    QString label;
    bool major;  ///< begins a day (a month, a year where days are too many)
  };
  /// At round local times, at least `spacing` px apart.
  std::vector<Tick> ticks(double spacing) const;
};

/// Round values that span [low, high], 2 to `most` + 1 of them.
std::vector<double> valueTicks(double low, double high, int most);

/// "12.5 s", "3 min 20 s", "2 h 05 min", "4 d 3 h".
QString spanText(double seconds);

}  // namespace mpm::gui
