// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/store/store_reader.h"

namespace mpm::monitor {

/// How much of a region, or of the whole picture, a class covered: means over samples, as shares of its pixels, 0..1.
struct ClassArea {
  std::string name;
  double all = 0;
  std::optional<double> day{}, night{};  ///< nullopt: no sample of that time
  // Of the whole picture, where the cross-validation of the model is known.
  std::optional<double> corrected{};  ///< `all` without the known errors of the model (evaluation::correctedShares)
  std::optional<double> iou{};        ///< of the class in the cross-validation
};

/// The classes that cover most of the picture, the largest first; none that covers nothing.
std::vector<ClassArea> largest(std::vector<ClassArea> areas, std::size_t count);

/// The Spread of the quantity `key`. `values` has one element for each of quantities(); `key` must be one of them (else
/// the behaviour is undefined).
const Spread& spreadOf(const std::vector<Spread>& values, std::string_view key);

/// Means of a region, or of the whole picture, over a span of time.
struct RegionMeans {
  std::string name;                              ///< empty: the whole picture
  std::vector<Spread> values{}, day{}, night{};  ///< by quantities(): of all samples, by day, by night
  /// The classes that occur, or of the whole picture those of the cross-validation of the model.
  std::vector<ClassArea> areas{};

  const Spread& value(std::string_view key) const { return spreadOf(values, key); }
  std::int64_t samples() const { return value("pixels").samples; }
  bool knowsNight() const;         ///< some samples were judged
  std::int64_t notJudged() const;  ///< samples that are neither of the day nor of the night
};

/// The whole picture, then the regions by name, with samples of this series in [from, to). If all pictures are flagged,
/// the whole picture has what is of flagged ones, too.
std::vector<RegionMeans> regionMeans(const StoreReader& store, const SeriesRecord& series, UnixMs from, UnixMs to);

/// Some samples of these means were judged: they have parts by day and by night.
bool knowsNight(const std::vector<RegionMeans>& means);

/// RegionMeans::areas of the whole picture alone; none without samples.
std::vector<ClassArea> meanClassAreas(const StoreReader& store, const SeriesRecord& series, UnixMs from, UnixMs to);

}  // namespace mpm::monitor
