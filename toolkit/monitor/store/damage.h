// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "monitor/store/sqlite.h"
#include "vision/time.h"

namespace mpm::monitor {

/// Whether a result code of SQLite says that the file itself is damaged, or no database: not that it is locked, may not
/// be read, or lies on a disk that is full or fails.
bool isDamage(int code);

/// Whether a result code of SQLite may have gone by itself at the next try: the file is locked, may not be read, lies
/// on a disk that is full or fails.
bool passesByItself(int code);

/// Whether the header of a file, damaged or not, names it a database of ours.
bool isOurs(const std::string& database);

/// Whether the file is shorter than its header says: a copy that ended early. False while a log beside it may hold the
/// rest.
bool isCutOff(const std::string& database);

/// Renames a damaged database, with the log beside it, to "NAME.damaged-2026-11-03T17-04-05Z", where nothing is
/// replaced; sqlite3's `.recover` reads it there. Its connections in this process must be closed. Returns the new name.
/// Throws std::filesystem::filesystem_error.
std::string setAside(const std::string& database, UnixMs now);

}  // namespace mpm::monitor
