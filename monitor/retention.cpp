// SPDX-License-Identifier: Apache-2.0
#include "monitor/retention.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace mpm::monitor {
namespace {

constexpr int kBatch = 5000;
constexpr UnixMs kNever = std::numeric_limits<UnixMs>::min();

std::vector<std::int64_t> sourceIds(const Database& database) {
  std::vector<std::int64_t> ids;
  Statement rows = database.prepare("SELECT id FROM source");
  while (rows.step()) ids.push_back(rows.integer(0));
  return ids;
}

// The oldest kBatch samples before `time`, per source because the index is. True when there were any.
bool forgetSamples(Database& database, UnixMs time) {
  Statement remove = database.prepare(
      "DELETE FROM sample WHERE id IN"
      " (SELECT id FROM sample WHERE source = ? AND time_ms < ? ORDER BY time_ms LIMIT ?)");
  int gone = 0;
  for (std::int64_t source : sourceIds(database)) {
    remove.run(source, time, kBatch);
    gone += sqlite3_changes(database.handle());
  }
  return gone > 0;
}

bool forgetBuckets(Database& database, std::int64_t width, UnixMs before) {
  Statement remove = database.prepare(
      "DELETE FROM bucket WHERE source = ?1 AND width_ms = ?2 AND start_ms IN"
      " (SELECT start_ms FROM bucket WHERE source = ?1 AND width_ms = ?2 AND start_ms < ?3 ORDER BY start_ms LIMIT "
      "?4)");
  int gone = 0;
  for (std::int64_t source : sourceIds(database)) {
    remove.run(source, width, before, kBatch);
    gone += sqlite3_changes(database.handle());
  }
  return gone > 0;
}

bool forgetEvents(Database& database, UnixMs before) {
  database.prepare("DELETE FROM event WHERE id IN (SELECT id FROM event WHERE time_ms < ? ORDER BY time_ms LIMIT ?)")
      .run(before, kBatch);
  return sqlite3_changes(database.handle()) > 0;
}

bool forgetHistograms(Database& database, UnixMs before) {
  database
      .prepare(
          "DELETE FROM hour_of_tokens WHERE start_ms < ?1 AND start_ms <= (SELECT max(start_ms) FROM"
          " (SELECT start_ms FROM hour_of_tokens WHERE start_ms < ?1 ORDER BY start_ms LIMIT ?2))")
      .run(before, kBatch);
  return sqlite3_changes(database.handle()) > 0;
}

// The first of the kinds that has something to give.
bool forgetOld(Database& database, UnixMs samples, UnixMs minutes, UnixMs events, UnixMs hours) {
  return forgetSamples(database, samples) || forgetBuckets(database, kMinuteMs, minutes) ||
         forgetEvents(database, events) ||
         (hours != kNever && (forgetHistograms(database, hours) || forgetBuckets(database, kHourMs, hours) ||
                              forgetBuckets(database, kDayMs, hours)));
}

}  // namespace

std::int64_t usedBytes(const Database& database) {
  return (database.integer("PRAGMA page_count") - database.integer("PRAGMA freelist_count")) *
         database.integer("PRAGMA page_size");
}

Retention forgetSome(Database& database, UnixMs now, double keep_days, std::int64_t max_bytes) {
  Transaction transaction(database);
  bool gone = false;
  if (keep_days > 0) {
    const UnixMs limit = now - static_cast<UnixMs>(keep_days * kDayMs);
    gone = forgetOld(database, limit, limit, limit, kNever);
  }
  bool above = false;
  if (!gone && max_bytes > 0) {
    above = usedBytes(database) > max_bytes;
    if (above) gone = forgetOld(database, now - kHourMs, now - kDayMs, now - kDayMs, now - 30 * kDayMs);
  }
  transaction.commit();
  if (gone) database.execute("PRAGMA incremental_vacuum(2000)");
  return gone ? Retention::kMore : above ? Retention::kHopeless : Retention::kDone;
}

}  // namespace mpm::monitor
