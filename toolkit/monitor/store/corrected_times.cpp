// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/corrected_times.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "monitor/statistics/day_night.h"
#include "monitor/store/bucket.h"
#include "monitor/store/sample.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

// A picture is known by its name and content. Frames of a video have neither, and are told apart by their order.
using PictureKey = std::uint64_t;

struct StoredPicture {
  std::int64_t id = 0, session = 0, series = 0;  // id: of the sample
  UnixMs time = 0;
  PictureKey key = 0;
  bool known = false;  // by its content
};

struct Move {
  std::int64_t sample = 0, session = 0;
  UnixMs from = 0, to = 0;
};

// All samples of the source, by time.
template <typename Visit>
void eachPicture(const Database& database, std::int64_t source, Visit visit) {
  Statement rows = database.prepare(
      "SELECT sample.id, session, (SELECT series FROM session WHERE id = sample.session), time_ms, picture,"
      " picture_digest FROM sample WHERE source = ? ORDER BY time_ms, sample.id");
  rows.bind(source);
  while (rows.step()) {
    const std::int64_t digest = rows.integer(5);
    visit(StoredPicture{.id = rows.integer(0),
                        .session = rows.integer(1),
                        .series = rows.integer(2),
                        .time = rows.integer(3),
                        .key = hash(hashBytes(rows.text(4)), digest),
                        .known = digest != 0});
  }
}

struct Moves {
  std::vector<Move> all{};
  bool whole = true;  // the latest series has all pictures
};

// `now`, `before`: the samples of one name and content in the latest series and in an earlier one, by time. Several may
// be right: names come again where a camera counts, and contents at night.
void match(const std::vector<StoredPicture>& now, const std::vector<StoredPicture>& before, Moves& moves) {
  std::vector<StoredPicture> wrong = before, right = now;
  if (before.front().known) {
    wrong.clear();
    right.clear();
    const auto by_time = &StoredPicture::time;
    std::ranges::set_difference(before, now, std::back_inserter(wrong), {}, by_time, by_time);
    std::ranges::set_difference(now, before, std::back_inserter(right), {}, by_time, by_time);
  } else if (before.size() != now.size()) {
    moves.whole = false;
    return;
  }
  moves.whole = moves.whole && wrong.size() <= right.size();
  for (std::size_t i = 0; i < std::min(wrong.size(), right.size()); ++i)
    if (wrong[i].time != right[i].time)
      moves.all.push_back({wrong[i].id, wrong[i].session, wrong[i].time, right[i].time});
}

Moves findMoves(const Database& database, std::int64_t source, std::int64_t latest) {
  std::unordered_set<PictureKey> other;  // that have another time
  {
    std::unordered_set<std::uint64_t> there;
    std::vector<std::pair<PictureKey, UnixMs>> earlier;
    eachPicture(database, source, [&](const StoredPicture& one) {
      if (one.series == latest)
        there.insert(hash(one.key, one.time));
      else
        earlier.emplace_back(one.key, one.time);
    });
    for (const auto& [key, time] : earlier)
      if (!there.contains(hash(key, time))) other.insert(key);
  }
  Moves moves;
  if (other.empty()) return moves;
  std::unordered_map<PictureKey, std::map<std::int64_t, std::vector<StoredPicture>>> found;  // by series
  eachPicture(database, source, [&](const StoredPicture& one) {
    if (other.contains(one.key)) found[one.key][one.series].push_back(one);
  });
  for (const auto& [key, by_series] : found) {
    const auto now = by_series.find(latest);
    for (const auto& [series, before] : by_series)
      if (series != latest) match(now == by_series.end() ? std::vector<StoredPicture>() : now->second, before, moves);
  }
  return moves;
}

// The rules of the sessions of the source that look at the time alone; hours by the clock of its latest session.
std::map<std::int64_t, DayNight> rulesByTime(const Database& database, std::int64_t source) {
  std::map<std::int64_t, DayNight> rules;
  Statement rows = database.prepare(
      "SELECT id, coalesce(night_rule, ''), (SELECT coalesce(time_zone, '') FROM session WHERE source = ?1 ORDER BY"
      " time_zone IS NULL, id DESC LIMIT 1) FROM session WHERE source = ?1");
  rows.bind(source);
  while (rows.step()) {
    auto rule = readNightRule(std::string(rows.text(1)));
    if (!rule || (!std::holds_alternative<NightBySun>(*rule) && !std::holds_alternative<NightByHours>(*rule))) continue;
    if (auto* hours = std::get_if<NightByHours>(&*rule)) {
      try {
        hours->clock = vision::CameraClock(std::string(rows.text(2)));
      } catch (const Error&) {  // this machine does not know that zone
        continue;
      }
    }
    rules.emplace(rows.integer(0), DayNight(*rule));
  }
  return rules;
}

}  // namespace

std::set<UnixMs> takeCorrectedTimes(Database& database, std::int64_t source) {
  std::set<UnixMs> days;
  const std::int64_t latest =
      database.integer("SELECT series FROM session WHERE source = ? ORDER BY id DESC LIMIT 1", source);
  const Moves moves = findMoves(database, source, latest);
  if (moves.all.empty()) return days;
  auto rules = rulesByTime(database, source);
  Statement move = database.prepare("UPDATE sample SET time_ms = ? WHERE id = ?");
  Statement judge = database.prepare("UPDATE sample SET night = ? WHERE id = ?");
  for (const Move& one : moves.all) {
    move.run(one.to, one.sample);
    if (const auto rule = rules.find(one.session); rule != rules.end())
      judge.run(rule->second.night(one.to, 0), one.sample);
    days.insert({bucketStart(one.from, kDayMs), bucketStart(one.to, kDayMs)});
  }
  database.run(  // which begin and end with their samples
      "UPDATE session SET started_ms = of.first, ended_ms = iif(ended_ms IS NULL, NULL, of.last) FROM (SELECT session,"
      " min(time_ms) AS first, max(time_ms) AS last FROM sample WHERE source = ?1 GROUP BY session) AS of"
      " WHERE of.session = session.id AND series <> ?2",
      source, latest);
  if (moves.whole) {
    for (const EventKind kind : {EventKind::kAlarm, EventKind::kAlarmEnded, EventKind::kView, EventKind::kQuality,
                                 EventKind::kState, EventKind::kDamaged}) {
      database.run(
          "DELETE FROM event WHERE source = ? AND kind = ? AND id <= (SELECT events_before FROM series WHERE id = ?)",
          source, static_cast<int>(kind), latest);
    }
  }
  return days;
}

}  // namespace mpm::monitor
