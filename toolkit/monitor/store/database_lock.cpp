// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/database_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "monitor/store/sqlite.h"

namespace mpm::monitor {
namespace {

// A database may be named by a link.
std::string lockFileOf(const std::string& database) {
  std::error_code unknown;
  return std::filesystem::weakly_canonical(database, unknown).string() + "-lock";
}

}  // namespace

DatabaseLock::DatabaseLock(const std::string& database) {
  const std::string path = lockFileOf(database);
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (struct stat facts{}; file_ >= 0 && (::fstat(file_, &facts) != 0 || !S_ISREG(facts.st_mode))) {
    ::close(file_);
    throw Error("'" + path + "' is no file that can be locked: remove it");
  }
  if (file_ < 0)
    throw SqliteError(errno == ENOSPC ? SQLITE_FULL : SQLITE_CANTOPEN,
                      "cannot make '" + path + "': " + std::strerror(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  const int problem = errno;
  ::close(file_);
  if (problem != EWOULDBLOCK) throw Error("cannot lock '" + path + "': " + std::strerror(problem));
  throw Error("another program stores in '" + database + "': end it, or name another file");
}

DatabaseLock::~DatabaseLock() { ::close(file_); }

std::string DatabaseLock::noteOf(const std::string& database) {
  try {
    return readFile(lockFileOf(database), 1 << 20);
  } catch (const Error&) {  // there is none
    return {};
  }
}

void DatabaseLock::setNote(const std::string& text) {
  // On a disk that is full the next writer finds none, and meets the damage itself.
  (void)!::ftruncate(file_, 0);
  (void)!::pwrite(file_, text.data(), text.size(), 0);
}

}  // namespace mpm::monitor
