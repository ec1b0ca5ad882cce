// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::monitor {

/// Held by the one writer of a database: a lock on the file DATABASE-lock beside it, which ends with the process,
/// however that ends. Other programs can write nevertheless. Not thread-safe.
class DatabaseLock {
 public:
  /// Throws mpm::Error when another writer, of this process or another, has it; SqliteError when the lock file cannot
  /// be made.
  explicit DatabaseLock(const std::string& database);
  ~DatabaseLock();
  DatabaseLock(const DatabaseLock&) = delete;
  DatabaseLock& operator=(const DatabaseLock&) = delete;

  /// The note that a writer left for the next one in the lock file; empty: nothing.
  static std::string noteOf(const std::string& database);
  void setNote(const std::string& text);

 private:
  int file_;
};

}  // namespace mpm::monitor
