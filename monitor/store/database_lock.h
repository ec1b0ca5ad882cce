// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::monitor {

/// What a writer claims in the file DATABASE-lock beside its database: the database as one of ours, which tells one
/// whose header is damaged from a file that never was a database; and one source, so that a monitor that is started
/// twice does not store every sample twice. The claim on a source ends with its process, however that ends. Where the
/// file cannot be made there is no lock, and other programs can write. Not thread-safe.
class DatabaseLock {
 public:
  /// Makes nothing yet.
  explicit DatabaseLock(std::string database);
  ~DatabaseLock();
  DatabaseLock(const DatabaseLock&) = delete;
  DatabaseLock& operator=(const DatabaseLock&) = delete;

  /// To be called while the database is open as ours, after every opening: the file may have been replaced, and lie on
  /// a disk that was put back.
  void noteOurs();
  /// Whether the file that is there now was noted, by whichever writer.
  bool notedAsOurs() const;

  /// False while another writer has `source`; the one claimed before is let go either way.
  bool take(const std::string& source);
  /// Claims again what was taken where NAME-lock is another file by now, for a lock lasts no longer than its file's
  /// name. False while another writer has it.
  bool keep();
  void release();

  /// Whether a writer, of this process or another, has claimed `source` in `database`.
  static bool isTaken(const std::string& database, const std::string& source);

 private:
  int open();  // the file that has the name now; -1: there is none to be had
  void close();

  std::string database_, source_;
  int file_ = -1;
  bool locked_ = false;  // `source_` in `file_`
};

}  // namespace mpm::monitor
