// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "monitor/store/store.h"

namespace mpm::monitor {

enum class ExportFormat {
  kCsv,       ///< one header line with units
  kPhenoCam,  ///< '#' header as PhenoCam's summary files, local standard date and time, day of year, solar elevation
  kJsonLines,
  kParquet,  ///< not by exportSamples(): made of kCsv
};

struct ExportOptions {
  ExportFormat format = ExportFormat::kCsv;
  std::int64_t source = 0;
  UnixMs from = 0, to = INT64_MAX;
};

/// {"pixels", "red", ..., "gcc", "rcc", "exg", "brightness_0_255", "tokens", "area_fraction": {class: share}}.
/// `classes`: names of the model.
Json regionJson(const RegionSample& region, const std::vector<std::string>& classes);

/// {name: {"state", "probability", "sure", "counted"}}.
Json statesJson(const Sample& sample);

/// Writes every sample in [from, to) as text, with units in the header, and returns their number. `path` is whole or as
/// it was. `go_on` is called now and then with the share that is done, 0..1; nullopt when it said false. Throws
/// mpm::Error.
std::optional<std::int64_t> exportSamples(const StoreReader& store, const ExportOptions& options,
                                          const std::string& path, const std::function<bool(double)>& go_on = {});

}  // namespace mpm::monitor
