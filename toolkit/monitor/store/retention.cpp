// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/retention.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/store/kept.h"
#include "vision/sources/source_spec.h"

namespace mpm::monitor {
namespace {

constexpr int kBatch = 5000;

struct AgingSource {
  std::optional<std::int64_t> id;  // nullopt: of events that belong to none
  UnixMs now;                      // by its clock
};
using Sources = std::vector<AgingSource>;

// A scene has a clock of its own, by which its samples were old as soon as they were taken: they age beside its newest.
UnixMs nowOf(const Database& database, std::int64_t id, std::string_view name, UnixMs now) {
  if (!vision::isSceneName(name)) return now;
  return std::min(now, database.integer("SELECT coalesce(max(time_ms), 0) FROM sample WHERE source = ?", id));
}

// Deletes the oldest kBatch rows of an age and more, source by source because the indices are. `rows`: a table and its
// condition, in which ?1 is the source, ?2 the time and ?3 the number. True when there were any.
bool forget(Database& database, const Sources& sources, std::int64_t age, const std::string& rows) {
  Statement remove = database.prepare("DELETE FROM " + rows);
  int gone = 0;
  for (const auto& [id, now] : sources) {
    remove.run(id, now - age, kBatch);
    gone += sqlite3_changes(database.handle());
  }
  return gone > 0;
}

// The last time of what forget() deletes of these rows ends what is known of them. `width`: of a row.
void noteWhatGoes(Database& database, const Sources& sources, std::size_t level, std::int64_t age,
                  const std::string& times, std::int64_t width) {
  Statement last = database.prepare("SELECT max(time) FROM (" + times + ")");
  for (const auto& [id, now] : sources) {
    if (last.bind(id, now - age, kBatch).step() && !last.isNull(0))
      noteForgotten(database, *id, level, last.integer(0) + width);
    last.reset();
  }
}

bool forgetSamples(Database& database, const Sources& sources, std::int64_t age) {
  const std::string first = " FROM sample WHERE source = ?1 AND time_ms < ?2 ORDER BY time_ms LIMIT ?3",
                    oldest = " IN (SELECT id" + first + ")";
  noteWhatGoes(database, sources, kSampleLevel, age, "SELECT time_ms AS time" + first, 1);
  for (const char* part : {"region_sample", "state_sample"})
    forget(database, sources, age, part + (" WHERE sample" + oldest));
  return forget(database, sources, age, "sample WHERE id" + oldest);
}

bool forgetBuckets(Database& database, const Sources& sources, std::size_t level, std::int64_t age) {
  const std::int64_t width = kBucketWidths[level - 1];
  const std::string mine = "bucket WHERE series IN (SELECT id FROM series WHERE source = ?1) AND width_ms = " +
                           std::to_string(width),
                    oldest = " FROM " + mine + " AND start_ms < ?2 ORDER BY start_ms LIMIT ?3";
  noteWhatGoes(database, sources, level, age, "SELECT start_ms AS time" + oldest, width);
  return forget(database, sources, age, mine + " AND start_ms IN (SELECT start_ms" + oldest + ")");
}

bool forgetEvents(Database& database, Sources sources, UnixMs now, std::int64_t age) {
  for (const std::optional<std::int64_t> none : {std::optional<std::int64_t>(), std::optional<std::int64_t>(0)})
    sources.push_back({none, now});  // of none, and of sources that gave no sample
  return forget(
      database, sources, age,
      "event WHERE id IN (SELECT id FROM event WHERE source IS ?1 AND time_ms < ?2 ORDER BY time_ms LIMIT ?3)");
}

// The first of the kinds that has something to give.
bool forgetDetails(Database& database, const Sources& sources, UnixMs now, std::int64_t samples, std::int64_t others) {
  return forgetSamples(database, sources, samples) || forgetBuckets(database, sources, kMinuteLevel, others) ||
         forgetEvents(database, sources, now, others);
}

}  // namespace

Retention forgetSome(Database& database, UnixMs now, const RetentionLimits& limits) {
  Transaction transaction(database);
  bool gone = false;
  Sources sources;  // without archives: their pictures were old from the first
  Statement watched = database.prepare("SELECT id, name FROM source WHERE NOT archive");
  while (watched.step())
    sources.push_back({watched.integer(0), nowOf(database, watched.integer(0), watched.text(1), now)});
  if (limits.keep_days > 0 && limits.source != 0) {
    const auto age = static_cast<std::int64_t>(limits.keep_days * kDayMs);
    Sources mine = sources;
    std::erase_if(mine, [&](const AgingSource& source) { return source.id != limits.source; });
    gone = forgetDetails(database, mine, now, age, age);
  }
  const auto pragma = [&](const char* name) { return database.integer(std::string("PRAGMA ") + name); };
  // Pages on the free list hold nothing: they will be used again.
  const bool above = !gone && limits.max_bytes > 0 &&
                     (pragma("page_count") - pragma("freelist_count")) * pragma("page_size") > limits.max_bytes;
  if (above) {
    constexpr std::int64_t kMonth = 30 * kDayMs;
    gone = forgetDetails(database, sources, now, kHourMs, kDayMs) ||
           forgetBuckets(database, sources, kHourLevel, kMonth) || forgetBuckets(database, sources, kDayLevel, kMonth);
  }
  transaction.commit();
  if (gone) database.execute("PRAGMA incremental_vacuum(2000)");
  return gone ? Retention::kMore : above ? Retention::kHopeless : Retention::kDone;
}

}  // namespace mpm::monitor
