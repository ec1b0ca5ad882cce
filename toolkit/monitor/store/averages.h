// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/store/store.h"

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

/// Means of a region, or of the whole picture, over a span of time.
struct RegionMeans {
  std::string name;                              ///< empty: the whole picture
  std::vector<Spread> values{}, day{}, night{};  ///< by quantities(): of all samples, by day, by night
  std::vector<ClassArea> areas{};                ///< as classAreas()

  const Spread& value(std::string_view key) const;
  std::int64_t samples() const { return value("pixels").samples; }
};

/// The whole picture, then the regions of a source by name, with samples in [from, to).
std::vector<RegionMeans> regionMeans(const StoreReader& store, const SourceRecord& source, UnixMs from, UnixMs to);

/// The classes of the latest model that occur in the whole picture in samples of [from, to), or in its
/// cross-validation. Samples from before another model do not count. Each hour counts as day or as night.
std::vector<ClassArea> classAreas(const StoreReader& store, std::int64_t source, UnixMs from, UnixMs to);

}  // namespace mpm::monitor
