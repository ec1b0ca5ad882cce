// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
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

/// What began before this time is gone as after retention: samples, and the sums that are narrower than `width`.
inline void forget(const std::string& path, std::int64_t before_ms, std::int64_t width = 60'000) {
  const std::string time = std::to_string(before_ms), older = " < " + time;
  const auto kept = [&](std::int64_t of) { return of < width ? time : std::string("NULL"); };
  runSql(path, "DELETE FROM region_sample WHERE sample IN (SELECT id FROM sample WHERE time_ms" + older +
                   "); DELETE FROM sample WHERE time_ms" + older + "; DELETE FROM bucket WHERE start_ms" + older +
                   " AND width_ms < " + std::to_string(width) + "; UPDATE source SET kept_from = json_array(" + time +
                   ", " + kept(60'000) + ", " + kept(3'600'000) + ")");
}

}  // namespace mpm::monitor::test
