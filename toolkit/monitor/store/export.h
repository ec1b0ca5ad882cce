// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "monitor/store/store.h"

namespace mpm::monitor {

enum class ExportFormat {
  kCsv,        ///< a column for each quantity of the whole picture, then of each region
  kJsonLines,  ///< toJson() of each sample
  kPhenoCam,   ///< not by exportSamples(): writePhenoCam()
  kParquet,    ///< not by exportSamples(): made of kCsv
};

struct ExportOptions {
  ExportFormat format = ExportFormat::kCsv;
  std::int64_t source = 0;
  UnixMs from = 0, to = INT64_MAX;
};

/// Writes every sample in [from, to) as text, and returns their number. `path` is whole or as
/// it was. `go_on` is called now and then with the share that is done, 0..1; nullopt when it said false. Throws
/// mpm::Error.
std::optional<std::int64_t> exportSamples(const StoreReader& store, const ExportOptions& options,
                                          const std::string& path, const std::function<bool(double)>& go_on = {});

}  // namespace mpm::monitor
