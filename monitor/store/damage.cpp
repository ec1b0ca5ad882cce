// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/damage.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "monitor/store/schema.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;

// Held while files are renamed, so that of several writers that see the damage one renames, and none renames the new
// file of another. It ends with the process.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (folder_ < 0 || ::flock(folder_, LOCK_EX) != 0) {
      const int problem = errno;
      if (folder_ >= 0) ::close(folder_);
      throw Error("cannot lock the folder '" + folder.string() + "': " + std::strerror(problem));
    }
  }
  ~FolderLock() { ::close(folder_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_;
};

// The log first: a power cut in between leaves an older state of the database, which opens; the other way round
// SQLite would delete the log that has no database.
constexpr std::array kEndings = {"-wal", "-shm", ""};

}  // namespace

bool isDamage(int code) { return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB; }

bool passesByItself(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
    case SQLITE_PROTOCOL:
    case SQLITE_SCHEMA:
    case SQLITE_NOLFS:
      return true;
    default:
      return false;
  }
}

std::optional<std::string> findDamage(const std::string& database) {
  try {
    const Database file(database, Database::Mode::kReadOnly);  // which moves nothing out of the log
    std::string found = file.text("PRAGMA quick_check(1)");
    if (found == "ok") found = damageOfSchema(file);
    return found.empty() ? std::nullopt : std::optional(found);
  } catch (const SqliteError& error) {
    return passesByItself(error.code()) ? std::nullopt : std::optional<std::string>(error.what());
  }
}

bool wasOurs(const std::string& database, const DatabaseLock& claim) {
  constexpr std::size_t kApplicationIdAt = 68, kPage = 4096;  // https://www.sqlite.org/fileformat.html
  std::array<char, 100> header{};
  std::ifstream(database, std::ios::binary).read(header.data(), header.size());
  std::int64_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) id = id << 8 | static_cast<unsigned char>(header[kApplicationIdAt + i]);
  if (id == kApplicationId) return true;
  constexpr char kMagic[] = "SQLite format 3";
  if (std::equal(std::begin(kMagic), std::end(kMagic), header.begin())) return false;  // of another program
  std::error_code error;
  const auto size = fs::file_size(database, error);
  return !error && size % kPage == 0 && claim.notedAsOurs();
}

std::optional<std::string> setAside(const std::string& database, const FileIdentity& damaged, UnixMs now) {
  std::error_code error;
  const fs::path file = fs::canonical(database, error);  // not the link to it
  if (error) return std::nullopt;
  const FolderLock lock(file.parent_path());
  if (identityOf(file.string()) != damaged) return std::nullopt;
  const std::string first = file.string() + ".damaged-" + fileTime(now);
  std::string name = first;
  const auto anyIsThere = [&] {
    return std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return fs::exists(name + ending); });
  };
  for (int number = 2; anyIsThere(); ++number) name = first + "." + std::to_string(number);
  for (const char* ending : kEndings) {
    if (*ending != '\0' && !fs::exists(file.string() + ending)) continue;
    fs::rename(file.string() + ending, name + ending, error);
    if (error) throw Error("'" + file.string() + ending + "' cannot be set aside: " + error.message());
  }
  return name;
}

}  // namespace mpm::monitor
