// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/retention.h"

#include <string>
#include <vector>

namespace mpm::monitor {
namespace {

constexpr int kBatch = 5000;

// Sources by id; nullopt: events that belong to none.
using Sources = std::vector<std::optional<std::int64_t>>;

// Deletes the oldest kBatch rows before a time, source by source because the indices are. `rows`: a table and its
// condition, in which ?1 is the source, ?2 the time and ?3 the number. True when there were any.
bool forget(Database& database, const Sources& sources, UnixMs before, const std::string& rows) {
  Statement remove = database.prepare("DELETE FROM " + rows);
  int gone = 0;
  for (const auto& source : sources) {
    remove.run(source, before, kBatch);
    gone += sqlite3_changes(database.handle());
  }
  return gone > 0;
}

bool forgetSamples(Database& database, const Sources& sources, UnixMs before) {
  const std::string oldest = " IN (SELECT id FROM sample WHERE source = ?1 AND time_ms < ?2 ORDER BY time_ms LIMIT ?3)";
  for (const char* part : {"region_sample", "state_sample"})
    forget(database, sources, before, part + (" WHERE sample" + oldest));
  return forget(database, sources, before, "sample WHERE id" + oldest);
}

bool forgetBuckets(Database& database, const Sources& sources, std::int64_t width, UnixMs before) {
  const std::string mine =
      "series IN (SELECT id FROM series WHERE source = ?1) AND width_ms = " + std::to_string(width);
  return forget(database, sources, before,
                "bucket WHERE " + mine + " AND start_ms IN (SELECT start_ms FROM bucket WHERE " + mine +
                    " AND start_ms < ?2 ORDER BY start_ms LIMIT ?3)");
}

bool forgetEvents(Database& database, Sources sources, UnixMs before) {
  sources.insert(sources.end(), {std::nullopt, 0});  // of none, and of sources that gave no sample
  return forget(
      database, sources, before,
      "event WHERE id IN (SELECT id FROM event WHERE source IS ?1 AND time_ms < ?2 ORDER BY time_ms LIMIT ?3)");
}

// The first of the kinds that has something to give.
bool forgetDetails(Database& database, const Sources& sources, UnixMs samples, UnixMs minutes, UnixMs events) {
  return forgetSamples(database, sources, samples) || forgetBuckets(database, sources, kMinuteMs, minutes) ||
         forgetEvents(database, sources, events);
}

}  // namespace

Retention forgetSome(Database& database, UnixMs now, const RetentionLimits& limits) {
  Transaction transaction(database);
  bool gone = false;
  Sources sources;  // without archives: their pictures were old from the first
  Statement watched = database.prepare("SELECT id FROM source WHERE NOT archive");
  while (watched.step()) sources.emplace_back(watched.integer(0));
  if (limits.keep_days > 0 && limits.source != 0) {
    const UnixMs limit = now - static_cast<UnixMs>(limits.keep_days * kDayMs);
    Sources mine = sources;
    std::erase_if(mine, [&](const auto& source) { return source != limits.source; });
    gone = forgetDetails(database, mine, limit, limit, limit);
  }
  const auto pragma = [&](const char* name) { return database.integer(std::string("PRAGMA ") + name); };
  // Pages on the free list hold nothing: they will be used again.
  const bool above = !gone && limits.max_bytes > 0 &&
                     (pragma("page_count") - pragma("freelist_count")) * pragma("page_size") > limits.max_bytes;
  if (above) {
    const UnixMs month = now - 30 * kDayMs;
    gone = forgetDetails(database, sources, now - kHourMs, now - kDayMs, now - kDayMs) ||
           forgetBuckets(database, sources, kHourMs, month) || forgetBuckets(database, sources, kDayMs, month);
  }
  transaction.commit();
  if (gone) database.execute("PRAGMA incremental_vacuum(2000)");
  return gone ? Retention::kMore : above ? Retention::kHopeless : Retention::kDone;
}

}  // namespace mpm::monitor
