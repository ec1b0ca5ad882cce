// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/retention.h"

#include <string>
#include <vector>

#include "monitor/store/kept.h"

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

// The last time of what forget() deletes of these rows ends what is known of them. `width`: of a row.
void noteWhatGoes(Database& database, const Sources& sources, std::size_t level, UnixMs before,
                  const std::string& times, std::int64_t width) {
  Statement last = database.prepare("SELECT max(time) FROM (" + times + ")");
  for (const auto& source : sources) {
    if (last.bind(source, before, kBatch).step() && !last.isNull(0))
      noteForgotten(database, *source, level, last.integer(0) + width);
    last.reset();
  }
}

bool forgetSamples(Database& database, const Sources& sources, UnixMs before) {
  const std::string first = " FROM sample WHERE source = ?1 AND time_ms < ?2 ORDER BY time_ms LIMIT ?3",
                    oldest = " IN (SELECT id" + first + ")";
  noteWhatGoes(database, sources, kSampleLevel, before, "SELECT time_ms AS time" + first, 1);
  for (const char* part : {"region_sample", "state_sample"})
    forget(database, sources, before, part + (" WHERE sample" + oldest));
  return forget(database, sources, before, "sample WHERE id" + oldest);
}

bool forgetBuckets(Database& database, const Sources& sources, std::size_t level, UnixMs before) {
  const std::int64_t width = kBucketWidths[level - 1];
  const std::string mine = "bucket WHERE series IN (SELECT id FROM series WHERE source = ?1) AND width_ms = " +
                           std::to_string(width),
                    oldest = " FROM " + mine + " AND start_ms < ?2 ORDER BY start_ms LIMIT ?3";
  noteWhatGoes(database, sources, level, before, "SELECT start_ms AS time" + oldest, width);
  return forget(database, sources, before, mine + " AND start_ms IN (SELECT start_ms" + oldest + ")");
}

bool forgetEvents(Database& database, Sources sources, UnixMs before) {
  sources.insert(sources.end(), {std::nullopt, 0});  // of none, and of sources that gave no sample
  return forget(
      database, sources, before,
      "event WHERE id IN (SELECT id FROM event WHERE source IS ?1 AND time_ms < ?2 ORDER BY time_ms LIMIT ?3)");
}

// The first of the kinds that has something to give.
bool forgetDetails(Database& database, const Sources& sources, UnixMs samples, UnixMs minutes, UnixMs events) {
  return forgetSamples(database, sources, samples) || forgetBuckets(database, sources, kMinuteLevel, minutes) ||
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
           forgetBuckets(database, sources, kHourLevel, month) || forgetBuckets(database, sources, kDayLevel, month);
  }
  transaction.commit();
  if (gone) database.execute("PRAGMA incremental_vacuum(2000)");
  return gone ? Retention::kMore : above ? Retention::kHopeless : Retention::kDone;
}

}  // namespace mpm::monitor
