// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "monitor/store/sample.h"
#include "monitor/store/sqlite.h"

namespace mpm::monitor {

/// "[660,491,377]": what the column `token_counts` holds.
std::string countsJson(const std::vector<double>& counts);
/// For insertRegion(): a row for each region, the whole picture too, with a column for each quantity.
Statement prepareRegions(const Database& database);
void insertRegion(Statement& prepared, std::int64_t sample, const RegionSample& region);

/// Reads samples, by time.
class SampleRows {
 public:
  enum class With { kWhole, kRegions, kStates };  ///< the whole picture; with its regions; and with their states

  /// `where`: a condition for rows of `sample`, with parameters.
  SampleRows(const Database& database, With with, const std::string& where);
  template <typename... Values>
  void bind(const Values&... values) {
    more_ = rows_.bind(values...).step();
  }
  bool next(Sample& sample);  ///< false at the end

 private:
  Statement rows_, states_;
  bool more_ = false;
};

}  // namespace mpm::monitor
