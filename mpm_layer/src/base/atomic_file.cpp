// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>

#include "base/open_file.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int cause) {
  throw Error("cannot write '" + path + "': " + std::strerror(cause));
}

// True for a target that must not be replaced by a rename: a device, a FIFO, our own standard output.
bool staysAsItIs(const std::string& path) {
  struct stat file {};
  struct stat output {};
  if (::stat(path.c_str(), &file) != 0) return false;
  for (const int ours : {STDOUT_FILENO, STDERR_FILENO})
    if (::fstat(ours, &output) == 0 && file.st_dev == output.st_dev && file.st_ino == output.st_ino) return true;
  return !S_ISREG(file.st_mode);
}

// The target of a chain of links. It need not exist.
fs::path withoutLinks(fs::path path) {
  std::error_code none;
  for (int links = 0; links < 40 && fs::is_symlink(path, none); ++links)
    path = path.parent_path() / fs::read_symlink(path, none);
  return path;
}

// Creates an empty file in the folder of `target` that no other thread or process writes. Returns its path, or "" with
// errno set. A file left by a killed process with our process id stays.
std::string makeNewFile(const std::string& target, const std::string& ending, Readers readers) {
  static std::atomic<unsigned> count{0};
  const std::string stem = target + ".part" + std::to_string(::getpid()) + ".";
  for (int tries = 0; tries < 1000; ++tries) {
    const std::string path = stem + std::to_string(count++) + ending;
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readers == Readers::kGroup ? 0640 : 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return "";
    ::close(file);
    return path;
  }
  return "";
}

// Whom a file was kept from may not read the one that takes its place.
void keepPrivate(const std::string& target, const std::string& place) {
  struct stat before {
  }, now{};
  if (::stat(target.c_str(), &before) == 0 && ::stat(place.c_str(), &now) == 0)
    (void)::chmod(place.c_str(), (before.st_mode & now.st_mode & 0777) | S_IRUSR | S_IWUSR);
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, const std::string& ending, Readers readers)
    : path_(path), place_(path) {
  std::error_code none;
  if (path.empty()) fail(path, ENOENT);
  if (fs::is_directory(path, none)) fail(path, EISDIR);
  if (staysAsItIs(path)) return;
  const fs::path target = withoutLinks(path);
  if (fs::is_symlink(target, none)) fail(path, ELOOP);
  target_ = target.string();
  place_ = makeNewFile(target_, ending, readers);
  if (place_.empty()) fail(path_, errno);
  keepPrivate(target_, place_);
}

AtomicFile::~AtomicFile() {
  if (!target_.empty()) ::unlink(place_.c_str());
}

void AtomicFile::sync() {
  if (target_.empty()) return;
  const int file = ::open(place_.c_str(), O_WRONLY | O_CLOEXEC);
  const bool done =
      file >= 0 && (::fsync(file) == 0 || errno == EINVAL || errno == EROFS);  // not a file that can be synced
  const int cause = errno;
  if (file >= 0) ::close(file);
  if (!done) fail(path_, cause);
}

void AtomicFile::finish() {
  if (!target_.empty() && std::rename(place_.c_str(), target_.c_str()) != 0) fail(path_, errno);
  target_.clear();
}

void AtomicFile::write(std::string_view bytes) const {
  const int file = ::open(place_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) fail(path_, errno);
  const bool written = writeAll(file, bytes);
  const int cause = errno;
  if (::close(file) != 0 || !written) fail(path_, written ? errno : cause);
}

void writeFileAtomically(const std::string& path, std::string_view bytes, bool synced, Readers readers) {
  AtomicFile whole(path, "", readers);
  whole.write(bytes);
  if (synced) whole.sync();
  whole.finish();
}

void writeFilesAtomically(const std::vector<std::pair<std::string, std::string_view>>& files) {
  std::deque<AtomicFile> all;
  for (const auto& [path, bytes] : files) {
    all.emplace_back(path).write(bytes);
    all.back().sync();
  }
  for (AtomicFile& file : all) file.finish();
}

std::string readFile(const std::string& path, std::uintmax_t most) {
  try {
    const OpenFile file(path);
    if (file.size() > most) throw Error("it is larger than " + std::to_string(most >> 20) + " MiB");
    std::string bytes(file.size(), '\0');
    file.read(0, bytes.data(), bytes.size());
    return bytes;
  } catch (const Error& error) {
    throw Error("cannot read '" + path + "': " + error.what());
  }
}

Readers readersOf(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code unseen;
  return (fs::status(path, unseen).permissions() & fs::perms::others_read) == fs::perms::none ? Readers::kGroup
                                                                                              : Readers::kByUmask;
}

std::string fileKey(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) == 0) return std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(path, ignored), ignored).string();  // begins with '/'
}

bool sameFile(const std::string& a, const std::string& b) { return fileKey(a) == fileKey(b); }

}  // namespace mpm
