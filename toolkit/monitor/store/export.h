// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "monitor/store/store_reader.h"

namespace mpm::monitor {

enum class ExportFormat {
  kCsv,        ///< a column for each quantity of the whole picture, then of each region
  kJsonLines,  ///< toJson() of each sample
};

struct ExportOptions {
  ExportFormat format = ExportFormat::kCsv;
  std::int64_t source = 0;
  std::optional<std::int64_t> series{};  ///< SeriesRecord::id, of this source; nullopt: samples of each
  UnixMs from = 0, to = INT64_MAX;
  vision::CameraClock clock{};  ///< of the camera: of the column time_local of CSV
};

/// Writes every sample in [from, to) as text, and returns their number. `path` is whole or as
/// it was. `go_on` is called now and then with the share that is done, 0..1; nullopt when it said false. Throws
/// mpm::Error.
std::optional<std::int64_t> exportSamples(const StoreReader& store, const ExportOptions& options,
                                          const std::string& path, const std::function<bool(double)>& go_on = {});

/// A row for each: begin_utc, end_utc, begin_local, end_local (by the clock of the camera), seconds, cause.
std::string outagesCsv(const std::vector<Outage>& outages, const vision::CameraClock& clock);

struct PhenoCamOptions {
  std::int64_t source = 0;
  std::optional<std::int64_t> series{};  ///< SeriesRecord::id, of this source; nullopt: samples of each
  UnixMs from = 0, to = INT64_MAX;
  std::string site;                    ///< the files' names begin with it
  double latitude = 0, longitude = 0;  ///< degrees north and east
  UnixMs ahead_of_utc = 0;             ///< the camera's clock: standard time all year
};

/// Writes the files of PhenoCam for each region that is not ignored: SITE_REGION_roistats.csv (a row per picture),
/// SITE_REGION_1day.csv and SITE_REGION_3day.csv, with the columns, choices and rounding of vegindex 0.10. A region
/// whose name is TYPE_NUMBER, as DB_1000, keeps it; others become XX_0001, XX_0002, ... in the order of their names.
/// Columns that need what is not stored are NA. `folder` exists. Returns the paths; all are whole, or as they were.
/// Throws mpm::Error.
std::vector<std::string> writePhenoCam(const StoreReader& store, const PhenoCamOptions& options,
                                       const std::string& folder);

}  // namespace mpm::monitor
