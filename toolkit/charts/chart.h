// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core/types.hpp>
#include <optional>
#include <string>
#include <vector>

#include "vision/camera_clock.h"

namespace mpm::charts {

/// A quantity that a chart shows.
struct SeriesKey {
  std::string quantity{};       ///< key of a monitor::Quantity; empty: the area of `class_name`
  std::string class_name{};     ///< its share of the pixels is drawn, percent; models differ in its number
  std::string region{};         ///< name; empty: the whole picture
  std::optional<bool> night{};  ///< only what was taken by night, or by day; nullopt: all

  friend bool operator==(const SeriesKey&, const SeriesKey&) = default;
};

/// In the unit of the quantity; of areas percent.
struct Spread {
  std::int64_t samples = 0;  ///< 0: the quantity did not exist then
  double mean = 0, min = 0, max = 0;
};

struct ChartBucket {
  UnixMs start = 0;
  UnixMs middle = 0;  ///< where its point stands: of the part of the bucket that was asked for and may have samples
  std::int64_t samples = 0;
  std::optional<double> night{};  ///< share of the samples taken by night, of those that know; nullopt: none does
  bool gap_before = false;        ///< nothing was recorded between this bucket and the one before: do not join them
  std::vector<Spread> values{};   ///< one per quantity asked for. Areas count 0 in samples without the class
                                  ///< if their model knows it
  std::vector<std::int64_t> series{};  ///< SeriesRecord::id of each series with samples in this bucket, latest first
};

struct Chart {
  UnixMs bucket_ms = 0;              ///< width of each bucket
  std::vector<ChartBucket> buckets;  ///< ascending; empty ones are left out
};

/// By which times are read; nullopt: that of this machine.
using OptionalClock = std::optional<vision::CameraClock>;

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
};

struct TimeTick {
  double time = 0;
  enum class Unit { kSecond, kMinute, kDay, kMonth, kYear } unit = Unit::kSecond;  ///< what its label ends with
  bool major = false;  ///< begins a day (a month, a year where there are too many days)
};

/// Ticks at round times of the clock, at least `spacing` px apart.
std::vector<TimeTick> timeTicks(const TimeAxis& axis, double spacing, const OptionalClock& clock);

/// As strftime() writes it.
std::string timeText(double time, const OptionalClock& clock, const char* format);

/// Values mapped to a horizontal band of the chart.
struct ValueAxis {
  double low = 0, high = 1;
  double top = 0, bottom = 100;  ///< px
  double y(double value) const { return bottom - (value - low) / (high - low) * (bottom - top); }
};

/// Round values in [low, high]: at most `max` + 1 of them, but two at least.
std::vector<double> valueTicks(double low, double high, int max);

/// A range that holds every value [first, last) of the buckets on show, with some space around; it begins at 0 where
/// the lowest value is near 0.
ValueAxis fittingAxis(const Chart& chart, std::size_t first, std::size_t last, const TimeAxis& time, double least_span);

/// One value of the buckets as it is drawn: lines that end at gaps (of one point: a dot), and for each line of two
/// points or more the polygon between minimum and maximum.
struct SeriesShape {
  std::vector<std::vector<cv::Point2d>> lines, bands;
};
/// `sparse`: a value that only some buckets have, so a line goes on over those without it.
SeriesShape seriesShape(const Chart& chart, std::size_t value, const TimeAxis& time, const ValueAxis& axis,
                        bool sparse = false);

/// A stretch of the axis with samples taken by night.
struct NightStretch {
  double left = 0, right = 0;  ///< px
  double share = 1;            ///< of the samples
};
std::vector<NightStretch> nightStretches(const Chart& chart, const TimeAxis& time);

/// The bucket nearest to a time; -1 when there is none.
int nearestBucket(const Chart& chart, double time);

}  // namespace mpm::charts
