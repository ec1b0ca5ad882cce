// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/kept.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "monitor/store/schema.h"

namespace mpm::monitor {
namespace {

constexpr UnixMs kAll = std::numeric_limits<UnixMs>::min();  // of a level of which nothing was forgotten
// SQL: the sums of width ?2 of one series. Series by series, because the index of sums begins with the series.
constexpr const char* kSums = "series = one.id AND width_ms = ?2";

// The time of the first sample, or of the first sum of any series. nullopt: there is none.
std::optional<UnixMs> firstOf(const Database& database, std::int64_t source, std::size_t level) {
  Statement row = level == kSampleLevel
                      ? database.prepare("SELECT min(time_ms) FROM sample WHERE source = ?1")
                      : database.prepare(std::string("SELECT min((SELECT min(start_ms) FROM bucket WHERE ") + kSums +
                                         ")) FROM series one WHERE source = ?1");
  if (level == kSampleLevel)
    row.bind(source);
  else
    row.bind(source, kBucketWidths[level - 1]);
  row.step();
  return row.isNull(0) ? std::nullopt : std::optional(row.integer(0));
}

std::int64_t countOf(const Database& database, std::int64_t source, std::size_t level, UnixMs from, UnixMs to) {
  if (level == kSampleLevel)
    return database.integer("SELECT count(*) FROM sample WHERE source = ? AND time_ms >= ? AND time_ms < ?", source,
                            from, to);
  return database.integer(std::string("SELECT total((SELECT total(samples) FROM bucket WHERE ") + kSums +
                              " AND start_ms >= ?3 AND start_ms < ?4 AND region = 0)) FROM series one WHERE source = "
                              "?1",
                          source, kBucketWidths[level - 1], from, to);
}

}  // namespace

KeptFrom keptFrom(const Database& database, std::int64_t source) {
  KeptFrom from;
  from.fill(kAll);
  if (database.integer("SELECT archive FROM source WHERE id = ?", source) != 0) return from;  // keeps everything
  const KeptFrom merged = mergedFrom(database, source);
  for (std::size_t level = kLevels - 1; level-- > kSampleLevel;) {
    from[level] = std::max(from[level + 1], merged[level]);
    const auto coarser = firstOf(database, source, level + 1), mine = firstOf(database, source, level);
    if (!coarser) continue;
    const UnixMs end = *coarser + kBucketWidths[level];
    if (!mine || *mine >= end ||
        countOf(database, source, level, *coarser, end) != countOf(database, source, level + 1, *coarser, end))
      from[level] = std::max(from[level], mine.value_or(std::numeric_limits<UnixMs>::max()));
  }
  return from;
}

KeptFrom mergedFrom(const Database& database, std::int64_t source) {
  KeptFrom from;
  from.fill(kAll);
  if (std::ranges::count(columnsOf(database, "source"), "merged_from") == 0) return from;
  Statement levels = database.prepare(
      "SELECT level.key, level.value FROM source, json_each(merged_from) AS level"
      " WHERE source.id = ? AND level.value IS NOT NULL");
  levels.bind(source);
  while (levels.step())
    if (const std::int64_t level = levels.integer(0); level >= 0 && level < static_cast<std::int64_t>(kLevels))
      from[static_cast<std::size_t>(level)] = levels.integer(1);
  return from;
}

void noteForgotten(Database& merged, const Database& part, const std::string& source) {
  const auto idIn = [&](const Database& one) { return one.integer("SELECT id FROM source WHERE name = ?", source); };
  const std::int64_t of_part = idIn(part), whole = idIn(merged);
  KeptFrom from = keptFrom(part, of_part);
  if (std::ranges::count(from, kAll) == std::ssize(from)) return;
  UnixMs end = std::numeric_limits<UnixMs>::max();  // of the part
  for (const std::int64_t width : kBucketWidths)
    if (const std::int64_t last = part.integer(std::string("SELECT max((SELECT max(start_ms) FROM bucket WHERE ") +
                                                   kSums + ")) FROM series one WHERE source = ?1",
                                               of_part, width);
        last != 0)
      end = std::min(end, last + width);
  const KeptFrom before = mergedFrom(merged, whole);
  Json levels = Json::array();
  for (std::size_t level = kSampleLevel; level < kLevels; ++level) {
    const UnixMs kept = std::max(before[level], std::min(from[level], end));
    levels.push_back(kept == kAll ? Json() : Json(kept));
  }
  merged.run("UPDATE source SET merged_from = ? WHERE id = ?", levels.dump(), whole);
}

}  // namespace mpm::monitor
