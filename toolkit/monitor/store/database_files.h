// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

namespace mpm::monitor {

/// Endings of the logs of SQLite. One that is not empty holds changes that are not in the database file yet.
inline constexpr std::array kLogEndings = {"-wal", "-journal"};
/// Ending of the file that a DatabaseLock holds.
inline constexpr const char* kLockEnding = "-lock";

/// The files that a database may consist of, in the order in which they may be renamed or removed: logs, shared memory,
/// the database itself, its lock. A power cut after the logs leaves an older state of the database, which opens; in the
/// other order SQLite would delete the log that has no database. They stand beside the file itself: resolve a link
/// first.
inline std::vector<std::string> databaseFiles(const std::string& database) {
  std::vector<std::string> files;
  for (const char* ending : kLogEndings) files.push_back(database + ending);
  files.insert(files.end(), {database + "-shm", database, database + kLockEnding});
  return files;
}

}  // namespace mpm::monitor
