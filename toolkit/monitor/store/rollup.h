// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "monitor/statistics/day_night.h"
#include "monitor/store/bucket.h"
#include "vision/camera_clock.h"
#include "vision/time.h"

namespace mpm::monitor {

/// Sums of samples by day, by night, and of those that nobody judged.
struct DayNightSums {
  std::array<Bucket, 3> sides{};  ///< by Side
  const Bucket& of(Side side) const { return sides[static_cast<std::size_t>(side)]; }
  Bucket& of(Side side) { return sides[static_cast<std::size_t>(side)]; }
  Bucket all() const;
  Spread spread(const std::string& quantity) const;  ///< of all sides; by its key
  Spread area(int label) const;                      ///< of a class, percent
  std::int64_t samples() const { return sides[0].samples + sides[1].samples + sides[2].samples; }
};

/// The sums of a series in a stretch of time, by the names of regions; "": the whole picture. Regions of one name,
/// which differ in their dates, are one.
using SumsOfRegions = std::map<std::string, DayNightSums>;

struct RollupQuery {
  std::int64_t series = 0;  ///< SeriesRecord::id
  UnixMs from = 0, to = 0;  ///< [from, to)
  /// Of the rows, ms; 0: one row of all. Up to an hour they begin at whole multiples since 1970; wider ones where
  /// `clock` shows a multiple, so that days are days of the camera, which have 23 to 25 hours.
  std::int64_t width = 0;
  vision::CameraClock clock{};  ///< of the camera; it changes where rows begin, and no sum of a row of all
  bool regions = false;         ///< with those of the regions, not only of the whole picture
};

struct RollupRow {
  UnixMs start = 0, end = 0;  ///< [start, end)
  SumsOfRegions regions{};
};

}  // namespace mpm::monitor
