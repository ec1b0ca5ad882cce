// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vision/time.h"

namespace mpm::charts {

/// A quantity that a chart shows.
struct SeriesKey {
  std::string quantity{};    ///< key of a monitor::Quantity; empty: the area of `class_name`
  std::string class_name{};  ///< its share of the pixels is drawn, percent; models differ in its number
  std::string region{};      ///< name; empty: the whole picture

  friend bool operator==(const SeriesKey&, const SeriesKey&) = default;
};

struct Spread {
  std::int64_t samples = 0;  ///< 0: the quantity did not exist then
  double mean = 0, min = 0, max = 0;
};

struct ChartBucket {
  UnixMs start = 0;
  std::int64_t samples = 0;
  double night = 0;              ///< share of the samples taken by night, of those that know; 0 when none does
  bool gap_before = false;       ///< nothing was recorded between this bucket and the one before: do not join them
  std::vector<Spread> values{};  ///< one per quantity asked for. Areas count 0 in samples without the class
                                 ///< if their model knows it
};

struct Chart {
  UnixMs bucket_ms = 0;              ///< width of each bucket
  std::vector<ChartBucket> buckets;  ///< ascending; empty ones are left out
};

}  // namespace mpm::charts
