// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/sqlite.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "monitor/clocks.h"
#include "monitor/store/database_files.h"

namespace mpm::monitor {
namespace {

constexpr char kTooLong[] = "it takes too long to read";
constexpr std::size_t kMaxIdle = 100;  // more than there are questions of a page; each has some kilobytes

// The most memory that a reader keeps pages of the file in, KiB, where SQLite's own choice is 2000. The page asks again
// and again for how many samples there are: with eight cameras and a year it reads 10 MB of sums of days for that.
constexpr int kReadCache = 16'000;

SqliteError errorOf(sqlite3* database) {
  const int code = sqlite3_extended_errcode(database);
  const char* file = sqlite3_db_filename(database, "main");
  const bool damaged = (code & 0xff) == SQLITE_CORRUPT;
  if (code == SQLITE_INTERRUPT) return {code, "database '" + std::string(file ? file : "") + "': " + kTooLong};
  return {code, (damaged ? "'" : "database '") + std::string(file ? file : "") + (damaged ? "' is damaged: " : "': ") +
                    sqlite3_errmsg(database)};
}

// A database may be named by a link.
std::string lockFileOf(const std::string& database) {
  std::error_code unknown;
  return std::filesystem::weakly_canonical(database, unknown).string() + kLockEnding;
}

}  // namespace

bool SqliteError::isDamage() const { return (code_ & 0xff) == SQLITE_CORRUPT || (code_ & 0xff) == SQLITE_NOTADB; }

bool SqliteError::passesByItself() const {
  constexpr std::array kStay = {SQLITE_ERROR,    SQLITE_CORRUPT, SQLITE_TOOBIG, SQLITE_CONSTRAINT,
                                SQLITE_MISMATCH, SQLITE_MISUSE,  SQLITE_RANGE,  SQLITE_NOTADB};
  return std::ranges::find(kStay, code_ & 0xff) == kStay.end();
}

IdleStatements::~IdleStatements() {
  for (const auto& [text, statement] : by_text_) sqlite3_finalize(statement);
}

sqlite3_stmt* IdleStatements::take(std::string_view sql) {
  const auto found = by_text_.find(sql);
  if (found == by_text_.end()) return nullptr;
  return by_text_.extract(found).mapped();
}

void IdleStatements::give(sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  if (by_text_.size() < kMaxIdle)
    by_text_.emplace(sqlite3_sql(statement), statement);
  else
    sqlite3_finalize(statement);
}

Statement::Statement(sqlite3* database, std::string_view sql, const std::shared_ptr<IdleStatements>& idle) {
  sqlite3_stmt* statement = idle->take(sql);
  if (!statement && sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                       &statement, nullptr) != SQLITE_OK)
    throw errorOf(database);
  statement_ = {statement, GiveBack{idle}};
}

void Statement::GiveBack::operator()(sqlite3_stmt* statement) const {
  if (const auto to = idle.lock())
    to->give(statement);
  else
    sqlite3_finalize(statement);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const SqliteError error = errorOf(sqlite3_db_handle(statement_.get()));
  sqlite3_reset(statement_.get());
  throw error;
}

std::string_view Statement::bytesAt(int column, const void* begin) const {
  if (!begin) return {};
  return {static_cast<const char*>(begin), static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Statement::refuse(const std::string& what) const {
  throw SqliteError(
      SQLITE_CORRUPT,
      "'" + std::string(sqlite3_db_filename(sqlite3_db_handle(statement_.get()), "main")) + "' is damaged: " + what);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) throw errorOf(sqlite3_db_handle(statement_.get()));
}

void Statement::bindOne(int index, std::string_view value) {
  check(sqlite3_bind_text64(statement_.get(), index, value.data() ? value.data() : "", value.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
}
void Statement::bindOne(int index, Blob value) {
  check(sqlite3_bind_blob64(statement_.get(), index, value.bytes.data() ? value.bytes.data() : "", value.bytes.size(),
                            SQLITE_TRANSIENT));
}

std::optional<FileIdentity> identityOf(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino};
}

void restrictToGroup(const std::string& database) {
  constexpr mode_t kMost = 0640, kAll = 07777;
  std::error_code unknown;
  for (const std::string& path : databaseFiles(std::filesystem::weakly_canonical(database, unknown).string())) {
    struct stat facts {};
    const auto wide = [&] { return ::stat(path.c_str(), &facts) == 0 && (facts.st_mode & kAll & ~kMost) != 0; };
    if (!wide()) continue;
    const bool changed = ::chmod(path.c_str(), facts.st_mode & kMost) == 0;
    const int cause = errno;
    if (wide()) {
      throw Error("'" + path + "' may be read by other users" +
                  (changed ? ": its disk knows no rights" : std::string(": ") + std::strerror(cause)));
    }
  }
}

HeldFile::~HeldFile() {
  if (file_ >= 0) ::close(file_);
}

bool HeldFile::deleted() const {
  struct stat info {};
  return file_ >= 0 && ::fstat(file_, &info) == 0 && info.st_nlink == 0;
}

DatabaseLock::DatabaseLock(const std::string& database) {
  const std::string path = lockFileOf(database);
  file_.emplace(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  const int file = file_->descriptor();
  if (struct stat facts{}; file >= 0 && (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)))
    throw Error("'" + path + "' is no file that can be locked: remove it");
  if (file < 0) {
    throw SqliteError(errno == ENOSPC ? SQLITE_FULL : SQLITE_CANTOPEN,
                      "cannot make '" + path + "': " + std::strerror(errno));
  }
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return;
  const int problem = errno;
  if (problem != EWOULDBLOCK) throw Error("cannot lock '" + path + "': " + std::strerror(problem));
  throw Error("another program stores in '" + database + "': end it, or name another file");
}

std::string DatabaseLock::noteOf(const std::string& database) {
  try {
    return readFile(lockFileOf(database), 1 << 20);
  } catch (const Error&) {  // there is none
    return {};
  }
}

void DatabaseLock::setNote(const std::string& text) {
  // On a disk that is full the next writer finds none, and meets the damage itself.
  (void)!::ftruncate(file_->descriptor(), 0);
  (void)!::pwrite(file_->descriptor(), text.data(), text.size(), 0);
}

Database::Database(const std::string& path, Mode mode) {
  const int flags = mode == Mode::kReadOnly    ? SQLITE_OPEN_READONLY
                    : mode == Mode::kReadWrite ? SQLITE_OPEN_READWRITE
                                               : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK)
    throw SqliteError(code, "database '" + path + "': " + (handle ? sqlite3_errmsg(handle) : "out of memory"));
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 5000);
  for (const int code_in_file :
       {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
    sqlite3_db_config(handle, code_in_file, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64'000'000);
  if (mode == Mode::kReadOnly) execute("PRAGMA cache_size = -" + std::to_string(kReadCache));
}

void Database::setDeadline(std::int64_t steady) {
  constexpr int kSteps = 10000;  // of SQLite's machine: far less than a millisecond
  if (!deadline_) deadline_ = std::make_unique<std::int64_t>();
  *deadline_ = steady;
  const auto isLate = [](void* deadline) { return steadyNow() > *static_cast<std::int64_t*>(deadline) ? 1 : 0; };
  sqlite3_progress_handler(handle_.get(), kSteps, isLate, deadline_.get());
}

// Many short statements never come to their kSteps.
void Database::requireTime() const {
  if (deadline_ && steadyNow() > *deadline_) {
    throw SqliteError(SQLITE_INTERRUPT,
                      "database '" + std::string(sqlite3_db_filename(handle_.get(), "main")) + "': " + kTooLong);
  }
}

Database Database::copyInMemory() const {
  Database copy(":memory:", Mode::kCreate);
  sqlite3_backup* const backup = sqlite3_backup_init(copy.handle_.get(), "main", handle_.get(), "main");
  if (!backup) throw errorOf(copy.handle_.get());
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) throw errorOf(handle_.get());
  return copy;
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) throw errorOf(handle_.get());
}

Transaction::~Transaction() {
  // SQLite rolls back by itself after some errors (a full disk); a second ROLLBACK would be another error.
  if (!sqlite3_get_autocommit(database_.handle()))
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace mpm::monitor
