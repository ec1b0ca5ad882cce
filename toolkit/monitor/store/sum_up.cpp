// SPDX-License-Identifier: Apache-2.0
// Sums that are made anew: from samples, or where these are forgotten from the sums that are left.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "monitor/statistics/state_count.h"
#include "monitor/store/bucket.h"
#include "monitor/store/corrected_times.h"
#include "monitor/store/kept.h"
#include "monitor/store/sample_rows.h"
#include "monitor/store/schema.h"
#include "monitor/store/sum_up.h"

namespace mpm::monitor {
namespace {

constexpr const char* kOfSource = "series IN (SELECT id FROM series WHERE source = ?1)";

// The first and the last time of a sample of the source; nullopt: none is kept.
std::optional<std::pair<UnixMs, UnixMs>> kept(const Database& database, std::int64_t source) {
  Statement row = database.prepare(
      "SELECT (SELECT min(time_ms) FROM sample WHERE source = ?1), (SELECT max(time_ms) FROM sample WHERE source = "
      "?1)");
  row.bind(source).step();
  if (row.isNull(0)) return std::nullopt;
  return std::pair(row.integer(0), row.integer(1));
}

using SeriesOfSession = std::map<std::int64_t, std::int64_t>;

SeriesOfSession seriesOfSessions(const Database& database, std::int64_t source) {
  SeriesOfSession series;
  Statement sessions = database.prepare("SELECT id, series FROM session WHERE source = ?");
  sessions.bind(source);
  while (sessions.step()) series.emplace(sessions.integer(0), sessions.integer(1));
  return series;
}

// Replaces the sums of the source that begin in [from, to) by those of its samples, day by day. `from` is the start of
// the first whole one by width.
void sumUpSamples(Database& database, std::int64_t source, const SeriesOfSession& series,
                  const std::map<std::int64_t, UnixMs>& from, UnixMs to) {
  for (const auto& [width, start] : from) {
    database.run("DELETE FROM bucket WHERE " + std::string(kOfSource) +
                     " AND width_ms = ?2 AND start_ms >= ?3 AND start_ms < ?4",
                 source, width, start, to);
  }
  UnixMs first = to;
  for (const auto& [width, start] : from) first = std::min(first, start);
  SampleRows rows(database, SampleRows::With::kRegions, "sample.source = ? AND time_ms >= ? AND time_ms < ?");
  rows.bind(source, first, to);
  BucketUpdate sums;
  UnixMs day = 0;
  for (Sample sample; rows.next(sample);) {
    if (const UnixMs its = bucketStart(sample.time, kDayMs); its != std::exchange(day, its)) sums.write(database);
    const auto of = series.find(sample.session);
    if (of == series.end()) continue;  // a session that another program removed
    sums.add(of->second, sample, [&](std::int64_t width, UnixMs start) { return start >= from.at(width); });
  }
  sums.write(database);
}

// The start of the first sum of each width of which all samples are kept.
std::map<std::int64_t, UnixMs> wholeSums(const Database& database, std::int64_t source) {
  const UnixMs kept = keptFrom(database, source)[kSampleLevel];
  std::map<std::int64_t, UnixMs> from;
  for (const std::int64_t width : kBucketWidths)
    from[width] = kept == kNothingForgotten ? kept : bucketStart(kept - 1, width) + width;
  return from;
}

// Judges the sums of one width of the source that begin before `to`, each whole by its mean brightness, and makes them
// anew. False: there are none.
bool judgeSums(Database& database, std::int64_t source, std::int64_t width, UnixMs to, DayNight& rule) {
  std::map<UnixMs, Spread> brightness;
  struct Sums {
    Bucket bucket;
    TokenCounts tokens;
  };
  std::map<std::pair<std::int64_t, std::pair<UnixMs, std::int64_t>>, Sums> sums;  // by series, start and region
  Statement rows = database.prepare("SELECT samples, sums, tokens, series, start_ms, region FROM bucket WHERE " +
                                    std::string(kOfSource) + " AND width_ms = ?2 AND start_ms < ?3");
  rows.bind(source, width, to);
  while (rows.step()) {
    const Bucket bucket(rows, 0);
    Sums& of = sums[{rows.integer(3), {rows.integer(4), rows.integer(5)}}];
    of.bucket.add(bucket);
    addTokenCounts(rows, 2, of.tokens);
    if (rows.integer(5) == 0) addTo(brightness[rows.integer(4)], bucket.spread("brightness"));
  }
  database.run("DELETE FROM bucket WHERE " + std::string(kOfSource) + " AND width_ms = ?2 AND start_ms < ?3", source,
               width, to);
  std::map<UnixMs, Side> sides;
  for (const auto& [start, mean] : brightness) sides[start] = sideOf(rule.night(start + width / 2, mean.mean));
  BucketUpdate judged;
  for (const auto& [key, of] : sums) {
    const auto& [start, region] = key.second;
    const auto side = sides.find(start);
    judged.add({key.first, width, start, region, side == sides.end() ? Side::kUnknown : side->second}, of.bucket,
               of.tokens);
  }
  judged.write(database);
  return !sums.empty();
}

// The side that the rule gives the whole day; nullopt: one part is day and another night.
std::optional<Side> sideOfDay(DayNight& rule, UnixMs day) {
  const Side side = sideOf(rule.night(day, 0));
  for (UnixMs time = day + kMinuteMs; time < day + kDayMs; time += kMinuteMs)
    if (sideOf(rule.night(time, 0)) != side) return std::nullopt;
  return side;
}

// Which side each part of a day is of, that was day, night or not judged. Of a day without its hours it is known how
// bright each of these parts is, and not when it was.
std::array<Side, 3> sidesOfDay(const NightRule& rule, UnixMs day, const std::array<Spread, 3>& brightness) {
  std::array sides = {Side::kDay, Side::kNight, Side::kUnknown};
  const bool by_brightness = std::holds_alternative<NightByBrightness>(rule);
  DayNight judge(rule);
  const auto whole = by_brightness ? std::nullopt : sideOfDay(judge, day);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (whole) sides[i] = *whole;
    if (!by_brightness || brightness[i].samples == 0) continue;
    DayNight of_part(rule);
    if (sides[i] != Side::kUnknown) of_part.goOn(sides[i] == Side::kNight);  // within the band it stays as it is
    sides[i] = sideOf(of_part.night(day, brightness[i].mean));
  }
  return sides;
}

// Days of which samples are forgotten have the sides of their hours, where these are all there.
void judgeDays(Database& database, std::int64_t source, UnixMs to, const NightRule& rule) {
  const auto samplesOf = [&](std::int64_t width, UnixMs day) {
    return database.integer("SELECT total(samples) FROM bucket WHERE " + std::string(kOfSource) +
                                " AND width_ms = ?2 AND start_ms >= ?3 AND start_ms < ?4 AND region = 0",
                            source, width, day, day + kDayMs);
  };
  std::vector<UnixMs> days;
  Statement starts = database.prepare("SELECT DISTINCT start_ms FROM bucket WHERE " + std::string(kOfSource) +
                                      " AND width_ms = ?2 AND start_ms < ?3");
  starts.bind(source, kDayMs, to);
  while (starts.step()) days.push_back(starts.integer(0));
  for (const UnixMs day : days) {
    const bool by_hours = samplesOf(kDayMs, day) == samplesOf(kHourMs, day);
    std::vector<std::pair<BucketKey, Bucket>> parts;
    std::array<Spread, 3> brightness;
    Statement rows =
        database.prepare("SELECT samples, sums, series, region, night FROM bucket WHERE " + std::string(kOfSource) +
                         " AND width_ms = ?2 AND start_ms >= ?3 AND start_ms < ?4");
    rows.bind(source, by_hours ? kHourMs : kDayMs, day, day + kDayMs);
    while (rows.step()) {
      const auto& [key, bucket] = parts.emplace_back(
          BucketKey{rows.integer(2), kDayMs, day, rows.integer(3), sideIn(rows, 4)}, Bucket(rows, 0));
      if (key.region == 0) addTo(brightness[static_cast<std::size_t>(key.side)], bucket.spread("brightness"));
    }
    rows.reset();
    database.run("DELETE FROM bucket WHERE " + std::string(kOfSource) + " AND width_ms = ?2 AND start_ms = ?3", source,
                 kDayMs, day);
    const auto sides =
        by_hours ? std::array{Side::kDay, Side::kNight, Side::kUnknown} : sidesOfDay(rule, day, brightness);
    BucketUpdate sums;
    for (auto& [key, bucket] : parts) {
      key.side = sides[static_cast<std::size_t>(key.side)];
      sums.add(key, bucket, {});
    }
    sums.write(database);
  }
}

// What depends on the sample before: of archives whether a picture is unchanged, and by `rule`, if there is one, night.
// `changed`: starts of days whose sums are made anew in any case. False: `progress` said so.
bool decideAnew(Database& database, std::int64_t source, const std::optional<NightRule>& rule,
                const std::function<bool(double share)>& progress, std::set<UnixMs> changed = {}) {
  const auto span = kept(database, source);
  const UnixMs end = span ? span->second + 1 : INT64_MAX;
  const auto from = wholeSums(database, source);
  DayNight day_night(rule.value_or(NightRule()));
  for (const std::int64_t width : {kHourMs, kMinuteMs}) {
    if (!rule) break;
    DayNight of_sums(*rule);
    if (judgeSums(database, source, width, from.at(width), of_sums))
      day_night = of_sums;  // a band of brightness goes on where the sums end
  }
  if (!span) {
    if (rule) judgeDays(database, source, from.at(kDayMs), *rule);
    return true;
  }
  const SeriesOfSession series = seriesOfSessions(database, source);
  const bool archive = database.integer("SELECT archive FROM source WHERE id = ?", source) != 0;
  std::map<std::int64_t, std::int64_t> pixels;  // of the picture before, by series; 0: not known

  // Day by day: the sums of days that stay as they were are not made anew.
  const double length = static_cast<double>(end - span->first);
  Statement look = database.prepare(
      "SELECT sample.id, time_ms, night, brightness, session, pixel_digest, unchanged FROM sample LEFT JOIN "
      "region_sample ON region_sample.sample ="
      " sample.id AND region = 0 WHERE sample.source = ? AND time_ms >= ? AND time_ms < ? ORDER BY time_ms, sample.id");
  Statement write = database.prepare("UPDATE sample SET night = ? WHERE id = ?");
  Statement write_same = database.prepare("UPDATE region_sample SET unchanged = ? WHERE sample = ? AND region = 0");
  Statement next = database.prepare("SELECT min(time_ms) FROM sample WHERE source = ? AND time_ms >= ?");
  for (UnixMs time = span->first; time < end;) {
    const UnixMs day = bucketStart(time, kDayMs), begin = time;
    std::vector<std::pair<std::int64_t, std::optional<bool>>> nights;
    std::vector<std::pair<std::int64_t, bool>> same;
    const auto flag = [&](int column) {
      return look.isNull(column) ? std::nullopt : std::optional(look.real(column) != 0);
    };
    look.bind(source, begin, day + kDayMs);
    while (look.step()) {
      const double brightness = look.isNull(3) ? 0 : look.real(3);
      const std::optional<bool> night = day_night.night(look.integer(1), brightness);
      if (rule && night != flag(2)) nights.emplace_back(look.integer(0), night);
      const auto of = series.find(look.integer(4));
      if (!archive || of == series.end()) continue;
      const std::int64_t own = look.isNull(5) ? 0 : look.integer(5);
      const std::int64_t before = std::exchange(pixels[of->second], own);
      if (own != 0 && before != 0 && flag(6) != (own == before)) same.emplace_back(look.integer(0), own == before);
    }
    look.reset();
    for (const auto& [id, night] : nights) write.run(night, id);
    for (const auto& [id, is_same] : same) write_same.run(is_same ? 1.0 : 0.0, id);
    if (!nights.empty() || !same.empty()) changed.insert(day);
    if (progress && !progress(0.5 * static_cast<double>(day - span->first) / length)) return false;
    next.bind(source, day + kDayMs).step();
    if (next.isNull(0)) break;
    time = next.integer(0);
    next.reset();
  }
  for (const UnixMs day : changed) {
    std::map<std::int64_t, UnixMs> starts = from;
    for (auto& [width, start] : starts) start = std::max(start, day);
    sumUpSamples(database, source, series, starts, day + kDayMs);
    if (progress && !progress(0.5 + 0.5 * static_cast<double>(day - span->first) / length)) return false;
  }
  if (rule) judgeDays(database, source, from.at(kDayMs), *rule);  // by their hours, which are judged now
  return true;
}

// The band of brightness by which all samples of the source were judged; nullopt: another rule, or several.
std::optional<NightRule> bandOf(const Database& database, std::int64_t source) {
  Statement rules = database.prepare("SELECT DISTINCT coalesce(night_rule, '') FROM session WHERE source = ?");
  rules.bind(source);
  std::vector<std::string> texts;
  while (rules.step()) texts.emplace_back(rules.text(0));
  const auto rule = texts.size() == 1 ? readNightRule(texts.front()) : std::nullopt;
  return rule && std::holds_alternative<NightByBrightness>(*rule) ? rule : std::nullopt;
}

// Adds when another state counts, by the samples that are kept. None does in a sample without a state: of an archive in
// one of the series, of a camera in any one. `where`: by `counted` of a sample, NULL if it has no state, `before`, that
// of the sample before, and `number`, which counts the samples that are kept.
void addStateChanges(Database& database, std::int64_t source, const std::string& where) {
  database.run(
      "INSERT OR IGNORE INTO state_change WITH head AS (SELECT DISTINCT series, name FROM state_sample JOIN sample ON"
      " sample.id = sample JOIN session ON session.id = sample.session WHERE sample.source = ?1 UNION SELECT series,"
      " name FROM state_change WHERE series IN (SELECT id FROM series WHERE source = ?1))"
      " SELECT series, name, time_ms, coalesce(counted, '') FROM (SELECT head.series, head.name, time_ms, one.counted,"
      " lag(one.counted) OVER turn AS before, row_number() OVER turn AS number"
      " FROM sample JOIN session ON session.id = sample.session JOIN source ON source.id = sample.source JOIN head"
      " LEFT JOIN state_sample one ON one.sample = sample.id AND one.name = head.name AND head.series = session.series"
      " WHERE sample.source = ?1 AND (head.series = session.series OR NOT source.archive)"
      " WINDOW turn AS (PARTITION BY head.series, head.name ORDER BY time_ms, sample.id)) AS looked WHERE " +
          where,
      source);
}

// A change to the state that counts already is none.
void dropRepeatedStates(Database& database, std::int64_t source) {
  const std::string mine(kOfSource);
  database.run(
      "DELETE FROM state_change WHERE " + mine +
          " AND (series, name, time_ms) NOT IN (SELECT series, name, time_ms FROM (SELECT *, lag(state) OVER (PARTITION"
          " BY series, name ORDER BY time_ms) AS before FROM state_change WHERE " +
          mine + ") WHERE state IS NOT before)",
      source);
}

// Which states count, and when they changed, by what was read.
void countStates(Database& database, std::int64_t source, int after) {
  {
    Statement read = database.prepare(
        "SELECT series, name, time_ms, sample.id, state, sure, look FROM state_sample JOIN sample ON sample.id ="
        " state_sample.sample JOIN session ON session.id = sample.session WHERE sample.source = ?"
        " ORDER BY series, name, time_ms, sample.id");
    read.bind(source);
    struct Row {
      std::int64_t sample;
      std::string name, counted;
    };
    std::vector<Row> rows;
    std::pair<std::int64_t, std::string> head;
    UnixMs before = 0;
    StateCount count;
    while (read.step()) {
      std::pair of(read.integer(0), std::string(read.text(1)));
      const bool first = rows.empty() || of != head;
      if (first) count = {};
      head = std::move(of);
      const UnixMs time = read.integer(2);
      const auto look = read.isNull(6) ? StateLook::kOwn : static_cast<StateLook>(read.integer(6));
      const bool sparse = first || look == StateLook::kSparse || time - before >= kMinuteMs;
      before = time;
      if (look != StateLook::kRepeated) (void)count.add(std::string(read.text(4)), read.integer(5) != 0, sparse, after);
      rows.push_back({read.integer(3), head.second, count.counted()});
    }
    Statement write = database.prepare("UPDATE state_sample SET counted = ? WHERE sample = ? AND name = ?");
    for (const Row& row : rows) write.run(row.counted, row.sample, row.name);
  }
  database.run("DELETE FROM state_change WHERE " + std::string(kOfSource), source);
  addStateChanges(database, source, "counted IS NOT before");
  dropRepeatedStates(database, source);
}

}  // namespace

void sumUp(Database& database, std::int64_t source) {
  const auto span = kept(database, source);
  if (span) {
    sumUpSamples(database, source, seriesOfSessions(database, source), wholeSums(database, source),
                 span->second + kDayMs);
  }
}

bool judge(Database& database, std::int64_t source, const NightRule& rule,
           const std::function<bool(double share)>& progress) {
  return decideAnew(database, source, rule, progress);
}

void settle(Database& database, std::int64_t source, std::optional<int> state_after) {
  const std::int64_t unsettled = database.integer("SELECT coalesce(unsettled, 0) FROM source WHERE id = ?", source);
  if (unsettled == 0) return;
  const std::set<UnixMs> days =
      (unsettled & kMeasuredAgain) != 0 ? takeCorrectedTimes(database, source) : std::set<UnixMs>();
  if (!days.empty() || (unsettled & kOlderCame) != 0) {
    (void)decideAnew(database, source, bandOf(database, source), {}, days);
    if (state_after) countStates(database, source, *state_after);
  }
  database.run("UPDATE source SET unsettled = NULL WHERE id = ?", source);
}

void joinStates(Database& database, std::int64_t source) {
  const bool archive = database.integer("SELECT archive FROM source WHERE id = ?", source) != 0;
  addStateChanges(database, source,
                  archive ? "(counted IS NULL) <> (before IS NULL)"
                          // The samples before the first one may be forgotten.
                          : "counted IS NOT before OR (number = 1 AND EXISTS(SELECT 1 FROM state_change WHERE series ="
                            " looked.series AND name = looked.name AND time_ms < looked.time_ms))");
  dropRepeatedStates(database, source);
}

}  // namespace mpm::monitor
