// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "monitor/store/sample.h"
#include "monitor/store/sqlite.h"
#include "monitor/store/store.h"

namespace mpm::monitor {

/// Opens for writing and makes the tables in an empty file. `create` false: a file that is not there is an error.
/// Throws mpm::Error naming the file; a SqliteError that is damage or passes by itself.
Database openForWriting(const std::string& path, bool create);

/// The state of a file that was converted when it was opened for reading.
struct ConvertedFrom {
  std::filesystem::file_time_type file{}, log{};  ///< when the database and its log were last written
  friend bool operator==(const ConvertedFrom&, const ConvertedFrom&) = default;
};
ConvertedFrom stateOf(const std::string& path);

/// Throws mpm::Error when it is not ours or has a later schema, EmptyDatabase when nothing is in it. Of a file with the
/// schema of version 0.1.0 a temporary copy is converted, and `converted` says so: the file changes only when a writer
/// opens it.
Database openForReading(const std::string& path, std::optional<ConvertedFrom>* converted = nullptr);

/// Whether the header of a file, damaged or not, names it a database of ours.
bool isOurs(const std::string& database);

/// Which database this is: 16 hexadecimal digits, the same in a copy; "": an older program wrote it.
std::string idOf(const Database& database);
/// Goes on under the id of a damaged database, where that can be read.
void takeIdOf(Database& database, const std::string& damaged);

/// Renames a damaged database, with the log beside it, to "NAME.damaged-2026-11-03T17-04-05Z", where nothing is
/// replaced; sqlite3's `.recover` reads it there. Its connections in this process must be closed. Returns the new name.
/// Throws std::filesystem::filesystem_error.
std::string setAside(const std::string& database, UnixMs now);

/// Removes a database with the files that SQLite and its writer keep beside it.
void removeDatabase(const std::string& path);

/// Makes the database `into` of all that these hold: sources of one name become one. For the parts of an archive
/// (--shard). Throws mpm::Error naming a file: `into` exists, one of `parts` is no database of ours, or two of them
/// hold the same picture.
void mergeDatabases(const std::vector<std::string>& parts, const std::string& into);

/// The tables that came with schema 5.
extern const char* const kSeriesTables;

/// Converts a database of schema 4 (version 0.1.0), in the transaction of the caller.
void convertToSeries(Database& database);

/// Makes the sums of a source anew from its samples. Sums of which samples were forgotten stay as they are.
void sumUp(Database& database, std::int64_t source);

/// As StoreWriter::judge(), in the transaction of the caller. False: `progress` said so, and the caller rolls back.
bool judge(Database& database, std::int64_t source, const NightRule& rule,
           const std::function<bool(double share)>& progress);

/// The series of a source that is measured like this, the newest of equal ones; nullopt: there is none yet.
std::optional<std::int64_t> findSeries(const Database& database, std::int64_t source, const Measuring& measuring);

enum class Retention {
  kDone,      ///< nothing to forget
  kMore,      ///< a batch was deleted; call again, after others had their turn
  kHopeless,  ///< above the limit with nothing left that may go
};

struct RetentionLimits {
  double keep_days = 0;        ///< of `source`, and of events that belong to none
  std::int64_t max_bytes = 0;  ///< of the file, whatever wrote it
  std::int64_t source = 0;     ///< 0: none, and keep_days does nothing
};

/// One batch of a few thousand rows, in its own transaction. Samples, minutes and events older than `keep_days`
/// go; hours and days stay, a year of them takes a few megabytes. Above `max_bytes` the oldest go: samples but the last
/// hour, minutes but the last day, events but the last day, then hours and days but the last month. 0: no such limit.
/// An archive, whose times are those of pictures, is never touched: it is old when it is stored.
Retention forgetSome(Database& database, UnixMs now, const RetentionLimits& limits);

/// "[660,491,377]": what the column `token_counts` holds.
std::string countsJson(const std::vector<double>& counts);
/// `attached`: the name of the database that has the table.
std::vector<std::string> columnsOf(const Database& database, const std::string& table,
                                   const std::string& attached = "main");
/// The column, or where it is not among them, as in an older file: NULL by its name.
std::string nullUnless(const std::vector<std::string>& there, const std::string& column);

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
