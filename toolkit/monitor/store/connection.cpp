// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/connection.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "monitor/store/sample_rows.h"
#include "monitor/store/sum_up.h"
#include "mpm/error.hpp"

namespace mpm::monitor {

StoreConnection::StoreConnection(const std::string& path, bool create, const OutboxOptions& outbox)
    : path_(path),
      outbox_(outbox),
      database_(openForWriting(path, create)),
      identity_(identityOf(path)),
      file_(::open(path.c_str(), O_PATH | O_CLOEXEC)) {
  insert_sample_ = database_.prepare(
      "INSERT INTO sample(session, source, time_ms, picture, night, token_counts, moved_right, moved_down, turned,"
      " zoomed, picture_digest, pixel_digest) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?14 WHERE NOT ?12 OR NOT EXISTS"
      " (SELECT 1 FROM sample WHERE source = ?2 AND time_ms = ?3 AND picture = ?4 AND"
      " (picture_digest = ?11 OR 0 IN (picture_digest, ?11)) AND"
      " (SELECT series FROM session WHERE id = sample.session) = ?13)");
  insert_region_ = prepareRegions(database_);
  insert_state_ = database_.prepare(
      "INSERT INTO state_sample(sample, name, state, probability, sure, counted, look) VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert_change_ = database_.prepare(  // another state than the one that counted until then
      "INSERT OR REPLACE INTO state_change SELECT ?1, ?2, ?3, ?4 WHERE ?4 IS NOT (SELECT state FROM state_change WHERE"
      " series = ?1 AND name = ?2 AND time_ms <= ?3 ORDER BY time_ms DESC LIMIT 1)");
  next_sample_ = database_.prepare(
      "SELECT sample.id, time_ms, series FROM sample JOIN session ON session.id = sample.session"
      " WHERE sample.source = ? AND time_ms > ? ORDER BY time_ms, sample.id LIMIT 1");
  forget_event_ = database_.prepare(
      "DELETE FROM event WHERE source = ?1 AND time_ms = ?2 AND kind = ?3 AND severity = ?4 AND message = ?5 AND"
      " (SELECT archive FROM source WHERE id = ?1)");
  insert_event_ =
      database_.prepare("INSERT INTO event(source, time_ms, kind, severity, message) VALUES (?, ?, ?, ?, ?)");
  insert_message_ =
      database_.prepare("INSERT OR REPLACE INTO outbox(channel, topic, latest, payload) VALUES (?, ?, ?, ?)");
  restrictIfHiding();
}

bool StoreConnection::takeOver(const std::string& damaged, const std::string& unknown_privacy) {
  Transaction transaction(database_);
  const bool known = monitor::takeOver(database_, damaged, unknown_privacy);
  transaction.commit();
  restrictIfHiding();
  return known;
}

WriteTarget StoreConnection::commit(const std::deque<Operation>& operations, WriteTarget target) {
  if (identityOf(path_) != identity_) {
    if (file_.deleted()) throw Error("'" + path_ + "' was deleted");
    throw SqliteError(SQLITE_READONLY_DBMOVED, "'" + path_ + "' was moved");
  }
  Transaction transaction(database_);
  BucketUpdate sums;
  told_.clear();
  if (!std::exchange(knows_target_, true) && !holds(target))
    throw Error("another file took the place of '" + path_ + "'");
  for (const Operation& operation : operations)
    std::visit([&](const auto& what) { write(what, target, sums); }, operation);
  sums.write(database_);
  dropped_.clear();
  for (const std::string& channel : told_) {
    database_.run(
        "DELETE FROM outbox WHERE channel = ?1 AND number <= (SELECT number FROM outbox WHERE channel = ?1"
        " ORDER BY number DESC LIMIT 1 OFFSET ?2)",
        channel, outbox_.max_waiting);
    if (sqlite3_changes(database_.handle()) > 0) dropped_ = channel;
  }
  transaction.commit();
  if (std::exchange(deleted_, false)) wipe();
  return target;
}

bool StoreConnection::judge(const Judge& how) {
  Transaction transaction(database_);
  const std::int64_t source = database_.integer("SELECT id FROM source WHERE name = ?", how.source);
  if (source == 0) return true;
  if (!monitor::judge(database_, source, how.rule, how.progress)) return false;
  database_.run("UPDATE session SET night_rule = ? WHERE source = ?", toText(how.rule), source);
  if (const auto* sun = std::get_if<NightBySun>(&how.rule)) {
    database_.run("UPDATE session SET latitude = ?, longitude = ? WHERE source = ?", sun->latitude, sun->longitude,
                  source);
  }
  transaction.commit();
  return true;
}

Retention StoreConnection::maintain(UnixMs now, const RetentionLimits& limits) {
  const Retention result = forgetSome(database_, now, limits);
  // PASSIVE waits for no reader; what it moves and syncs survives a power cut.
  database_.execute("PRAGMA wal_checkpoint(PASSIVE)");
  return result;
}

bool StoreConnection::holds(const WriteTarget& target) {
  return target.source == 0 || database_.integer(
                                   "SELECT 1 FROM source WHERE id = ?1 AND name = ?2 AND (?3 = 0 OR EXISTS"
                                   " (SELECT 1 FROM session WHERE id = ?3 AND source = ?1 AND started_ms = ?4))",
                                   target.source, target.name, target.session, target.started);
}

void StoreConnection::write(Sample sample, WriteTarget& target, BucketUpdate& sums) {
  if (target.session == 0) return;
  std::erase_if(sample.regions, [&](RegionSample& region) {  // of a source before
    if (region.region == 0) return false;
    const auto index = static_cast<std::size_t>(region.region) - 1;
    const bool known = target.regions_of == target.name && index < target.regions.size();
    if (known) region.region = target.regions[index];
    return !known;
  });
  const auto moved = [&](double ViewMotion::*part) {
    return sample.measured_offset ? std::optional((*sample.measured_offset).*part) : std::nullopt;
  };
  insert_sample_.run(target.session, target.source, sample.time, sample.picture, sample.night,
                     countsJson(sample.token_counts), moved(&ViewMotion::right), moved(&ViewMotion::down),
                     moved(&ViewMotion::turn), moved(&ViewMotion::zoom), sample.digest, target.archive, target.series,
                     sample.pixels != 0 ? std::optional(sample.pixels) : std::nullopt);
  if (sqlite3_changes(database_.handle()) == 0) return;  // a picture that is stored already
  target.last = std::max(target.last, sample.time);
  const std::int64_t id = database_.lastId();
  if (target.archive && target.newest && sample.time < *target.newest) mark(kOlderCame, target);
  if (std::exchange(target.marks_again, false)) mark(kMeasuredAgain, target);
  target.newest = std::max(target.newest.value_or(sample.time), sample.time);
  for (const RegionSample& region : sample.regions) insertRegion(insert_region_, id, region);
  std::set<std::pair<std::int64_t, std::string>> unread = target.heads;
  for (const StateSample& one : sample.states) {
    insert_state_.run(id, one.name, one.state, one.probability, one.sure, one.counted, static_cast<int>(one.look));
    insert_change_.run(target.series, one.name, sample.time, one.counted);
    unread.erase({target.series, one.name});
    target.heads.emplace(target.series, one.name);
  }
  for (const auto& [series, name] : unread) insert_change_.run(series, name, sample.time, "");
  if (!target.archive) mendStatesAfter(target, sample.time);
  sums.add(target.series, sample);
  if (outbox_.of_sample) put(outbox_.of_sample(sample, target.info));
}

void StoreConnection::mark(Unsettled what, const WriteTarget& target) {
  database_.run(
      "UPDATE source SET unsettled = coalesce(unsettled, 0) | ?2 WHERE id = ?1 AND coalesce(unsettled, 0) & ?2 = 0",
      target.source, static_cast<int>(what));
}

// Where the clock of a camera went back, a sample may come to lie before one that is stored, whose states may be a
// change now, or none any more.
void StoreConnection::mendStatesAfter(const WriteTarget& target, UnixMs time) {
  next_sample_.bind(target.source, time);
  if (!next_sample_.step()) return;
  const std::int64_t sample = next_sample_.integer(0), of = next_sample_.integer(2);
  const UnixMs next = next_sample_.integer(1);
  next_sample_.reset();
  for (const auto& [series, name] : target.heads) {
    database_.run("DELETE FROM state_change WHERE series = ? AND name = ? AND time_ms = ?", series, name, next);
    database_.run(
        "INSERT INTO state_change SELECT ?1, ?2, ?3, counted FROM (SELECT CASE WHEN ?4 THEN coalesce((SELECT counted"
        " FROM state_sample WHERE sample = ?5 AND name = ?2), '') ELSE '' END AS counted) WHERE counted IS NOT (SELECT"
        " state FROM state_change WHERE series = ?1 AND name = ?2 AND time_ms < ?3 ORDER BY time_ms DESC LIMIT 1)",
        series, name, next, series == of, sample);
  }
}

void StoreConnection::put(const std::vector<Message>& messages) {
  for (const Message& one : messages) {
    insert_message_.run(one.channel, one.topic, one.latest, one.payload);
    told_.insert(one.channel);
  }
}

void StoreConnection::write(const Settle& how, WriteTarget&, BucketUpdate& sums) {
  sums.write(database_);
  const std::int64_t source = database_.integer("SELECT id FROM source WHERE name = ?", how.source);
  if (source != 0) settle(database_, source, how.state_after);
}

void StoreConnection::write(const Message& message, WriteTarget&, BucketUpdate&) { put({message}); }

void StoreConnection::write(const ForgetSent& sent, WriteTarget&, BucketUpdate&) {
  database_.run("DELETE FROM outbox WHERE channel = ? AND number <= ?", sent.channel, sent.number);
}

// A camera that never gave a frame has no row, and the alarm about that goes on after a restart as any other one does.
void StoreConnection::write(const SetAlarms& set, WriteTarget& target, BucketUpdate&) {
  if (target.source == 0 && !target.name.empty() && !set.states.empty()) makeRow(target);
  Json states = Json::array();
  for (const AlarmState& one : set.states)
    states.push_back({{"rule", one.rule}, {"since_ms", one.since}, {"rings", one.rings}});
  database_.run("UPDATE source SET alarms = ? WHERE id = ?", toLine(states), target.source);
}

void StoreConnection::write(const Announce& one, WriteTarget&, BucketUpdate&) {
  database_.run(
      "UPDATE database SET announced = json_patch(CASE WHEN json_valid(announced) THEN announced ELSE '{}' END,"
      " json_object(?, nullif(?, '')))",
      one.topic, one.payload);
}

void StoreConnection::write(const Event& event, WriteTarget& target, BucketUpdate&) {
  // A source that has no row yet is number 0: what happens to it is shown with no other one.
  const auto source = target.name.empty() ? std::nullopt : std::optional(target.source);
  const int kind = static_cast<int>(event.kind), severity = static_cast<int>(event.severity);
  // What pictures of an archive show is found each time that they are measured, and stored once, as of the last time.
  forget_event_.run(source, event.time, kind, severity, event.message);
  const bool known = sqlite3_changes(database_.handle()) > 0;
  insert_event_.run(source, event.time, kind, severity, event.message);
  if (target.source == 0 && target.unnamed == 0) target.unnamed = database_.lastId();
  if (!known && outbox_.of_event) put(outbox_.of_event(event));
}

void StoreConnection::write(const ViewReference& view, WriteTarget& target, BucketUpdate&) {
  if (target.source == 0) return;
  const std::string_view edges(view.edges.ptr<char>(), view.edges.total() * view.edges.elemSize());
  const ViewMotion& motion = view.motion;
  database_.run("INSERT OR REPLACE INTO view_reference VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", target.source,
                view.size.width, view.size.height, view.pictures, view.learned, motion.right, motion.down, motion.turn,
                motion.zoom, view.edges.rows, Statement::Blob{edges});
}

void StoreConnection::write(const SetRegions& set, WriteTarget& target, BucketUpdate&) {
  target.regions_of = set.source;
  target.regions.clear();
  database_.run("UPDATE region SET current = 0 WHERE source = (SELECT id FROM source WHERE name = ?)", set.source);
  if (set.regions.empty()) return;
  const std::int64_t source = sourceId(set.source);
  for (const vision::Region& region : set.regions) {
    const std::string shape = toJson(region).dump();
    Statement find = database_.prepare("SELECT id FROM region WHERE source = ? AND shape = ?");
    if (find.bind(source, shape).step()) {
      target.regions.push_back(find.integer(0));
      database_.run("UPDATE region SET current = 1 WHERE id = ?", target.regions.back());
    } else {
      database_.run(
          "INSERT INTO region(source, name, ignored, shape, from_ms, to_ms, current) VALUES (?, ?, ?, ?, ?, ?, 1)",
          source, region.name, region.ignore, shape, region.from, region.to);
      target.regions.push_back(database_.lastId());
    }
  }
}

void StoreConnection::write(const SetPrivacy& set, WriteTarget&, BucketUpdate&) {
  const std::string other = " FROM source WHERE name = ?1 AND " + privacyOf(database_, "source", "main") + " <> ?2";
  if (database_.integer("SELECT coalesce((SELECT privacy FROM database), '') <> ?", set.json) > 0)
    (void)sourceId(set.source);
  if (!set.json.empty()) restrict();
  if (database_.integer("SELECT count(*)" + other, set.source, set.json) == 0) return;
  database_.execute("PRAGMA secure_delete = ON");  // zeros in place of what is deleted
  database_.run(
      "UPDATE view_reference SET pictures = 0, learned_ms = 0, rows = 0, edges = x'' WHERE source ="
      " (SELECT id" +
          other + ")",
      set.source, set.json);
  database_.execute("PRAGMA secure_delete = OFF");
  database_.run("UPDATE source SET privacy = ?2 WHERE name = ?1", set.source, set.json);
  deleted_ = true;
}

void StoreConnection::restrictIfHiding() {
  if (database_.integer("SELECT EXISTS(SELECT 1 FROM source WHERE privacy <> '') OR EXISTS(SELECT 1 FROM database"
                        " WHERE privacy <> '')") > 0)
    restrict();
}

void StoreConnection::restrict() {
  try {
    restrictToGroup(path_);
  } catch (const Error& error) {
    if (!std::exchange(told_readable_, true)) problem_ = error.what();
  }
}

void StoreConnection::wipe() {
  try {
    database_.execute("PRAGMA incremental_vacuum");
    database_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (const SqliteError&) {  // what was to be stored is; the next commit meets the same trouble
  }
}

}  // namespace mpm::monitor
