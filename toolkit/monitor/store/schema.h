// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "monitor/store/sample.h"
#include "monitor/store/sqlite.h"

namespace mpm::monitor {

/// "MPM1", in the header of the file.
inline constexpr std::int64_t kApplicationId = 0x4d504d31;

/// Opens for writing and makes the tables in an empty file. `create` false: a file that is not there is an error.
/// Throws mpm::Error naming the file; a SqliteError where isDamage() or passesByItself() holds.
Database openForWriting(const std::string& path, bool create);

/// Throws mpm::Error when it is not ours or has another schema, EmptyDatabase when nothing is in it.
Database openForReading(const std::string& path);

/// "{"0":0.25,"7":0.75}": what the column `areas` holds.
std::string areasJson(const std::vector<std::pair<int, double>>& areas);
/// "[660,491,377]": what the column `token_counts` holds.
std::string countsJson(const std::vector<double>& counts);
/// `attached`: the name of the database that has the table.
std::vector<std::string> columnsOf(const Database& database, const std::string& table,
                                   const std::string& attached = "main");
/// The column, or where it is not among them, as in an older file: NULL by its name.
std::string nullUnless(const std::vector<std::string>& there, const std::string& column);

/// Writes regions of samples: a row each, the whole picture too, with a column for each quantity.
class RegionRows {
 public:
  explicit RegionRows(const Database& database);
  void insert(std::int64_t sample, const RegionSample& region);

 private:
  Statement insert_;
};

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
