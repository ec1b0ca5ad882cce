// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "monitor/store/sample.h"
#include "monitor/store/sqlite.h"
#include "monitor/store/store_reader.h"

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

/// Which database this is: 16 hexadecimal digits, the same in a copy; "": only version 0.1.0 wrote it.
std::string idOf(const Database& database);
/// Goes on with the id of a damaged database, or its own where that cannot be read, and with what must not be seen of
/// its sources. False: that cannot be read, and `unknown_privacy`, JSON, counts until something is said of a source.
bool takeOver(Database& database, const std::string& damaged, const std::string& unknown_privacy);

/// SQL: what must not be seen of a row of the table `source`, which the statement calls `source`, as JSON; '': nothing.
/// `attached`: the name of the database that has it.
std::string privacyOf(const Database& database, const std::string& source, const std::string& attached);

/// Renames a damaged database, with the log beside it, to "NAME.damaged-2026-11-03T17-04-05Z", where nothing is
/// replaced; sqlite3's `.recover` reads it there. Its connections in this process must be closed. Returns the new name.
/// Throws std::filesystem::filesystem_error.
std::string setAside(const std::string& database, UnixMs now);

/// Removes a database with the files that SQLite and its writer keep beside it.
void removeDatabase(const std::string& path);

/// The tables and views that version 0.1.0 does not have, or has with other columns.
extern const char* const kSeriesTables;

/// Converts a database of schema 4 (version 0.1.0), in the transaction of the caller.
void convertFromRelease(Database& database);

/// A condition of SQL: `a` and `b`, SessionInfo::heads as JSON or NULL, name no two heads of states by one name.
std::string sameHeads(const std::string& a, const std::string& b);

/// The series of a source that is measured like this, the latest of equal ones; nullopt: there is none yet. `heads`,
/// SessionInfo::heads as JSON: none counts that has another head of states of one of these names.
std::optional<std::int64_t> findSeries(const Database& database, std::int64_t source, const Measuring& measuring,
                                       const std::string& heads = "{}");

/// `attached`: the name of the database that has the table.
std::vector<std::string> columnsOf(const Database& database, const std::string& table,
                                   const std::string& attached = "main");
/// The column, or where it is not among them, as in an older file: NULL by its name.
std::string nullUnless(const std::vector<std::string>& there, const std::string& column);

}  // namespace mpm::monitor
