// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

namespace mpm::monitor::test {

/// Runs `sql` on a database file, on a connection of its own. The first columns of all rows, one after the other.
inline std::string runSql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  std::string result;
  const auto take = [](void* to, int, char** values, char**) {
    if (values[0]) static_cast<std::string*>(to)->append(values[0]);
    return 0;
  };
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), take, &result, &message), SQLITE_OK) << (message ? message : "");
  sqlite3_free(message);
  sqlite3_close(database);
  return result;
}

}  // namespace mpm::monitor::test
