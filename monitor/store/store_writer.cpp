// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <variant>

#include "monitor/store/bucket.h"
#include "monitor/store/damage.h"
#include "monitor/store/database_lock.h"
#include "monitor/store/retention.h"
#include "monitor/store/schema.h"
#include "monitor/store/store.h"
#include "mpm/error.hpp"
#include "vision/cross_validation.h"
#include "vision/source.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxOthers = 1000;  // events and sessions kept while nothing can be written
// A disk that dies damages each new file, too. Not one a second for a year, and not all of it read for each error.
constexpr auto kBetweenDamagedFiles = std::chrono::hours(1), kBetweenSearches = std::chrono::hours(1);

Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

struct BeginSession {
  SessionInfo info;
  UnixMs time = 0;
};
struct EndSession {
  UnixMs time;
};
struct SetSource {
  std::string name;
  UnixMs time;
};
using Operation = std::variant<Sample, Event, BeginSession, EndSession, SetSource>;

// Where samples and events go: known once the session's row is written.
struct Place {
  std::int64_t source = 0, session = 0;  // 0: none
  std::string name;                      // of the source
  std::optional<BeginSession> begun;     // the session that runs, or would if the source were not taken
  bool taken = false;                    // by another writer: it stores the source's samples, this one does not
  std::set<std::int64_t> own;            // every source that this writer had
  std::optional<UnixMs> last_before;     // when samples of the first of them came last, before this writer
};

// The writing itself, on one thread.
class Connection {
 public:
  Connection(const std::string& path, bool create, DatabaseLock& claim)
      : path_(path), claim_(claim), database_(openForWriting(path, create)), identity_(identityOf(path)), file_(path) {
    claim_.noteOurs();
    try {
      insert_sample_ = database_.prepare(
          "INSERT INTO sample(session, source, time_ms, tokens, inference_ms, areas, night, brightness, dropped)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
      insert_event_ =
          database_.prepare("INSERT INTO event(source, time_ms, kind, severity, message) VALUES (?, ?, ?, ?, ?)");
    } catch (const SqliteError& error) {
      if (isDamage(error.code())) throw;  // which names the file
      throw SqliteError(error.code(), "cannot use database '" + path_ + "': " + error.what());
    }
  }

  // All of `operations` in one transaction, or none. Returns the place that holds afterwards.
  Place commit(const std::deque<Operation>& operations, Place place) {
    if (identityOf(path_) != identity_)
      throw Error("'" + path_ + "' was " + (file_.deleted() ? "deleted: a new one begins" : "moved"));
    Transaction transaction(database_);
    AggregateUpdate aggregates;
    if (!std::exchange(knows_place_, true) && !holds(place))
      place = beginAgain(place, std::visit([](const auto& what) { return what.time; }, operations.front()), aggregates);
    if (!place.taken && !claim_.keep()) place = takenFrom(place);
    if (place.taken && claim_.take(place.name))
      place = beginAgain(place, std::visit([](const auto& what) { return what.time; }, operations.front()), aggregates);
    for (const Operation& operation : operations)
      std::visit([&](const auto& what) { write(what, place, aggregates); }, operation);
    aggregates.write(database_);
    transaction.commit();
    return place;
  }

  Retention maintain(UnixMs now, const RetentionLimits& limits) {
    const Retention result = forgetSome(database_, now, limits);
    // PASSIVE waits for no reader; what it moves and syncs survives a power cut.
    database_.execute("PRAGMA wal_checkpoint(PASSIVE)");
    return result;
  }

  const std::optional<FileIdentity>& identity() const { return identity_; }
  bool deleted() const { return file_.deleted(); }
  std::int64_t bytesByHeader() const { return database_.bytesByHeader(); }
  void keepLog() { database_.keepLog(); }
  std::int64_t bytes() const { return database_.integer("PRAGMA page_count") * database_.integer("PRAGMA page_size"); }

 private:
  // After a full disk the connection is made anew, and the session goes on where its rows were committed; unless
  // another file lies there by now.
  bool holds(const Place& place) {
    if (place.taken) return true;  // it has no rows
    if (place.session == 0)
      return place.source == 0 ||
             database_.prepare("SELECT 1 FROM source WHERE id = ? AND name = ?").bind(place.source, place.name).step();
    return database_
        .prepare(
            "SELECT 1 FROM session JOIN source ON source.id = session.source"
            " WHERE session.id = ? AND source.id = ? AND source.name = ? AND session.started_ms = ?")
        .bind(place.session, place.source, place.name, place.begun->time)
        .step();
  }

  // The other writer has ended the session as one of a writer that was killed.
  static Place takenFrom(Place place) {
    place.source = place.session = 0;
    place.taken = true;
    return place;
  }

  Place beginAgain(const Place& before, UnixMs time, AggregateUpdate& aggregates) {
    Place place;
    if (before.begun)
      write(BeginSession{before.begun->info, time}, place, aggregates);
    else
      write(SetSource{before.name, time}, place, aggregates);
    return place;
  }

  void write(const Sample& sample, Place& place, AggregateUpdate& aggregates) {
    if (place.session == 0) return;
    insert_sample_.run(place.session, place.source, sample.time, tokensJson(sample.tokens), sample.inference_ms,
                       areasJson(sample.areas), sample.night, sample.brightness, sample.dropped);
    aggregates.add(place.source, place.session, sample);
  }

  void write(const Event& event, Place& place, AggregateUpdate&) {
    insert_event_.run(place.source == 0 ? std::nullopt : std::optional(place.source), event.time,
                      static_cast<int>(event.kind), static_cast<int>(event.severity), event.message);
  }

  // False: nothing is stored, neither of the source nor of its session, which the other writer's would seem to end.
  bool take(const std::string& name, Place& place) {
    place.name = name;
    place.taken = !claim_.take(name);
    if (place.taken) place.source = 0;
    return !place.taken;
  }

  void write(const BeginSession& begin, Place& place, AggregateUpdate&) {
    end(begin.time, place);
    const SessionInfo& info = begin.info;
    place.begun = begin;
    if (!take(info.source, place)) return;
    database_.prepare("INSERT OR IGNORE INTO source(name) VALUES (?)").run(info.source);
    Statement find = database_.prepare("SELECT id FROM source WHERE name = ?");
    find.bind(info.source).step();
    place.source = find.integer(0);
    own(place);
    endKilledSessions(place.source);
    nlohmann::json classes = nlohmann::json::array();
    for (const std::string& name : info.classes) classes.push_back(name);
    database_
        .prepare(
            "INSERT INTO session(source, started_ms, model, model_name, schedule, tokens, classes, every_s,"
            " latitude, longitude, model_digest, cross_validation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .run(place.source, begin.time, info.model, info.model_name, info.reductionText(), info.tokens,
             classes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), info.every_s, info.latitude,
             info.longitude, info.model_digest,
             info.cross_validation ? vision::toJson(*info.cross_validation).dump() : std::string());
    place.session = database_.lastId();
  }

  void write(const EndSession& when, Place& place, AggregateUpdate&) {
    end(when.time, place);
    place.taken = false;
    claim_.release();
  }

  void end(UnixMs time, Place& place) {
    place.begun.reset();
    if (place.session == 0) return;
    database_.prepare("UPDATE session SET ended_ms = ? WHERE id = ?").run(time, place.session);
    place.session = 0;  // events without a session still belong to the source
  }

  void write(const SetSource& set, Place& place, AggregateUpdate&) {
    end(set.time, place);
    if (!take(set.name, place)) return;
    Statement find = database_.prepare("SELECT id FROM source WHERE name = ?");
    place.source = find.bind(set.name).step() ? find.integer(0) : 0;
    own(place);
  }

  void own(Place& place) {
    if (place.source == 0 || !place.own.insert(place.source).second || place.own.size() > 1) return;
    // By id: a clock that was wrong once left samples of a later time. The earliest of several: it may have gone wrong
    // only just before a restart. The index knows no ids, so only the youngest are looked through.
    Statement last = database_.prepare(
        "SELECT coalesce((SELECT min(time_ms) FROM (SELECT time_ms FROM sample WHERE"
        " id > (SELECT max(id) FROM sample) - 100000 AND +source = ?1 ORDER BY id DESC LIMIT 600)),"
        " (SELECT max(time_ms) FROM sample WHERE source = ?1))");
    last.bind(place.source).step();
    if (!last.isNull(0)) place.last_before = last.integer(0);
  }

  // A source has one writer, so what it left open was killed. It ended with its last sample. What the clock says by now
  // does not matter: it may have begun anew in 1970.
  void endKilledSessions(std::int64_t source) {
    database_
        .prepare(
            "UPDATE session SET ended_ms = coalesce((SELECT time_ms FROM sample WHERE sample.source = session.source"
            " AND time_ms >= started_ms AND sample.session = session.id ORDER BY time_ms DESC LIMIT 1), started_ms)"
            " WHERE source = ? AND ended_ms IS NULL")
        .run(source);
  }

  std::string path_;
  DatabaseLock& claim_;
  Database database_;
  std::optional<FileIdentity> identity_;
  HeldFile file_;
  bool knows_place_ = false;
  Statement insert_sample_, insert_event_;
};

}  // namespace

void StoreOptions::validate() const {
  const auto atLeast = [](double value, double least, const char* name) {
    if (!(value >= least))
      throw Error(std::string(name) + " of the store must not be less than " + std::to_string(least));
  };
  atLeast(commit_s, 0.001, "commit_s");
  atLeast(retry_s, 0.001, "retry_s");
  atLeast(report_s, 0, "report_s");
  atLeast(patience_s, 0.001, "patience_s");
  atLeast(maintenance_s, 0.001, "maintenance_s");
  atLeast(keep_days, 0, "keep_days");
  atLeast(max_megabytes, 0, "max_megabytes");
  if (max_pending < 1) throw Error("max_pending of the store must be at least 1");
}

struct StoreWriter::Impl {
  std::string path;
  StoreOptions options;
  EventCallback on_event;

  // Of the writer's thread.
  std::optional<DatabaseLock> claim;
  std::optional<Connection> connection;
  std::optional<FileIdentity> ours;  // the file that was opened last
  std::string real_path;             // without links, of where it lies
  std::optional<FileIdentity> folder_identity;
  std::int64_t bytes_seen = 0;         // of that file: it gets smaller by a checkpoint alone
  std::optional<std::int64_t> cut_to;  // when it was looked at last, if it was cut
  bool create = true;  // a file that is not there is made: the first, and the one after a damaged or deleted one
  bool missing_for_good = false;  // deleted
  std::optional<Clock::time_point> set_aside, searched;
  Place place;
  std::optional<SettledClock> clock;  // once a source is known
  bool hopeless = false;

  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<Operation> queue;
  std::size_t samples_queued = 0;
  std::int64_t enqueued = 0, done = 0;               // operations; `done` counts those given up as well
  std::size_t in_hand = 0;                           // samples of the attempt that is under way
  std::int64_t attempts_begun = 0, last_failed = 0;  // the number of the last attempt, and of the last that failed
  std::optional<Clock::time_point> busy_since;       // the attempt that is under way, and the maintenance after it
  bool hurry = false;
  bool look_now = false;  // the retention changed
  WriterStatus status;
  bool outage_reported = false;  // that nothing can be written, which is so while status.writing is false
  std::int64_t lost_before = 0;  // samples, before it
  std::optional<Clock::time_point> reported_at;  // of any outage
  std::jthread thread;                           // last: it commits what waits before the rest goes

  void enqueue(Operation operation) {
    {
      const std::lock_guard lock(mutex);
      push(std::move(operation));
    }
    changed.notify_all();
  }

  void push(Operation operation) {  // the mutex is held
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
    const auto dropFirst = [&](bool samples) {
      const auto oldest = std::find_if(queue.begin(), queue.end(), [&](const Operation& operation) {
        return samples ? std::holds_alternative<Sample>(operation) : std::holds_alternative<Event>(operation);
      });
      if (oldest == queue.end()) return;
      queue.erase(oldest);
      ++done;
    };
    if (samples_queued > options.max_pending) {
      dropFirst(true);
      --samples_queued;
      ++status.lost;
    }
    if (queue.size() - samples_queued > kMaxOthers) dropFirst(false);
  }

  void post(Severity severity, const std::string& message) {
    Event event{options.now(), EventKind::kStorage, severity, message};
    {
      const std::lock_guard lock(mutex);
      push(event);
    }
    report(event);
  }

  void report(const Event& event) const {
    if (on_event) on_event(event);
  }

  void run(const std::stop_token& stop) {
    Clock::time_point next_commit = Clock::now(), next_maintenance = Clock::now();
    std::unique_lock lock(mutex);
    while (true) {
      const auto next = [&] { return queue.empty() && status.writing ? next_maintenance : next_commit; };
      while (!stop.stop_requested() && !hurry && !look_now && Clock::now() < next())
        changed.wait_until(lock, stop, next(), [&, until = next()] { return hurry || look_now || next() < until; });
      const bool last = stop.stop_requested();
      hurry = false;
      if (std::exchange(look_now, false)) next_maintenance = Clock::now();
      busy_since = Clock::now();
      lock.unlock();
      const bool committed = commitPending();
      next_commit = Clock::now() + seconds(committed ? options.commit_s : options.retry_s);
      if (committed && !last && Clock::now() >= next_maintenance)
        next_maintenance = Clock::now() + (maintain() ? Clock::duration::zero() : seconds(options.maintenance_s));
      lock.lock();
      busy_since.reset();
      if (last) return;
    }
  }

  bool commitPending() {
    std::deque<Operation> batch;
    std::size_t batch_samples = 0;
    {
      const std::lock_guard lock(mutex);
      batch.swap(queue);
      batch_samples = in_hand = std::exchange(samples_queued, 0);
      ++attempts_begun;
    }
    const bool was_taken = place.taken;
    try {
      survivingDamage([&] {
        if (!batch.empty()) place = connection->commit(batch, place);
      });
    } catch (const std::exception& error) {
      giveBack(std::move(batch), batch_samples, error.what());
      return false;
    }
    std::optional<Event> resumed;
    {
      const std::lock_guard lock(mutex);
      in_hand = 0;
      if (!place.taken) status.samples += static_cast<std::int64_t>(batch_samples);
      status.taken = place.taken;
      status.problem = place.taken ? takenText() : "";
      if (!std::exchange(status.writing, true) && outage_reported) {
        resumed = Event{options.now(), EventKind::kStorage, Severity::kInfo,
                        "writing again to '" + path + "'" +
                            (status.lost > 0 ? "; " + std::to_string(status.lost) + " samples were lost so far" : "")};
        push(*resumed);
      }
    }
    measure();
    if (resumed) report(*resumed);
    if (place.taken && !was_taken) post(Severity::kError, takenText());
    if (was_taken && !place.taken && place.begun)
      post(Severity::kInfo, "stores '" + place.name + "' in '" + path + "' now that the other program has ended");
    {
      const std::lock_guard lock(mutex);
      done += static_cast<std::int64_t>(batch.size());  // last: who waits for it finds all events reported
    }
    changed.notify_all();
    return true;
  }

  std::string takenText() const {
    return "another program stores '" + place.name + "' in '" + path + "': nothing is stored here until it ends";
  }

  // `work` on the connection, which is made if there is none. Where the file turns out to be damaged, once more on a
  // new connection, for what the first one remembers of the file may be what is wrong, and then on a new file.
  template <typename Work>
  void survivingDamage(const Work& work) {
    for (int attempt = 1;; ++attempt) {
      const std::optional<FileIdentity> there = identityOf(path);
      try {
        refuseCutFile();
        if (!connection) connect();
        return work();
      } catch (const SqliteError& error) {
        if (passesByItself(error.code())) throw;
        if (connection) connection->keepLog();
        disconnect();
        if (attempt == 2 && there) beginNewFile(*there, asDamage(error));
        if (attempt == 3) throw;
      }
    }
  }

  // Damage may look like a mistake in a statement. Where it is none, `error` is thrown again.
  SqliteError asDamage(const SqliteError& error) {
    if (isDamage(error.code())) return error;
    if (searched && Clock::now() - *searched < kBetweenSearches) throw error;
    searched = Clock::now();
    const std::optional<std::string> found = findDamage(path);
    if (!found) throw error;
    return {SQLITE_CORRUPT, "'" + path + "' is damaged: " + *found};
  }

  // Written to any further, a file that was cut would have holes, and the log is needed where it lies. A checkpoint
  // that makes a file smaller has written so into its header before; a copy over it may be under way, so it is damaged
  // only if it is as small at the next try.
  void refuseCutFile() {
    if (identityOf(path) != ours) return;  // another file, or none yet
    const std::optional<std::int64_t> size = fileSize();
    if (!size) return;  // a disk that fails says nothing of the file
    const std::int64_t bytes = *size;
    if (bytes >= bytes_seen || (connection && bytes > 0 && bytes == connection->bytesByHeader())) {
      bytes_seen = bytes;
      cut_to.reset();
      return;
    }
    if (connection) connection->keepLog();
    const std::string what = "'" + path + "' was cut to " + std::to_string(bytes) + " bytes by another program";
    if (std::exchange(cut_to, bytes) != bytes) throw Error(what);
    if (bytes == 0 || findDamage(path)) throw SqliteError(SQLITE_CORRUPT, what);
    bytes_seen = bytes;
  }

  std::optional<std::int64_t> fileSize() const {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? std::nullopt : std::optional(static_cast<std::int64_t>(size));
  }

  void connect() {
    if (fileSize() == 0 && claim->notedAsOurs())
      throw SqliteError(SQLITE_CORRUPT, "'" + path + "' is damaged: it is empty");
    const bool replaces = !create && mayReplaceMissing();
    if (replaces && !missing_for_good) keepLogOfMoved();
    connection.emplace(path, create || replaces, *claim);
    if (std::exchange(ours, connection->identity()) != connection->identity()) bytes_seen = 0;
    std::error_code error;
    real_path = fs::canonical(path, error).string();
    folder_identity = identityOf(fs::path(real_path).parent_path().string());
    create = missing_for_good = false;
  }

  // One that was deleted does not come back. One that was moved may, and is waited for as long as memory holds what
  // comes. On a disk that was unplugged it does come back: its folder is another one meanwhile, or none.
  bool mayReplaceMissing() const {
    return (missing_for_good || in_hand >= options.max_pending) && folder_identity &&
           identityOf(fs::path(real_path).parent_path().string()) == folder_identity;
  }

  // SQLite would delete it, as a log without a database. Renamed like the database it is read with it.
  void keepLogOfMoved() {
    std::error_code error;
    if (fs::status(real_path, error).type() != fs::file_type::not_found) return;
    if (fs::file_size(real_path + "-wal", error) == 0 || error) return;
    const std::string name = real_path + ".moved-" + fileTime(options.now()) + "-wal";
    fs::rename(real_path + "-wal", name);
    post(Severity::kWarning,
         "'" + path + "' did not come back, a new one begins; its last minute is in its log, '" + name + "'");
  }

  void disconnect() {
    if (connection && connection->deleted()) {
      missing_for_good = true;
      ours.reset();  // its number may be given to another file
      bytes_seen = 0;
    }
    connection.reset();
  }

  void beginNewFile(const FileIdentity& damaged, const SqliteError& error) {
    if (ours != damaged && !wasOurs(path, *claim)) throw error;
    if (set_aside && Clock::now() - *set_aside < kBetweenDamagedFiles)
      throw Error(std::string(error.what()) + ", so soon after the file before it that another is begun an hour after");
    const std::optional<std::string> name = setAside(path, damaged, options.now());
    if (!name) return;  // another writer of the same file was faster
    set_aside = Clock::now();
    create = true;
    post(Severity::kError,
         "'" + path + "' is damaged and was renamed to '" + *name + "', a new one begins: " + error.what());
  }

  void giveBack(std::deque<Operation> batch, std::size_t batch_samples, const std::string& problem) {
    disconnect();  // a disk that was pulled out and put back needs a new one
    std::optional<Event> stopped;
    {
      const std::lock_guard lock(mutex);
      batch.insert(batch.end(), std::make_move_iterator(queue.begin()), std::make_move_iterator(queue.end()));
      queue.swap(batch);
      samples_queued += batch_samples;
      in_hand = 0;
      status.problem = problem;
      if (std::exchange(status.writing, false)) {
        outage_reported = false;
        lost_before = status.lost;
      }
      const bool due =
          !reported_at || Clock::now() - *reported_at >= seconds(options.report_s) || status.lost > lost_before;
      if (!outage_reported && due) {
        outage_reported = true;
        reported_at = Clock::now();
        stopped = Event{options.now(), EventKind::kStorage, Severity::kError,
                        "cannot write to '" + path + "', samples wait in memory: " + problem};
        push(*stopped);
      }
      while (samples_queued > options.max_pending) forgetOverflow();
    }
    if (stopped) report(*stopped);
    {
      const std::lock_guard lock(mutex);
      last_failed = attempts_begun;
    }
    changed.notify_all();
  }

  // True when there is more to do at once.
  bool maintain() {
    try {
      RetentionLimits limits{.sources = place.own, .all_sources = options.keep_days_of_all};
      {
        const std::lock_guard lock(mutex);
        limits.keep_days = options.keep_days;
        limits.max_bytes = std::llround(options.max_megabytes * 1e6);
      }
      const UnixMs now = options.now();
      if (!clock && !place.own.empty()) clock.emplace(place.last_before);
      if (!clock || !clock->believes(now, steadyNow())) limits.keep_days = 0;
      Retention result = Retention::kDone;
      survivingDamage([&] { result = connection->maintain(now, limits); });
      measure();
      if (result == Retention::kHopeless && !std::exchange(hopeless, true))
        post(Severity::kWarning, "'" + path + "' is larger than its limit, and all that is left is recent");
      if (result == Retention::kDone) hopeless = false;
      return result == Retention::kMore;
    } catch (const std::exception&) {  // the next commit meets the same trouble and reports it
      return false;
    }
  }

  void measure() {
    if (!connection) return;
    if (identityOf(path) == ours) bytes_seen = std::max(bytes_seen, fileSize().value_or(0));
    try {
      const std::int64_t bytes = connection->bytes();
      const std::lock_guard lock(mutex);
      status.bytes = bytes;
    } catch (const std::exception&) {
    }
  }
};

StoreWriter::StoreWriter(const std::string& path, StoreOptions options, EventCallback on_event)
    : impl_(std::make_unique<Impl>()) {
  options.validate();
  impl_->path = path;
  impl_->options = std::move(options);
  impl_->on_event = std::move(on_event);
  impl_->claim.emplace(path);
  try {
    if (impl_->options.open_at_once) impl_->survivingDamage([] {});
  } catch (const SqliteError& error) {
    if (error.code() != SQLITE_FULL) throw;
    impl_->giveBack({}, 0, error.what());  // as if it had filled a moment later
  }
  impl_->measure();
  impl_->thread = std::jthread([impl = impl_.get()](const std::stop_token& stop) { impl->run(stop); });
}

StoreWriter::~StoreWriter() { endSession(); }

void StoreWriter::beginSession(const SessionInfo& info) {
  SessionInfo shown = info;
  shown.source = vision::redactCredentials(info.source);
  shown.model = vision::redactCredentials(info.model);
  impl_->enqueue(BeginSession{std::move(shown), impl_->options.now()});
}

void StoreWriter::endSession() { impl_->enqueue(EndSession{impl_->options.now()}); }

void StoreWriter::setSource(const std::string& name) {
  impl_->enqueue(SetSource{vision::redactCredentials(name), impl_->options.now()});
}

void StoreWriter::setRetention(double keep_days, double max_megabytes) {
  StoreOptions check;
  check.keep_days = keep_days;
  check.max_megabytes = max_megabytes;
  check.validate();
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->options.keep_days = keep_days;
    impl_->options.max_megabytes = max_megabytes;
    impl_->look_now = true;
  }
  impl_->changed.notify_all();
}

bool StoreWriter::isTaken(const std::string& source) const {
  return DatabaseLock::isTaken(impl_->path, vision::redactCredentials(source));
}

void StoreWriter::append(const Sample& sample) { impl_->enqueue(sample); }

void StoreWriter::append(const Event& event) {
  Event shown = event;
  shown.message = vision::redactCredentials(event.message);
  impl_->enqueue(std::move(shown));
}

bool StoreWriter::flush(std::optional<double> limit) {
  std::unique_lock lock(impl_->mutex);
  const std::int64_t target = impl_->enqueued, begun_before = impl_->attempts_begun;
  const auto over = [&] { return impl_->done >= target || impl_->last_failed > begun_before; };
  impl_->hurry = true;
  impl_->changed.notify_all();
  if (limit)
    impl_->changed.wait_for(lock, seconds(*limit), over);
  else
    impl_->changed.wait(lock, over);
  return impl_->done >= target;
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
