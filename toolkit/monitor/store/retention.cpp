// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/retention.h"

#include <set>

namespace mpm::monitor {
namespace {

constexpr int kBatch = 5000;

// But for archives, whose pictures were old from the first.
std::set<std::int64_t> watchedSources(const Database& database) {
  std::set<std::int64_t> ids;
  Statement rows = database.prepare("SELECT id FROM source WHERE NOT archive");
  while (rows.step()) ids.insert(rows.integer(0));
  return ids;
}

// The oldest kBatch samples before `time`, per source because the index is. True when there were any.
bool forgetSamples(Database& database, const std::set<std::int64_t>& sources, UnixMs time) {
  const std::string oldest = "(SELECT id FROM sample WHERE source = ? AND time_ms < ? ORDER BY time_ms LIMIT ?)";
  Statement remove_regions = database.prepare("DELETE FROM region_sample WHERE sample IN " + oldest);
  Statement remove_states = database.prepare("DELETE FROM state_sample WHERE sample IN " + oldest);
  Statement remove = database.prepare("DELETE FROM sample WHERE id IN " + oldest);
  int gone = 0;
  for (std::int64_t source : sources) {
    remove_regions.run(source, time, kBatch);
    remove_states.run(source, time, kBatch);
    remove.run(source, time, kBatch);
    gone += sqlite3_changes(database.handle());
  }
  return gone > 0;
}

bool forgetBuckets(Database& database, const std::set<std::int64_t>& sources, std::int64_t width, UnixMs before) {
  Statement remove = database.prepare(
      "DELETE FROM bucket WHERE source = ?1 AND width_ms = ?2 AND start_ms IN"
      " (SELECT start_ms FROM bucket WHERE source = ?1 AND width_ms = ?2 AND start_ms < ?3 ORDER BY start_ms LIMIT "
      "?4)");
  int gone = 0;
  for (std::int64_t source : sources) {
    remove.run(source, width, before, kBatch);
    gone += sqlite3_changes(database.handle());
  }
  return gone > 0;
}

bool forgetEvents(Database& database, const std::set<std::int64_t>& sources, UnixMs before) {
  Statement remove = database.prepare(
      "DELETE FROM event WHERE id IN (SELECT id FROM event WHERE source IS ? AND time_ms < ? ORDER BY time_ms LIMIT "
      "?)");
  remove.run(std::optional<std::int64_t>(), before, kBatch);
  int gone = sqlite3_changes(database.handle());
  for (std::int64_t source : sources) {
    remove.run(source, before, kBatch);
    gone += sqlite3_changes(database.handle());
  }
  return gone > 0;
}

bool forgetHistograms(Database& database, UnixMs before) {
  database
      .prepare(
          "WITH old AS (SELECT start_ms FROM hour_of_tokens WHERE start_ms < ?1 AND session IN"
          "  (SELECT session.id FROM session JOIN source ON source.id = session.source WHERE NOT archive)"
          "  ORDER BY start_ms LIMIT ?2)"
          " DELETE FROM hour_of_tokens WHERE start_ms <= (SELECT max(start_ms) FROM old) AND session IN"
          "  (SELECT session.id FROM session JOIN source ON source.id = session.source WHERE NOT archive)")
      .run(before, kBatch);
  return sqlite3_changes(database.handle()) > 0;
}

// The first of the kinds that has something to give.
bool forgetDetails(Database& database, const std::set<std::int64_t>& sources, UnixMs samples, UnixMs minutes,
                   UnixMs events) {
  return forgetSamples(database, sources, samples) || forgetBuckets(database, sources, kMinuteMs, minutes) ||
         forgetEvents(database, sources, events);
}

bool forgetSums(Database& database, const std::set<std::int64_t>& sources, UnixMs before) {
  return forgetHistograms(database, before) || forgetBuckets(database, sources, kHourMs, before) ||
         forgetBuckets(database, sources, kDayMs, before);
}

// Bytes of the database that hold something: pages on the free list will be used again.
std::int64_t usedBytes(const Database& database) {
  return (database.integer("PRAGMA page_count") - database.integer("PRAGMA freelist_count")) *
         database.integer("PRAGMA page_size");
}

}  // namespace

Retention forgetSome(Database& database, UnixMs now, const RetentionLimits& limits) {
  Transaction transaction(database);
  bool gone = false;
  const std::set<std::int64_t> sources = watchedSources(database);
  if (limits.keep_days > 0 && limits.source != 0) {
    const UnixMs limit = now - static_cast<UnixMs>(limits.keep_days * kDayMs);
    std::set<std::int64_t> mine;
    if (sources.contains(limits.source)) mine.insert(limits.source);
    gone = forgetDetails(database, mine, limit, limit, limit);
  }
  bool above = false;
  if (!gone && limits.max_bytes > 0) {
    above = usedBytes(database) > limits.max_bytes;
    if (above) {
      gone = forgetDetails(database, sources, now - kHourMs, now - kDayMs, now - kDayMs) ||
             forgetSums(database, sources, now - 30 * kDayMs);
    }
  }
  transaction.commit();
  if (gone) database.execute("PRAGMA incremental_vacuum(2000)");
  return gone ? Retention::kMore : above ? Retention::kHopeless : Retention::kDone;
}

}  // namespace mpm::monitor
