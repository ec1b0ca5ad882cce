// SPDX-License-Identifier: Apache-2.0
// The rows of sources, series and sessions.
#include <algorithm>
#include <utility>

#include "base/json_file.h"
#include "evaluation/confusion_matrix.h"
#include "evaluation/numbers.h"
#include "monitor/store/connection.h"
#include "vision/sources/source_spec.h"

namespace mpm::monitor {
namespace {

constexpr std::size_t kStepsNeeded = 3;  // between samples, to know their usual distance

// So long a machine may be off between two samples where nothing is wrong with its clock: a day, or twice the usual
// distance, because a timer may take one sample in two days. `times`: the latest first.
UnixMs longestPause(const std::vector<UnixMs>& times) {
  std::vector<UnixMs> steps;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i - 1] >= times[i]) steps.push_back(times[i - 1] - times[i]);
  if (steps.size() < kStepsNeeded) return kDayMs;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle);
  return std::max(kDayMs, 2 * *middle);
}

// Events that wait for the row of a source are of no other one.
void setName(const std::string& name, WriteTarget& target) {
  if (target.name != name) target.unnamed = 0;
  target.name = name;
}

}  // namespace

std::int64_t StoreConnection::sourceId(const std::string& source) {
  database_.run("INSERT OR IGNORE INTO source(name) VALUES (?)", source);
  return database_.integer("SELECT id FROM source WHERE name = ?", source);
}

// With the events that came before.
void StoreConnection::makeRow(WriteTarget& target) {
  target.source = sourceId(target.name);
  if (target.unnamed > 0) {
    database_.run("UPDATE event SET source = ? WHERE source = 0 AND id >= ?", target.source,
                  std::exchange(target.unnamed, 0));
  }
}

void StoreConnection::write(const BeginSession& begin, WriteTarget& target, BucketUpdate&) {
  end(begin.time, target);
  const SessionInfo& info = begin.info;
  setName(info.source, target);
  target.info = info;
  target.started = target.last = begin.time;
  target.archive = begin.archive;
  makeRow(target);
  if (begin.archive) database_.run("UPDATE source SET archive = 1 WHERE id = ?", target.source);
  own(target);
  endKilledSessions(target);
  target.series = seriesFor(target, info, begin.again);
  target.newest = begin.archive ? newestOf(target) : std::nullopt;
  target.marks_again =
      begin.archive && database_.integer("SELECT count(*) FROM series WHERE source = ?", target.source) > 1;
  target.heads = headsOf(target);
  database_.run(
      "INSERT INTO session(source, series, started_ms, every_s, latitude, longitude, time_zone, times, night_rule)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      target.source, target.series, begin.time, info.every_s, info.latitude, info.longitude,
      info.time_zone.empty() ? std::nullopt : std::optional(info.time_zone),
      info.times.empty() ? std::nullopt : std::optional(info.times), info.night_rule);
  target.session = database_.lastId();
}

// The series of an archive are of the same pictures: what is read for one of them says nothing about the others.
std::set<std::pair<std::int64_t, std::string>> StoreConnection::headsOf(const WriteTarget& target) {
  std::set<std::pair<std::int64_t, std::string>> heads;
  Statement known = database_.prepare(
      "SELECT DISTINCT series, name FROM state_change WHERE series IN (SELECT id FROM series WHERE id = ?1 OR"
      " (source = ?2 AND NOT ?3))");
  known.bind(target.series, target.source, target.archive);
  while (known.step()) heads.emplace(known.integer(0), known.text(1));
  return heads;
}

// Looks from the newest sample of the source on.
std::optional<UnixMs> StoreConnection::newestOf(const WriteTarget& target) {
  Statement newest = database_.prepare(
      "SELECT time_ms FROM sample WHERE source = ? AND session IN (SELECT id FROM session WHERE series = ?)"
      " ORDER BY time_ms DESC LIMIT 1");
  return newest.bind(target.source, target.series).step() ? std::optional(newest.integer(0)) : std::nullopt;
}

std::int64_t StoreConnection::seriesFor(const WriteTarget& target, const SessionInfo& info, bool again) {
  const std::int64_t source = target.source;
  const std::string validation =
      info.cross_validation ? evaluation::toJson(*info.cross_validation).dump() : std::string();
  const auto newest = findSeries(database_, source, info);
  database_.run(
      "UPDATE series SET settings = ?2 WHERE settings IS NULL AND (source, model_digest, schedule, precision, tokens,"
      " classes) = (SELECT source, model_digest, schedule, precision, tokens, classes FROM series WHERE id = ?1"
      " AND settings IS NULL)",
      newest, info.settings);
  const std::string heads = toLine(Json(info.heads));
  const auto found = target.archive ? newest : findSeries(database_, source, info, heads);
  if (found && !again) {
    database_.run(
        "UPDATE series SET model = ?, model_name = ?, cross_validation = ?, heads = json_patch(coalesce(heads, '{}'),"
        " ?) WHERE id = ?",
        info.model, info.model_name, validation, heads, *found);
    return *found;
  }
  database_.run(
      "INSERT INTO series(source, number, round, model, model_name, model_digest, cross_validation, schedule,"
      " precision, settings, tokens, classes, heads, events_before) SELECT ?1, (SELECT 1 + coalesce(max(number), 0)"
      " FROM series WHERE source = ?1),"
      " 1 + coalesce((SELECT round FROM series WHERE id = ?2), 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0)",
      source, newest, info.model, info.model_name, info.model_digest, validation, info.reduce, info.precision,
      info.settings, info.tokens, toLine(info.classes), heads, target.events_before);
  return database_.lastId();
}

void StoreConnection::end(UnixMs time, WriteTarget& target) {
  if (target.session == 0) return;
  database_.run("UPDATE session SET ended_ms = ? WHERE id = ?", target.archive ? target.last : time, target.session);
  target.session = 0;
}

void StoreConnection::write(const SetSource& set, WriteTarget& target, BucketUpdate&) {
  end(set.time, target);
  setName(set.name, target);
  target.source = database_.integer("SELECT id FROM source WHERE name = ?", set.name);
  target.events_before = database_.integer("SELECT coalesce(max(id), 0) FROM event");
  own(target);
}

void StoreConnection::own(WriteTarget& target) {
  if (target.source == 0 || std::exchange(target.had_one, true)) return;
  // By id: a clock that was wrong once left samples of a later time. The index knows no ids, so only the youngest are
  // looked through.
  Statement rows = database_.prepare(
      "SELECT time_ms FROM sample WHERE id > (SELECT max(id) FROM sample) - 100000 AND +source = ?"
      " ORDER BY id DESC LIMIT 600");
  rows.bind(target.source);
  std::vector<UnixMs> times;  // the latest first
  while (rows.step()) times.push_back(rows.integer(0));
  target.longest_pause = longestPause(times);
  // The clock may have gone wrong only just before a restart: then the sample before its jump counts, unless it has
  // gone on for an hour since (SettledClock).
  for (std::size_t i = 1; i < times.size() && times.front() - times[i - 1] < kHourMs; ++i)
    if (times[i - 1] - times[i] > target.longest_pause) target.last_before = times[i];
  if (target.last_before) return;
  Statement latest = database_.prepare("SELECT max(time_ms) FROM sample WHERE source = ?");
  latest.bind(target.source).step();
  if (!latest.isNull(0)) target.last_before = latest.integer(0);
}

void StoreConnection::endKilledSessions(const WriteTarget& target) {
  database_.run(
      "UPDATE session SET ended_ms = coalesce((SELECT time_ms FROM sample WHERE sample.source = session.source"
      " AND time_ms >= started_ms AND sample.session = session.id AND NOT ? ORDER BY time_ms DESC LIMIT 1), started_ms)"
      " WHERE source = ? AND ended_ms IS NULL",
      vision::isSceneName(target.name), target.source);
}

}  // namespace mpm::monitor
