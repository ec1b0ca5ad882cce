// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mpm/error.hpp"

namespace mpm::monitor {

/// A failed call of SQLite, which names the file; `code` is its extended result code.
class SqliteError : public Error {
 public:
  SqliteError(int code, const std::string& message) : Error(message), code_(code) {}
  int code() const { return code_; }
  /// The file itself is damaged, or no database: not that it is locked, may not be read, or lies on a disk that is full
  /// or fails.
  bool isDamage() const;
  /// It may have gone at the next try: the file is locked, may not be read, lies on a disk that is full or fails.
  bool passesByItself() const;

 private:
  int code_;
};

/// Statements of a connection that nobody uses now. A page asks the same questions again and again, and to prepare one
/// takes longer than to answer it.
class IdleStatements {
 public:
  IdleStatements() = default;
  ~IdleStatements();
  IdleStatements(const IdleStatements&) = delete;
  IdleStatements& operator=(const IdleStatements&) = delete;

  sqlite3_stmt* take(std::string_view sql);  ///< null: there is none of this text
  void give(sqlite3_stmt* statement);

 private:
  std::multimap<std::string, sqlite3_stmt*, std::less<>> by_text_{};
};

/// A prepared statement: bind all parameters, then step row by row. Columns and parameters count from 0 and 1, as in
/// SQL.
class Statement {
 public:
  Statement() = default;
  /// Of those in `idle`, or a new one; goes there once it is not used any more.
  Statement(sqlite3* database, std::string_view sql, const std::shared_ptr<IdleStatements>& idle);

  /// Resets the statement and binds its parameters in order: integers, doubles, strings, Blob, nullopt.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    sqlite3_reset(statement_.get());
    int index = 0;
    (bindOne(++index, values), ...);
    return *this;
  }
  /// One more parameter, after bind() of those before it.
  template <typename Value>
  void bindAt(std::size_t index, const Value& value) {
    bindOne(static_cast<int>(index), value);
  }
  bool isPrepared() const { return statement_ != nullptr; }
  /// False at the end.
  bool step();
  /// bind() and one step, for statements without rows.
  template <typename... Values>
  void run(const Values&... values) {
    bind(values...);
    step();
    sqlite3_reset(statement_.get());
  }
  /// Ends the reading; a statement left in the middle would hold its lock.
  void reset() { sqlite3_reset(statement_.get()); }

  bool isNull(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  /// All columns in order, each as what it is read into: numbers, flags, texts (a view is valid until the next step).
  template <typename... Values>
  void read(Values&... values) const {
    int column = 0;
    (readOne(column++, values), ...);
  }
  /// Both are valid until the next step.
  std::string_view text(int column) const { return bytesAt(column, sqlite3_column_text(statement_.get(), column)); }
  std::string_view blob(int column) const { return bytesAt(column, sqlite3_column_blob(statement_.get(), column)); }
  /// A row that no program of ours wrote: throws SqliteError naming the file.
  [[noreturn]] void refuse(const std::string& what) const;

  struct Blob {
    std::string_view bytes;
  };

 private:
  std::string_view bytesAt(int column, const void* begin) const;
  void readOne(int column, std::int64_t& value) const { value = integer(column); }
  void readOne(int column, int& value) const { value = static_cast<int>(integer(column)); }
  void readOne(int column, bool& value) const { value = integer(column) != 0; }
  void readOne(int column, double& value) const { value = real(column); }
  void readOne(int column, std::string& value) const { value = text(column); }
  void readOne(int column, std::string_view& value) const { value = text(column); }
  template <typename T>
  void readOne(int column, std::optional<T>& value) const {
    value.reset();
    if (!isNull(column)) readOne(column, value.emplace());
  }
  template <std::integral Whole>
  void bindOne(int index, Whole value) {
    check(sqlite3_bind_int64(statement_.get(), index, static_cast<std::int64_t>(value)));
  }
  void bindOne(int index, double value) { check(sqlite3_bind_double(statement_.get(), index, value)); }
  void bindOne(int index, std::string_view value);
  void bindOne(int index, Blob value);
  template <typename T>
  void bindOne(int index, const std::optional<T>& value) {
    if (value)
      bindOne(index, *value);
    else
      check(sqlite3_bind_null(statement_.get(), index));
  }
  void check(int code) const;

  struct GiveBack {
    std::weak_ptr<IdleStatements> idle;
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, GiveBack> statement_;
};

/// Which file a path leads to, whatever it is called later; nullopt: none.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
std::optional<FileIdentity> identityOf(const std::string& path);

/// Takes the rights on a database and the files beside it from all but its owner and its group: 0640 at most. SQLite
/// gives them to the files that it makes later. Throws mpm::Error naming a file that stays readable for others.
void restrictToGroup(const std::string& database);

/// An open file, whatever becomes of its name.
class HeldFile {
 public:
  explicit HeldFile(int file) : file_(file) {}  ///< as open() gives it: below 0 where it failed
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  int descriptor() const { return file_; }
  bool deleted() const;  ///< it has no name any more: it was not moved

 private:
  int file_;
};

/// Held by the one writer of a database: a lock on the file DATABASE-lock beside it, which ends with the process,
/// however that ends. Other programs can write nevertheless. Not thread-safe.
class DatabaseLock {
 public:
  /// Throws mpm::Error when another writer, of this process or another, has it; SqliteError when the lock file cannot
  /// be made.
  explicit DatabaseLock(const std::string& database);

  /// The note that a writer left for the next one in the lock file; empty: nothing.
  static std::string noteOf(const std::string& database);
  void setNote(const std::string& text);

 private:
  std::optional<HeldFile> file_;
};

/// One connection. Not thread-safe.
class Database {
 public:
  enum class Mode { kCreate, kReadWrite, kReadOnly };

  /// Throws SqliteError naming the file. What another program put into it runs no code: views and triggers are errors,
  /// and so are values of over 64 MB.
  Database(const std::string& path, Mode mode);

  /// A copy that no file holds.
  Database copyInMemory() const;
  /// What is read later than this fails, with SQLITE_INTERRUPT: a file may hold more rows than anybody waits for.
  /// `steady`: of steadyNow().
  void setDeadline(std::int64_t steady);

  /// Statements without parameters and rows.
  void execute(const std::string& sql);
  Statement prepare(std::string_view sql) const {
    requireTime();
    return {handle_.get(), sql, idle_};
  }
  /// A statement without rows.
  template <typename... Values>
  void run(std::string_view sql, const Values&... values) {
    prepare(sql).run(values...);
  }
  /// The first column of the first row; 0 without a row.
  template <typename... Values>
  std::int64_t integer(std::string_view sql, const Values&... values) const {
    Statement row = prepare(sql);
    return row.bind(values...).step() ? row.integer(0) : 0;
  }
  std::int64_t lastId() const { return sqlite3_last_insert_rowid(handle_.get()); }
  /// Closing the last connection moves nothing out of the write-ahead log: for a file that is damaged.
  void keepLog() { sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }
  sqlite3* handle() const { return handle_.get(); }

 private:
  void requireTime() const;

  std::unique_ptr<std::int64_t> deadline_;  // where SQLite finds it; null: there is none
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, sqlite3_close_v2};
  std::shared_ptr<IdleStatements> idle_ = std::make_shared<IdleStatements>();  // ends before the connection
};

/// BEGIN IMMEDIATE; rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() { database_.execute("COMMIT"); }

 private:
  Database& database_;
};

}  // namespace mpm::monitor
