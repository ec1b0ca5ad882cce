// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/kept.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/json_file.h"

namespace mpm::monitor {
namespace {

// How many samples there are of each stretch of the next level.
std::map<UnixMs, std::int64_t> countsOf(const Database& database, std::int64_t source, std::size_t level,
                                        std::int64_t width) {
  std::map<UnixMs, std::int64_t> counts;
  Statement rows =
      level == kSampleLevel
          ? database.prepare("SELECT time_ms, 1 FROM sample WHERE source = ?1")
          : database.prepare(
                "SELECT start_ms, samples FROM bucket WHERE series IN (SELECT id FROM series WHERE source = ?1)"
                " AND width_ms = ?2 AND region = 0");
  if (level == kSampleLevel)
    rows.bind(source);
  else
    rows.bind(source, kBucketWidths[level - 1]);
  while (rows.step()) counts[bucketStart(rows.integer(0), width)] += rows.integer(1);
  return counts;
}

// Where sums are forgotten, those of which they are made up are, too.
KeptFrom withFiner(KeptFrom from) {
  for (std::size_t level = kLevels - 1; level-- > kSampleLevel;) from[level] = std::max(from[level], from[level + 1]);
  return from;
}

// By the sums of more samples than the level below has.
KeptFrom foundFrom(const Database& database, std::int64_t source) {
  KeptFrom from;
  from.fill(kNothingForgotten);
  if (database.integer("SELECT archive FROM source WHERE id = ?", source) != 0) return from;  // keeps everything
  for (std::size_t level = kSampleLevel; level + 1 < kLevels; ++level) {
    const std::int64_t width = kBucketWidths[level];
    const auto mine = countsOf(database, source, level, width);
    for (const auto& [start, samples] : countsOf(database, source, level + 1, width)) {
      const auto found = mine.find(start);
      if (found == mine.end() || found->second < samples) from[level] = start + width;
    }
  }
  return withFiner(from);
}

void store(Database& database, std::int64_t source, const KeptFrom& from) {
  Json levels = Json::array();
  for (std::size_t level = kSampleLevel; level + 1 < kLevels; ++level)
    levels.push_back(from[level] == kNothingForgotten ? Json() : Json(from[level]));
  database.run("UPDATE source SET kept_from = ? WHERE id = ?", levels.dump(), source);
}

}  // namespace

KeptFrom keptFrom(const Database& database, std::int64_t source) {
  KeptFrom from;
  from.fill(kNothingForgotten);
  Statement levels = database.prepare(
      "SELECT level.key, level.value FROM source, json_each(kept_from) AS level WHERE source.id = ?"
      " AND json_valid(kept_from) AND level.type = 'integer'");
  levels.bind(source);
  while (levels.step()) {
    if (const std::int64_t level = levels.integer(0); level >= 0 && level + 1 < static_cast<std::int64_t>(kLevels))
      from[static_cast<std::size_t>(level)] = levels.integer(1);
  }
  return withFiner(from);
}

void noteForgotten(Database& database, std::int64_t source, std::size_t level, UnixMs end) {
  KeptFrom from = keptFrom(database, source);
  if (level + 1 >= kLevels || end <= from[level]) return;
  from[level] = end;
  store(database, source, from);
}

void noteForgotten(Database& merged, const Database& part, const std::string& source) {
  const auto idIn = [&](const Database& one) { return one.integer("SELECT id FROM source WHERE name = ?", source); };
  const std::int64_t of_part = idIn(part), whole = idIn(merged);
  const KeptFrom from = keptFrom(part, of_part);
  for (std::size_t level = kSampleLevel; level + 1 < kLevels; ++level)
    if (from[level] != kNothingForgotten) noteForgotten(merged, whole, level, from[level]);
}

void addKeptFrom(Database& database) {
  std::map<std::int64_t, KeptFrom> found;
  Statement sources = database.prepare("SELECT id FROM source");
  while (sources.step()) found[sources.integer(0)] = foundFrom(database, sources.integer(0));
  sources.reset();
  database.execute("ALTER TABLE source ADD COLUMN kept_from TEXT");
  for (const auto& [source, from] : found) store(database, source, from);
}

}  // namespace mpm::monitor
