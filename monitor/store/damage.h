// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "monitor/store/database_lock.h"
#include "monitor/store/sqlite.h"
#include "monitor/time.h"

namespace mpm::monitor {

/// Whether a result code of SQLite says that the file itself is damaged, or no database: not that it is locked, may not
/// be read, or lies on a disk that is full or fails.
bool isDamage(int code);

/// Whether a result code of SQLite says nothing of the file: it is locked, may not be read, lies on a disk that is full
/// or fails. What is neither this nor damage (a string too big, a column that is not there) may come of damage.
bool passesByItself(int code);

/// Reads all of a database. What is wrong with it; nullopt: SQLite and the text of our tables show nothing.
std::optional<std::string> findDamage(const std::string& database);

/// Whether a damaged file is known to be a database of ours: its header says so, or it has none any more, if anything,
/// and was noted.
bool wasOurs(const std::string& database, const DatabaseLock& claim);

/// Renames a damaged database, with the log beside it, to "NAME.damaged-2026-11-03T17-04-05Z", where nothing is
/// replaced; sqlite3's `.recover` reads it there. Its connections in this process must be closed. Returns the new name;
/// nullopt when another process was faster: `damaged` is no longer what lies there. Throws mpm::Error.
std::optional<std::string> setAside(const std::string& database, const FileIdentity& damaged, UnixMs now);

}  // namespace mpm::monitor
