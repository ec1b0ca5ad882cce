// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/database_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

namespace mpm::monitor {
namespace {

// A database may be named by a link; SQLite puts its own files beside what that leads to as well.
std::string lockFileOf(const std::string& database) {
  std::error_code error;
  const auto file = std::filesystem::canonical(database, error);
  return error ? std::string() : file.string() + "-lock";
}

// The time of birth as well: a number of a file that was deleted is soon given to another.
std::string noteFor(const std::string& database) {
  struct statx info {};
  if (::statx(AT_FDCWD, database.c_str(), 0, STATX_INO | STATX_BTIME, &info) != 0) return {};
  return "MPM1 " + std::to_string(info.stx_ino) + ' ' + std::to_string(info.stx_btime.tv_sec) + '.' +
         std::to_string(info.stx_btime.tv_nsec);
}

std::string readNote(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// One byte far behind the note stands for each source. OFD locks belong to the open file: unlike those of fcntl's older
// kind they keep two writers of one process apart, and closing another descriptor of the file does not end them.
struct flock byteOf(const std::string& source, short type) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (unsigned char c : source) hash = (hash ^ c) * 1099511628211u;
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(4096 + (hash >> 2));
  lock.l_len = 1;
  return lock;
}

bool has(const std::string& path, int file) {
  struct stat named {
  }, open{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(file, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

}  // namespace

DatabaseLock::DatabaseLock(std::string database) : database_(std::move(database)) {}

DatabaseLock::~DatabaseLock() { close(); }

void DatabaseLock::close() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  locked_ = false;
}

int DatabaseLock::open() {
  const std::string path = lockFileOf(database_);
  if (file_ >= 0 && has(path, file_)) return file_;
  close();
  struct stat info {};
  if (path.empty() || ::stat(database_.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return -1;
  return file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, info.st_mode & 0666);
}

void DatabaseLock::noteOurs() {
  close();  // a file of a disk that was pulled out looks like the one of the disk that was put back
  const std::string note = noteFor(database_) + '\n';
  if (open() < 0 || readNote(lockFileOf(database_)) + '\n' == note) return;
  // Without it, on a disk that is full, a damaged header will be an error, as if the file were not ours.
  if (::pwrite(file_, note.data(), note.size(), 0) == static_cast<ssize_t>(note.size()))
    (void)!::ftruncate(file_, static_cast<off_t>(note.size()));
}

bool DatabaseLock::notedAsOurs() const {
  const std::string note = noteFor(database_);
  return !note.empty() && readNote(lockFileOf(database_)) == note;
}

bool DatabaseLock::take(const std::string& source) {
  const int file = open();
  if (locked_ && source == source_) return true;
  release();
  if (source.empty()) return true;
  if (file >= 0) {
    struct flock lock = byteOf(source, F_WRLCK);
    locked_ = ::fcntl(file, F_OFD_SETLK, &lock) == 0;
    if (!locked_ && (errno == EAGAIN || errno == EACCES)) return false;
  }
  source_ = source;
  return true;
}

bool DatabaseLock::keep() { return take(std::string(source_)); }

void DatabaseLock::release() {
  if (std::exchange(locked_, false)) {
    struct flock lock = byteOf(source_, F_UNLCK);
    ::fcntl(file_, F_OFD_SETLK, &lock);
  }
  source_.clear();
}

bool DatabaseLock::isTaken(const std::string& database, const std::string& source) {
  const int file = ::open(lockFileOf(database).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  struct flock lock = byteOf(source, F_WRLCK);
  const bool taken = ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(file);
  return taken;
}

}  // namespace mpm::monitor
