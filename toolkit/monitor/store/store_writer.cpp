// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_file.h"
#include "evaluation/confusion_matrix.h"
#include "evaluation/numbers.h"
#include "monitor/clocks.h"
#include "monitor/store/bucket.h"
#include "monitor/store/retention.h"
#include "monitor/store/sample_rows.h"
#include "monitor/store/schema.h"
#include "monitor/store/store.h"
#include "monitor/store/sum_up.h"
#include "mpm/error.hpp"
#include "vision/sources/source.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kStepsNeeded = 3;   // between samples, to know their usual distance
constexpr std::size_t kMaxOthers = 1000;  // events and sessions kept while nothing can be written

struct BeginSession {
  SessionInfo info;
  UnixMs time = 0;
  bool archive = false, again = false;
};
struct SetSource {
  std::string name;  // empty: none
  UnixMs time = 0;
};
struct SetRegions {
  std::string source;
  std::vector<vision::Region> regions;
};
struct SetPrivacy {
  std::string source, json;
};
struct Judge {
  std::string source;
  NightRule rule;
  std::function<bool(double share)> progress;
};
struct Settle {
  std::string source;
  int state_after = 1;
};
struct ForgetSent {
  std::string channel;
  std::int64_t number;
};
struct Announce {
  std::string topic, payload;
};
struct SetAlarms {
  std::vector<AlarmState> states;
};
using Operation = std::variant<Sample, Event, ViewReference, BeginSession, SetSource, SetRegions, SetPrivacy, Settle,
                               ForgetSent, Announce, SetAlarms>;

// Where samples and events go: known once the session's row is written.
struct Target {
  std::int64_t source = 0, session = 0, series = 0;  // 0: none
  std::string name;                                  // of the source
  SessionInfo info;                                  // of the session
  UnixMs started = 0;                                // the session
  bool archive = false;                              // its times are those of its samples
  UnixMs last = 0;                                   // of an archive: of its samples
  std::optional<UnixMs> newest;                      // of an archive: the newest sample of the series
  std::set<std::string> states{};                    // names of the states that the series has
  bool had_one = false;                              // this writer had a source
  std::int64_t unnamed = 0;                          // the first event that came before its source had a row; 0: none
  std::optional<UnixMs> last_before;                 // when samples of the first one came last, before this writer
  UnixMs longest_pause = kDayMs;                     // longestPause()
  std::string regions_of;                            // a source; its regions by index
  std::vector<std::int64_t> regions{};
};

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

// The writing itself, on one thread.
class Connection {
 public:
  Connection(const std::string& path, bool create, const OutboxOptions& outbox)
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
    insert_state_ = database_.prepare("INSERT INTO state_sample VALUES (?, ?, ?, ?, ?, ?)");
    insert_change_ = database_.prepare("INSERT OR REPLACE INTO state_change VALUES (?, ?, ?, ?)");
    insert_event_ =
        database_.prepare("INSERT INTO event(source, time_ms, kind, severity, message) VALUES (?, ?, ?, ?, ?)");
    insert_message_ =
        database_.prepare("INSERT OR REPLACE INTO outbox(channel, topic, latest, payload) VALUES (?, ?, ?, ?)");
    if (database_.integer("SELECT count(*) FROM source WHERE privacy <> ''") > 0) restrict();
  }

  std::string id() const { return idOf(database_); }
  void takeId(const std::string& damaged) { takeIdOf(database_, damaged); }
  // What is readable for others though it should not be, once; "": nothing.
  std::string takeProblem() { return std::exchange(problem_, {}); }

  // All of `operations` in one transaction, or none. Returns the target that holds afterwards.
  Target commit(const std::deque<Operation>& operations, Target target) {
    if (identityOf(path_) != identity_) {
      if (file_.deleted()) throw Error("'" + path_ + "' was deleted");
      throw SqliteError(SQLITE_READONLY_DBMOVED, "'" + path_ + "' was moved");
    }
    Transaction transaction(database_);
    BucketUpdate aggregates;
    told_.clear();
    if (!std::exchange(knows_target_, true) && !holds(target))
      throw Error("another file took the place of '" + path_ + "'");
    for (const Operation& operation : operations)
      std::visit([&](const auto& what) { write(what, target, aggregates); }, operation);
    aggregates.write(database_);
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
  // The last commit put messages into the outbox; and a channel of which the oldest had to go, or "".
  bool told() const { return !told_.empty(); }
  const std::string& dropped() const { return dropped_; }

  // In a transaction of its own. True also where nothing of the source is stored.
  bool judge(const Judge& how) {
    Transaction transaction(database_);
    const std::int64_t source = database_.integer("SELECT id FROM source WHERE name = ?", how.source);
    if (source == 0) return true;
    if (!monitor::judge(database_, source, how.rule, how.progress)) return false;
    database_.run("UPDATE session SET night_rule = ? WHERE source = ?", toText(how.rule), source);
    if (const auto* sun = std::get_if<NightBySun>(&how.rule))
      database_.run("UPDATE session SET latitude = ?, longitude = ? WHERE source = ?", sun->latitude, sun->longitude,
                    source);
    transaction.commit();
    return true;
  }

  Retention maintain(UnixMs now, const RetentionLimits& limits) {
    const Retention result = forgetSome(database_, now, limits);
    // PASSIVE waits for no reader; what it moves and syncs survives a power cut.
    database_.execute("PRAGMA wal_checkpoint(PASSIVE)");
    return result;
  }

  const std::optional<FileIdentity>& identity() const { return identity_; }
  void keepLog() { database_.keepLog(); }

 private:
  // After a full disk the connection is made anew, and the session goes on where its rows were committed.
  bool holds(const Target& target) {
    return target.source == 0 || database_.integer(
                                     "SELECT 1 FROM source WHERE id = ?1 AND name = ?2 AND (?3 = 0 OR EXISTS"
                                     " (SELECT 1 FROM session WHERE id = ?3 AND source = ?1 AND started_ms = ?4))",
                                     target.source, target.name, target.session, target.started);
  }

  void write(Sample sample, Target& target, BucketUpdate& aggregates) {
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
    if (target.archive && target.newest && sample.time < *target.newest)
      database_.run("UPDATE source SET unsettled = 1 WHERE id = ? AND unsettled IS NULL", target.source);
    target.newest = std::max(target.newest.value_or(sample.time), sample.time);
    for (const RegionSample& region : sample.regions) insertRegion(insert_region_, id, region);
    for (const StateSample& one : sample.states) {
      insert_state_.run(id, one.name, one.state, one.probability, one.sure, one.counted);
      // A series begins with the state that counts then, also where a camera goes on with it from another series.
      if (target.states.insert(one.name).second || one.changed)
        insert_change_.run(target.series, one.name, sample.time, one.counted);
    }
    aggregates.add(target.series, sample);
    if (outbox_.of_sample) put(outbox_.of_sample(sample, target.info));
  }

  void put(const std::vector<Message>& messages) {
    for (const Message& one : messages) {
      insert_message_.run(one.channel, one.topic, one.latest, one.payload);
      told_.insert(one.channel);
    }
  }

  void write(const Settle& how, Target&, BucketUpdate& aggregates) {
    aggregates.write(database_);
    const std::int64_t source = database_.integer("SELECT id FROM source WHERE name = ?", how.source);
    if (source != 0) settle(database_, source, how.state_after);
  }

  void write(const ForgetSent& sent, Target&, BucketUpdate&) {
    database_.run("DELETE FROM outbox WHERE channel = ? AND number <= ?", sent.channel, sent.number);
  }

  void write(const SetAlarms& set, Target& target, BucketUpdate&) {
    Json states = Json::array();
    for (const AlarmState& one : set.states)
      states.push_back({{"rule", one.rule}, {"since_ms", one.since}, {"rings", one.rings}});
    database_.run("UPDATE source SET alarms = ? WHERE id = ?", toLine(states), target.source);
  }

  void write(const Announce& one, Target&, BucketUpdate&) {
    database_.run(
        "UPDATE database SET announced = json_patch(CASE WHEN json_valid(announced) THEN announced ELSE '{}' END,"
        " json_object(?, nullif(?, '')))",
        one.topic, one.payload);
  }

  void write(const Event& event, Target& target, BucketUpdate&) {
    // A source that has no row yet is number 0: what happens to it is shown with no other one.
    insert_event_.run(target.name.empty() ? std::nullopt : std::optional(target.source), event.time,
                      static_cast<int>(event.kind), static_cast<int>(event.severity), event.message);
    if (target.source == 0 && target.unnamed == 0) target.unnamed = database_.lastId();
    if (outbox_.of_event) put(outbox_.of_event(event));
  }

  void write(const ViewReference& view, Target& target, BucketUpdate&) {
    if (target.source == 0) return;
    const std::string_view edges(view.edges.ptr<char>(), view.edges.total() * view.edges.elemSize());
    const ViewMotion& motion = view.motion;
    database_.run("INSERT OR REPLACE INTO view_reference VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", target.source,
                  view.size.width, view.size.height, view.pictures, view.learned, motion.right, motion.down,
                  motion.turn, motion.zoom, view.edges.rows, Statement::Blob{edges});
  }

  std::int64_t sourceId(const std::string& source) {
    database_.run("INSERT OR IGNORE INTO source(name) VALUES (?)", source);
    return database_.integer("SELECT id FROM source WHERE name = ?", source);
  }

  void write(const SetRegions& set, Target& target, BucketUpdate&) {
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

  void write(const SetPrivacy& set, Target&, BucketUpdate&) {
    const std::string other = " FROM source WHERE name = ?1 AND coalesce(privacy, '') <> ?2";
    if (!set.json.empty()) {
      (void)sourceId(set.source);
      restrict();
    }
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

  void restrict() {
    try {
      restrictToGroup(path_);
    } catch (const Error& error) {
      if (!std::exchange(told_readable_, true)) problem_ = error.what();
    }
  }

  // Earlier references are in pages that are free by now, and in the log. A reader that is in the way keeps the log as
  // it is until the next change.
  void wipe() {
    try {
      database_.execute("PRAGMA incremental_vacuum");
      database_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (const SqliteError&) {  // what was to be stored is; the next commit meets the same trouble
    }
  }

  void write(const BeginSession& begin, Target& target, BucketUpdate&) {
    end(begin.time, target);
    const SessionInfo& info = begin.info;
    setName(info.source, target);
    target.info = info;
    target.started = target.last = begin.time;
    target.archive = begin.archive;
    target.source = sourceId(info.source);
    if (target.unnamed > 0)
      database_.run("UPDATE event SET source = ? WHERE source = 0 AND id >= ?", target.source,
                    std::exchange(target.unnamed, 0));
    database_.run("UPDATE source SET archive = ? WHERE id = ?", begin.archive, target.source);
    own(target);
    endKilledSessions(target.source);
    target.series = seriesFor(target.source, info, begin.again, begin.archive);
    target.newest = begin.archive ? newestOf(target) : std::nullopt;
    target.states = statesOf(target.series);
    database_.run(
        "INSERT INTO session(source, series, started_ms, every_s, latitude, longitude, time_zone, times, night_rule)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        target.source, target.series, begin.time, info.every_s, info.latitude, info.longitude,
        info.time_zone.empty() ? std::nullopt : std::optional(info.time_zone),
        info.times.empty() ? std::nullopt : std::optional(info.times), info.night_rule);
    target.session = database_.lastId();
  }

  std::set<std::string> statesOf(std::int64_t series) {
    std::set<std::string> names;
    Statement known = database_.prepare("SELECT DISTINCT name FROM state_change WHERE series = ?");
    known.bind(series);
    while (known.step()) names.emplace(known.text(0));
    return names;
  }

  // Looks from the newest sample of the source on.
  std::optional<UnixMs> newestOf(const Target& target) {
    Statement newest = database_.prepare(
        "SELECT time_ms FROM sample WHERE source = ? AND session IN (SELECT id FROM session WHERE series = ?)"
        " ORDER BY time_ms DESC LIMIT 1");
    return newest.bind(target.source, target.series).step() ? std::optional(newest.integer(0)) : std::nullopt;
  }

  // The newest series that is measured like this, of a camera also with these heads of states, or a new one. The path
  // of a model and what it was validated with may change without its digest. Those of an older program, which knew no
  // settings, take them over, whatever their round.
  std::int64_t seriesFor(std::int64_t source, const SessionInfo& info, bool again, bool archive) {
    const std::string validation =
        info.cross_validation ? evaluation::toJson(*info.cross_validation).dump() : std::string();
    const auto newest = findSeries(database_, source, info);
    database_.run(
        "UPDATE series SET settings = ?2 WHERE settings IS NULL AND (source, model_digest, schedule, precision, tokens,"
        " classes) = (SELECT source, model_digest, schedule, precision, tokens, classes FROM series WHERE id = ?1"
        " AND settings IS NULL)",
        newest, info.settings);
    const std::string heads = toLine(Json(info.heads));
    const auto found = archive ? newest : findSeries(database_, source, info, heads);
    if (found && !again) {
      database_.run(
          "UPDATE series SET model = ?, model_name = ?, cross_validation = ?, heads = json_patch(coalesce(heads, '{}'),"
          " ?) WHERE id = ?",
          info.model, info.model_name, validation, heads, *found);
      return *found;
    }
    database_.run(
        "INSERT INTO series(source, number, round, model, model_name, model_digest, cross_validation, schedule,"
        " precision, settings, tokens, classes, heads) SELECT ?1, (SELECT 1 + coalesce(max(number), 0) FROM series"
        " WHERE source = ?1),"
        " 1 + coalesce((SELECT round FROM series WHERE id = ?2), 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?",
        source, newest, info.model, info.model_name, info.model_digest, validation, info.reduce, info.precision,
        info.settings, info.tokens, toLine(info.classes), heads);
    return database_.lastId();
  }

  void end(UnixMs time, Target& target) {
    if (target.session == 0) return;
    database_.run("UPDATE session SET ended_ms = ? WHERE id = ?", target.archive ? target.last : time, target.session);
    target.session = 0;
  }

  // Events that wait for the row of a source are of no other one.
  static void setName(const std::string& name, Target& target) {
    if (target.name != name) target.unnamed = 0;
    target.name = name;
  }

  void write(const SetSource& set, Target& target, BucketUpdate&) {
    end(set.time, target);
    setName(set.name, target);
    target.source = database_.integer("SELECT id FROM source WHERE name = ?", set.name);
    own(target);
  }

  void own(Target& target) {
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

  // The database has one writer, so what was left open was killed. It ended with its last sample. What the clock says
  // by now does not matter: it may have begun anew in 1970.
  void endKilledSessions(std::int64_t source) {
    database_.run(
        "UPDATE session SET ended_ms = coalesce((SELECT time_ms FROM sample WHERE sample.source = session.source"
        " AND time_ms >= started_ms AND sample.session = session.id ORDER BY time_ms DESC LIMIT 1), started_ms)"
        " WHERE source = ? AND ended_ms IS NULL",
        source);
  }

  std::string path_;
  const OutboxOptions& outbox_;
  std::set<std::string> told_{};  // channels that got messages
  std::string dropped_{};
  Database database_;
  std::optional<FileIdentity> identity_;
  HeldFile file_;  // O_PATH: closing another descriptor of the file would let go of SQLite's locks on it
  bool knows_target_ = false;
  bool deleted_ = false;  // something that must not be seen
  bool told_readable_ = false;
  std::string problem_{};
  Statement insert_sample_, insert_region_, insert_state_, insert_change_, insert_event_, insert_message_;
};

}  // namespace

struct StoreWriter::Impl {
  std::string path;  // changes while no thread runs
  StoreOptions options;
  EventCallback on_event;

  // Used by the writer's thread alone.
  std::optional<DatabaseLock> lock;
  std::optional<Connection> connection;
  bool create = true;  // nothing was opened yet: a file that is not there is made, a damaged one renamed
  Target target;
  std::optional<SettledClock> clock;  // once a source is known
  bool hopeless = false;
  bool dropping = false;  // the outbox is full, which was reported

  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<Operation> queue;
  Operation context = SetSource{};  // the last that began a session or named a source
  std::optional<SetRegions> regions;
  std::optional<SetPrivacy> privacy;
  std::optional<std::string> id;  // of the database
  std::optional<Judge> judge;     // waits to be done, or is
  std::optional<bool> judged;     // its result; false also with `judge_problem`
  std::string judge_problem;
  std::size_t samples_queued = 0;
  std::int64_t enqueued = 0, done = 0;               // operations; `done` counts those given up as well
  std::size_t in_hand = 0;                           // samples of the attempt that is under way
  std::int64_t attempts_begun = 0, last_failed = 0;  // the number of the last attempt, and of the last that failed
  std::optional<Clock::time_point> busy_since;       // the attempt that is under way, and the maintenance after it
  bool hurry = false;
  bool look_now = false;  // the retention changed
  WriterStatus status;
  bool outage_reported = false;  // that nothing can be written, which is so while status.writing is false
  std::optional<Clock::time_point> reported_at;  // of any outage
  std::jthread thread;                           // last: it commits what waits before the rest goes

  // Changes state that other threads wait for or look at.
  template <typename Change>
  void change(Change change) {
    const std::lock_guard guard(mutex);
    change();
    changed.notify_all();
  }

  // All of them in one transaction.
  template <typename... Operations>
  void enqueue(Operations... operations) {
    change([&] { (enqueueOne(std::move(operations)), ...); });
  }

  void enqueueOne(Operation operation) {  // the mutex is held
    if (std::holds_alternative<BeginSession>(operation) || std::holds_alternative<SetSource>(operation))
      context = operation;
    if (const auto* set = std::get_if<SetRegions>(&operation)) regions = *set;
    if (const auto* set = std::get_if<SetPrivacy>(&operation)) privacy = *set;
    // A view takes the place of the one before. Of what was sent through a channel the largest number counts.
    const auto* sent = std::get_if<ForgetSent>(&operation);
    if (const bool view = std::holds_alternative<ViewReference>(operation); view || sent)
      enqueued -= static_cast<std::int64_t>(std::erase_if(queue, [&](const Operation& earlier) {
        const auto* before = std::get_if<ForgetSent>(&earlier);
        return (view && std::holds_alternative<ViewReference>(earlier)) ||
               (sent && before && before->channel == sent->channel && before->number <= sent->number);
      }));
    push(std::move(operation));
  }

  void push(Operation operation) {  // the mutex is held
    if (status.stopped) return;
    if (std::holds_alternative<Sample>(operation)) ++samples_queued;
    queue.push_back(std::move(operation));
    ++enqueued;
    forgetOverflow();
  }

  double busySeconds() const {
    return busy_since ? std::chrono::duration<double>(Clock::now() - *busy_since).count() : 0;
  }
  bool answers() const { return busySeconds() <= options.patience_s; }

  void forgetOverflow() {
    if (status.writing && answers()) return;  // whatever came will be written in a moment
    const bool samples = samples_queued > options.max_pending;
    if (!samples && queue.size() - samples_queued <= kMaxOthers) return;
    const auto oldest = std::ranges::find_if(queue, [&](const Operation& operation) {
      return samples ? std::holds_alternative<Sample>(operation) : std::holds_alternative<Event>(operation);
    });
    if (oldest == queue.end()) return;
    queue.erase(oldest);
    ++done;
    if (!samples) return;
    --samples_queued;
    ++status.lost;
  }

  void post(Severity severity, const std::string& message) {
    Event event{options.now(), EventKind::kStorage, severity, message};
    change([&] { push(event); });
    report(event);
  }

  void report(const Event& event) const {
    if (on_event) on_event(event);
  }

  void start() {
    thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void run(const std::stop_token& stop) {
    Clock::time_point next_commit = Clock::now(), next_maintenance = Clock::now();
    std::unique_lock guard(mutex);
    while (!status.stopped) {
      const auto next = [&] { return queue.empty() && status.writing ? next_maintenance : next_commit; };
      while (!stop.stop_requested() && !hurry && !look_now && Clock::now() < next())
        changed.wait_until(guard, stop, next(), [&, until = next()] { return hurry || look_now || next() < until; });
      const bool last = stop.stop_requested();
      hurry = false;
      if (std::exchange(look_now, false)) next_maintenance = Clock::now();
      busy_since = Clock::now();
      guard.unlock();
      const bool had_one = target.had_one;
      const bool committed = commitPending();
      judgeWaiting();
      if (target.had_one != had_one) next_maintenance = Clock::now();  // now it is known what is old
      next_commit = Clock::now() + inSeconds(committed ? options.commit_s : options.retry_s);
      if (committed && !last && Clock::now() >= next_maintenance)
        next_maintenance = Clock::now() + (maintain() ? Clock::duration::zero() : inSeconds(options.maintenance_s));
      guard.lock();
      busy_since.reset();
      if (last) return;
    }
  }

  bool commitPending() {
    bool told = false;
    std::deque<Operation> batch;
    {
      const std::lock_guard guard(mutex);
      batch.swap(queue);
      in_hand = static_cast<std::size_t>(
          std::ranges::count_if(batch, [](const Operation& one) { return std::holds_alternative<Sample>(one); }));
      samples_queued -= in_hand;
      ++attempts_begun;
    }
    try {
      connect();
      if (!batch.empty()) target = connection->commit(batch, target), told = connection->told();
      if (const std::string problem = connection->takeProblem(); !problem.empty()) post(Severity::kWarning, problem);
    } catch (const std::exception& error) {
      if (passes(error))
        giveBack(std::move(batch), error.what());
      else
        stopStoring(error);
      return false;
    }
    std::string resumed;
    {
      const std::lock_guard guard(mutex);
      status.samples += static_cast<std::int64_t>(std::exchange(in_hand, 0));
      status.problem.clear();
      if (!std::exchange(status.writing, true) && outage_reported)
        resumed = "writing again to '" + path + "'" +
                  (status.lost > 0 ? "; " + std::to_string(status.lost) + " samples were lost so far" : "");
    }
    if (!resumed.empty()) post(Severity::kInfo, resumed);
    if (told && options.outbox.on_stored) options.outbox.on_stored();
    if (told && !std::exchange(dropping, !connection->dropped().empty()) && dropping)
      post(Severity::kWarning, std::to_string(options.outbox.max_waiting) + " messages wait for " +
                                   connection->dropped() + ": the oldest are dropped from now on");
    if (options.on_stored) options.on_stored();
    // Last: who waits for it finds all events reported.
    change([&] { done += static_cast<std::int64_t>(batch.size()); });
    return true;
  }

  // After what was queued before.
  void judgeWaiting() {
    std::optional<Judge> how;
    {
      const std::lock_guard guard(mutex);
      if (!judge || judged) return;
      how = judge;
    }
    bool all = false;
    std::string problem;
    try {
      std::error_code unseen;
      if (!connection && !fs::exists(path, unseen) && !unseen) {
        all = true;  // a file is made for what is stored only
      } else {
        connect();
        all = connection->judge(*how);
      }
    } catch (const std::exception& error) {
      problem = error.what();
    }
    change([&] {
      judged = all;
      judge_problem = problem;
    });
    if (all && options.on_stored) options.on_stored();
  }

  static bool passes(const std::exception& error) {
    const auto* failed = dynamic_cast<const SqliteError*>(&error);
    return failed && failed->passesByItself();
  }

  void connect() {
    if (connection) return;
    std::string damage = create ? notedDamage() : "";
    try {
      if (damage.empty()) connection.emplace(path, create, options.outbox);
    } catch (const SqliteError& error) {
      if (!create || !error.isDamage() || !isOurs(path)) throw;
      damage = error.what();
    }
    if (!lock) lock.emplace(path);
    if (!damage.empty()) {
      const std::string name = setAside(path, options.now());
      connection.emplace(path, create, options.outbox);
      connection->takeId(name);
      post(Severity::kError,
           "'" + path + "' is damaged and was renamed to '" + name + "', a new one begins: " + damage);
    }
    if (std::exchange(create, false)) lock->setNote({});
    change([&] { id = connection->id(); });
    if (const std::string problem = connection->takeProblem(); !problem.empty()) post(Severity::kWarning, problem);
  }

  // The damage that the writer before this one met in the file that is there; not in another that took its target.
  std::string notedDamage() const {
    const std::string note = DatabaseLock::noteOf(path);
    const auto file = identityOf(path);
    const std::string inode = file ? std::to_string(file->inode) + " " : "";
    return file && note.starts_with(inode) ? note.substr(inode.size()) : "";
  }

  // Waits for what passes by itself.
  void giveBack(std::deque<Operation> batch, const std::string& problem) {
    connection.reset();  // a disk that was pulled out and put back needs a new one
    bool stopped = false;
    {
      const std::lock_guard guard(mutex);
      batch.insert(batch.end(), std::make_move_iterator(queue.begin()), std::make_move_iterator(queue.end()));
      queue.swap(batch);
      samples_queued += std::exchange(in_hand, 0);
      status.problem = problem;
      if (std::exchange(status.writing, false)) outage_reported = false;
      if (!outage_reported && (!reported_at || Clock::now() - *reported_at >= inSeconds(options.report_s))) {
        outage_reported = stopped = true;
        reported_at = Clock::now();
      }
      while (samples_queued > options.max_pending) forgetOverflow();
    }
    if (stopped) post(Severity::kError, "cannot write, samples wait in memory: " + problem);
    change([&] { last_failed = attempts_begun; });
  }

  // No waiting helps. Damage of a file that was open is noted for the next start: it may show in its rows alone.
  void stopStoring(const std::exception& error) {
    const auto* failed = dynamic_cast<const SqliteError*>(&error);
    const std::optional<FileIdentity> file = connection ? connection->identity() : std::nullopt;
    if (connection) connection->keepLog();
    connection.reset();
    if (failed && file && file == identityOf(path) && failed->isDamage())
      lock->setNote(std::to_string(file->inode) + " " + error.what());
    lock.reset();
    report({options.now(), EventKind::kStorage, Severity::kError,
            std::string("nothing is stored any more: ") + error.what()});
    change([&] {
      status.writing = false;
      status.stopped = true;
      status.problem = error.what();
      status.lost += static_cast<std::int64_t>(std::exchange(samples_queued, 0) + std::exchange(in_hand, 0));
      queue.clear();
      done = enqueued;
    });
  }

  // True when there is more to do at once.
  bool maintain() {
    try {
      RetentionLimits limits{.source = target.source};
      {
        const std::lock_guard guard(mutex);
        limits.keep_days = options.keep_days;
        limits.max_bytes = std::llround(options.max_megabytes * 1e6);
      }
      const UnixMs now = options.now();
      if (!clock && target.had_one) clock.emplace(target.last_before, target.longest_pause);
      if (!clock || !clock->believes(now, steadyNow())) limits.keep_days = 0;
      const Retention result = connection->maintain(now, limits);
      if (result == Retention::kHopeless && !std::exchange(hopeless, true))
        post(Severity::kWarning,
             "'" + path + "' is larger than its limit, and all that is left is recent or an archive");
      if (result == Retention::kDone) hopeless = false;
      return result == Retention::kMore;
    } catch (const std::exception& error) {
      if (!passes(error)) stopStoring(error);  // else the next commit meets the same trouble and reports it
      return false;
    }
  }
};

StoreWriter::StoreWriter(const std::string& path, StoreOptions options, EventCallback on_event)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->options = std::move(options);
  impl_->on_event = std::move(on_event);
  try {
    if (impl_->options.open_at_once) impl_->connect();
  } catch (const SqliteError& error) {
    if (error.code() != SQLITE_FULL) throw;
    impl_->giveBack({}, error.what());  // as if it had filled a moment later
  }
  impl_->start();
}

StoreWriter::~StoreWriter() { endSession(); }

void StoreWriter::beginSession(const SessionInfo& info, std::optional<UnixMs> archive, bool again) {
  SessionInfo shown = info;
  shown.source = vision::redactCredentials(info.source);
  shown.model = vision::redactCredentials(info.model);
  impl_->enqueue(BeginSession{std::move(shown), archive.value_or(impl_->options.now()), archive.has_value(), again});
}

void StoreWriter::endSession() { setSource({}); }

void StoreWriter::setSource(const std::string& name) {
  impl_->enqueue(SetSource{vision::redactCredentials(name), impl_->options.now()});
}

void StoreWriter::setRegions(const std::string& source, const std::vector<vision::Region>& regions) {
  impl_->enqueue(SetRegions{vision::redactCredentials(source), regions});
}

void StoreWriter::setPrivacy(const std::string& source, const std::string& json) {
  impl_->enqueue(SetPrivacy{vision::redactCredentials(source), json});
}

void StoreWriter::settle(const std::string& source, int state_after) {
  impl_->enqueue(Settle{vision::redactCredentials(source), state_after});
}

bool StoreWriter::judge(const std::string& source, const NightRule& rule,
                        const std::function<bool(double share)>& progress) {
  validate(rule);
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return !impl_->judge || impl_->status.stopped; });  // for another one
  if (impl_->status.stopped) throw Error(impl_->status.problem);
  impl_->judge = Judge{vision::redactCredentials(source), rule, progress};
  impl_->judged.reset();
  impl_->judge_problem.clear();
  impl_->hurry = true;
  impl_->changed.notify_all();
  impl_->changed.wait(lock, [&] { return impl_->judged || impl_->status.stopped; });
  const bool done = impl_->judged.value_or(false);
  const std::string problem = impl_->status.stopped && !impl_->judged ? impl_->status.problem : impl_->judge_problem;
  impl_->judge.reset();
  impl_->changed.notify_all();
  lock.unlock();
  if (!problem.empty()) throw Error(problem);
  return done;
}

void StoreWriter::setRetention(double keep_days, double max_megabytes) {
  impl_->change([&] {
    impl_->options.keep_days = keep_days;
    impl_->options.max_megabytes = max_megabytes;
    impl_->look_now = true;
  });
}

void StoreWriter::storeIn(const std::string& path) {
  if (!status().stopped) return;
  impl_->thread.join();
  impl_->change([&] {
    impl_->path = path;
    impl_->create = true;
    impl_->target = {};
    impl_->clock.reset();
    impl_->id.reset();
    impl_->status.stopped = false;
    impl_->status.writing = true;
    impl_->status.problem.clear();
    if (impl_->regions) impl_->push(*impl_->regions);
    if (impl_->privacy) impl_->push(*impl_->privacy);
    impl_->push(impl_->context);
  });
  impl_->start();
}

void StoreWriter::append(const Sample& sample, const std::optional<ViewReference>& view) {
  view ? impl_->enqueue(sample, *view) : impl_->enqueue(sample);
}

void StoreWriter::append(const Event& event) {
  Event shown = event;
  shown.message = vision::redactCredentials(event.message);
  impl_->enqueue(std::move(shown));
}

void StoreWriter::setAlarms(const std::vector<AlarmState>& states) { impl_->enqueue(SetAlarms{states}); }

void StoreWriter::announce(const std::string& topic, const std::string& payload) {
  impl_->enqueue(Announce{topic, payload});
}

void StoreWriter::forgetSent(const std::string& channel, std::int64_t number) {
  impl_->enqueue(ForgetSent{channel, number});
}

bool StoreWriter::flush(std::optional<double> limit) {
  std::unique_lock lock(impl_->mutex);
  const std::int64_t target = impl_->enqueued, begun_before = impl_->attempts_begun;
  const auto over = [&] { return impl_->status.stopped || impl_->done >= target || impl_->last_failed > begun_before; };
  impl_->hurry = true;
  impl_->changed.notify_all();
  if (limit)
    impl_->changed.wait_for(lock, inSeconds(*limit), over);
  else
    impl_->changed.wait(lock, over);
  return !impl_->status.stopped && impl_->done >= target;
}

std::optional<std::string> StoreWriter::id() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->id;
}

WriterStatus StoreWriter::status() const {
  const std::lock_guard lock(impl_->mutex);
  WriterStatus status = impl_->status;
  status.pending = static_cast<std::int64_t>(impl_->samples_queued + impl_->in_hand);
  status.busy_s = impl_->busySeconds();
  status.answers = impl_->answers();
  if (!status.answers) {
    status.writing = false;
    status.problem =
        "the disk of '" + impl_->path + "' has not answered for " + std::to_string(std::llround(status.busy_s)) + " s";
  }
  return status;
}

}  // namespace mpm::monitor
