// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/store/store.h"

namespace mpm::monitor {

/// Means over the samples in which a region was measured.
struct RegionMeans {
  std::string name;
  std::int64_t samples = 0;
  double gcc = 0, rcc = 0, exg = 0, brightness = 0;     ///< as in RegionSample
  std::optional<double> tokens{};                       ///< nullopt: of a model without tokens
  std::vector<std::pair<std::string, double>> areas{};  ///< of classes that occur, shares of its pixels, largest first
};

/// The regions of a source, by name, with samples in [from, to). Classes are those of the latest model.
std::vector<RegionMeans> regionMeans(const StoreReader& store, const SourceRecord& source, UnixMs from, UnixMs to);

}  // namespace mpm::monitor
