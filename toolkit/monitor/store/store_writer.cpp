// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "monitor/clocks.h"
#include "monitor/privacy.h"
#include "monitor/store/connection.h"
#include "monitor/store/store_writer.h"
#include "mpm/error.hpp"
#include "vision/sources/source.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxOthers = 1000;  // events and sessions kept while nothing can be written

}  // namespace

struct StoreWriter::Impl {
  std::string path;  // changes while no thread runs
  StoreOptions options;
  EventCallback on_event;

  // Used by the writer's thread alone.
  std::optional<DatabaseLock> lock;
  std::optional<StoreConnection> connection;
  bool create = true;  // nothing was opened yet: a file that is not there is made, a damaged one renamed
  WriteTarget target;
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
  std::int64_t flush_to = 0;  // until `done` is this, flush() waits
  bool look_now = false;      // the retention changed
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
    if (changesSource(operation)) context = operation;
    if (const auto* set = std::get_if<SetRegions>(&operation)) regions = *set;
    if (const auto* set = std::get_if<SetPrivacy>(&operation)) privacy = *set;
    // A view takes the place of the one before of its source. Of what was sent through a channel the largest number
    // counts.
    if (std::holds_alternative<ViewReference>(operation)) {
      drop(std::find_if(queue.rbegin(), queue.rend(), changesSource).base(),
           [](const Operation& earlier) { return std::holds_alternative<ViewReference>(earlier); });
    }
    if (const auto* sent = std::get_if<ForgetSent>(&operation)) {
      drop(queue.begin(), [&](const Operation& earlier) {
        const auto* before = std::get_if<ForgetSent>(&earlier);
        return before && before->channel == sent->channel && before->number <= sent->number;
      });
    }
    push(std::move(operation));
  }

  static bool changesSource(const Operation& operation) {
    return std::holds_alternative<BeginSession>(operation) || std::holds_alternative<SetSource>(operation);
  }

  // Forgets what waits from `first` on and is no longer needed.
  template <typename Unneeded>
  void drop(std::deque<Operation>::iterator first, Unneeded unneeded) {
    const auto rest = std::remove_if(first, queue.end(), unneeded);
    enqueued -= queue.end() - rest;
    queue.erase(rest, queue.end());
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
      const auto wanted = [&] { return hurry || look_now || flush_to > done; };
      while (!stop.stop_requested() && !wanted() && Clock::now() < next())
        changed.wait_until(guard, stop, next(), [&, until = next()] { return wanted() || next() < until; });
      const bool last = stop.stop_requested();
      hurry = false;
      flush_to = 0;
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
      if (!batch.empty()) {
        target = connection->commit(batch, target);
        told = connection->told();
      }
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
      if (!std::exchange(status.writing, true) && outage_reported) {
        resumed = "writing again to '" + path + "'" +
                  (status.lost > 0 ? "; " + std::to_string(status.lost) + " samples were lost so far" : "");
      }
    }
    if (!resumed.empty()) post(Severity::kInfo, resumed);
    if (told && options.outbox.on_stored) options.outbox.on_stored();
    if (told && !std::exchange(dropping, !connection->dropped().empty()) && dropping) {
      post(Severity::kWarning, std::to_string(options.outbox.max_waiting) + " messages wait for " +
                                   connection->dropped() + ": the oldest are dropped from now on");
    }
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
      const bool known = connection->takeOver(name, PrivacyOptions::everything().json());
      post(Severity::kError, "'" + path + "' is damaged and was renamed to '" + name +
                                 "', a new one begins: " + damage +
                                 (known ? ""
                                        : "; what pictures must not show is lost with it: whole pictures are blurred "
                                          "until --hide and --blur say it"));
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
      const bool believed = clock && clock->believes(now, steadyNow());
      if (!believed && !vision::isSceneName(target.name)) limits.keep_days = 0;  // a scene ages by its own clock
      const Retention result = connection->maintain(now, limits);
      if (result == Retention::kHopeless && !std::exchange(hopeless, true)) {
        post(Severity::kWarning,
             "'" + path + "' is larger than its limit, and all that is left is recent or an archive");
      }
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

void StoreWriter::append(const Event& event) { append(Recorded{.events = {event}}); }

void StoreWriter::append(const Recorded& recorded) {
  impl_->change([&] {
    if (recorded.sample) impl_->enqueueOne(*recorded.sample);
    if (recorded.view) impl_->enqueueOne(*recorded.view);
    if (recorded.alarms) impl_->enqueueOne(SetAlarms{*recorded.alarms});
    for (Event event : recorded.events) {
      event.message = vision::redactCredentials(event.message);
      impl_->hurry = impl_->hurry || event.kind == EventKind::kAlarm || event.kind == EventKind::kAlarmEnded;
      impl_->enqueueOne(std::move(event));
    }
  });
}

void StoreWriter::announce(const std::string& topic, const std::string& payload) {
  impl_->enqueue(Announce{topic, payload});
}

void StoreWriter::tell(const Message& message) { impl_->enqueue(message); }

void StoreWriter::forgetSent(const std::string& channel, std::int64_t number) {
  impl_->enqueue(ForgetSent{channel, number});
}

bool StoreWriter::flush(std::optional<double> limit) {
  std::unique_lock lock(impl_->mutex);
  const std::int64_t target = impl_->enqueued, begun_before = impl_->attempts_begun;
  const auto over = [&] { return impl_->status.stopped || impl_->done >= target || impl_->last_failed > begun_before; };
  impl_->flush_to = std::max(impl_->flush_to, target);
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
