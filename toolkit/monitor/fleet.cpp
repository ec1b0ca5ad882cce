// SPDX-License-Identifier: Apache-2.0
#include "monitor/fleet.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "monitor/pace.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

using namespace std::chrono_literals;

constexpr double kDiskPatienceS = 20;  // at the end of a camera, for a disk that may not answer
constexpr auto kAllPatience = 40s;     // for all of them: also for the command of events and the frame in work
constexpr auto kLook = 100ms;
constexpr std::chrono::seconds kRetry = 30s;

// What the threads of the cameras share.
struct Shared {
  Fleet::Callbacks callbacks;
  std::shared_ptr<SharedModels> models = std::make_shared<SharedModels>();
  std::atomic<std::size_t> cameras = 0;
  std::mutex mutex;
  std::condition_variable_any changed;       // with the mutex: each change of what it guards
  std::map<std::string, Reached> reached{};  // by camera, of those that are watched; with the mutex
  SlowPaceDetector paces{};

  bool alone() const { return cameras == 1; }  // when that camera ends, the program does

  template <typename Change>
  void set(Change&& change) {
    const std::lock_guard lock(mutex);
    change();
    changed.notify_all();
  }
};

// Watches one camera on a thread of its own.
class CameraRun {
 public:
  // `before`: those that have its database until they have ended.
  CameraRun(Camera watched, Shared& shared, std::vector<std::shared_ptr<const CameraRun>> before)
      : camera(std::move(watched)), shared_(shared), before_(std::move(before)) {
    status_.name = camera.name;
    status_.title = camera.session.title;
    status_.database = camera.session.database;
    status_.snapshots = camera.session.snapshots.folder;
    status_.source = camera.plan.source.name();
    camera.session.models = shared_.models;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  // `for_good`: nothing watches its source for its database from now on. `replaced`: another one of its name goes on.
  void stop(bool for_good, bool replaced) {
    for_good_ = for_good;
    replaced_ = replaced;
    thread_.request_stop();
  }

  // With the mutex of Shared.
  CameraStatus status() const {
    CameraStatus now = status_;
    if (session_) now.session = session_->status();
    return now;
  }
  void addEvent(const Event& event) const {
    if (session_) session_->addEvent(event);
  }
  void dropPicture() const {
    if (session_) session_->dropPicture();
  }
  bool failed() const { return status_.failed(); }
  bool ended() const { return ended_; }  // the thread is about to return
  bool hangs() const { return hangs_; }  // the disk does

  Camera camera;

 private:
  void run(const std::stop_token& stop) {
    const auto teller = camera.session.teller;
    std::string reported;
    {
      std::unique_lock lock(shared_.mutex);
      shared_.changed.wait(lock, stop,
                           [&] { return std::ranges::all_of(before_, [](const auto& one) { return one->ended(); }); });
    }
    before_.clear();
    while (!stop.stop_requested()) {
      std::string problem;
      try {
        watch(stop);
      } catch (const std::exception& error) {
        problem = error.what();
      }
      const bool again = !problem.empty() && !shared_.alone() && !camera.plan.once && !stop.stop_requested();
      if (again && std::exchange(reported, problem) != problem) {
        shared_.callbacks.on_event(
            camera, {unixNow(), EventKind::kSource, Severity::kError,
                     "not watched: " + problem + "; it is tried again every " + std::to_string(kRetry.count()) + " s"});
      }
      shared_.set([&] {
        if (!problem.empty()) status_.failure = problem;
        status_.started = status_.over = true;
      });
      if (!stop.stop_requested()) tellStatus();
      if (!again) break;
      pause(stop, kRetry);
    }
    if (teller && status_.failed()) {  // it stays lost for as long as others are watched
      std::unique_lock lock(shared_.mutex);
      shared_.changed.wait(lock, stop, [] { return false; });
    }
    if (teller) teller->end(camera.name, replaced_);
    shared_.set([&] { status_.over = ended_ = true; });
  }

  // What events of one attempt to watch depend on.
  struct Attempt {
    std::atomic<bool> opened = false;  // the model was there
    std::atomic<bool> lost = false;    // the source failed for good
  };

  // An error that is thrown may be gone at the next attempt.
  void watch(const std::stop_token& stop) {
    Attempt attempt;
    Session session(camera.session, callbacks(attempt));
    const std::shared_ptr<void> hiding(nullptr, [&](void*) {
      shared_.set([&] {
        session_ = nullptr;
        shared_.reached.erase(camera.name);
      });
    });
    shared_.set([&] { session_ = &session; });
    tellStatus();
    InferenceStatus loading = session.status().inference;
    for (; loading.loading && !stop.stop_requested(); loading = session.status().inference) pause(stop, 10ms);
    if (stop.stop_requested()) return;
    if (!loading.ready) throw Error(loading.problem);
    attempt.opened = true;
    session.open(camera.plan);
    shared_.set([&] { status_.started = true; });
    std::string failure;
    for (std::int64_t next_tick = 0; !stop.stop_requested(); pause(stop, kLook)) {
      const SessionStatus now = session.status();
      if (status_.over && !now.opening()) {  // one that failed before is lost until then
        shared_.set([&] {
          status_.over = false;
          status_.failure.clear();
        });
      }
      if (const std::int64_t steady = steadyNow(); steady >= next_tick) {
        next_tick = steady + 1000;
        session.tick();
        tellStatus();
        lookAtPace(session, now);
      }
      const bool sampled = hasSample(), silent = now.source.attempt > 0 || now.source.state == CaptureState::kStalled;
      if (!now.finished && !now.store->stopped && !(camera.plan.once && (sampled || silent))) continue;
      if (!sampled || !camera.plan.once) failure = now.source.message;
      if (camera.plan.once && !sampled && failure.empty()) failure = "no frame came";
      if (camera.plan.once) {  // says how it stands
        session.tick();
        tellStatus();
      }
      break;
    }
    if (for_good_) {  // alarms that ring end, which is an event
      CameraPlan none = camera.plan;
      none.alarms = {};
      session.setRules(none);
    }
    const InferenceStatus work = session.status().inference;  // finish() ends the worker
    shared_.set([&] { status_.session = std::exchange(session_, nullptr)->status(); });
    const bool all_stored = session.finish(kDiskPatienceS);
    const WriterStatus written = *session.status().store;
    const bool hangs = !written.stopped && !all_stored && written.busy_s > kDiskPatienceS / 2;
    if (!written.stopped && !all_stored) {
      failure = "the last " + std::to_string(written.pending) + " samples could not be written: " +
                (hangs ? "the disk of '" + camera.session.database + "' does not answer" : written.problem);
    }
    if (failure.empty() && work.lost > 0) failure = counted(work.lost, "result") + " not stored: " + work.failure;
    if (failure.empty() && written.lost > 0)
      failure = counted(written.lost, "sample") + " could not be written in time";
    shared_.set([&] {
      status_.session.store = written;
      status_.failure = failure;
      status_.over = true;
      hangs_ = hangs;
    });
    if (written.stopped) throw Error(written.problem);
  }

  void tellStatus() const {
    std::unique_lock lock(shared_.mutex);
    const std::string word = status().word();
    lock.unlock();
    if (camera.session.teller) camera.session.teller->setStatus(camera.name, word);
  }

  // A machine that is too slow is one event, of the camera that notices it.
  void lookAtPace(Session& session, const SessionStatus& now) {
    std::unique_lock lock(shared_.mutex);
    shared_.reached[camera.name] = {now.every_s, now.pace ? now.pace->usual_s : 0};
    std::vector<Reached> all;
    for (const auto& [name, one] : shared_.reached) all.push_back(one);
    const auto text = shared_.paces.look(all, steadyNow());
    const Severity severity = shared_.paces.slow() ? Severity::kWarning : Severity::kInfo;
    lock.unlock();
    if (text) session.addEvent({unixNow(), EventKind::kSource, severity, *text});
  }

  Session::Callbacks callbacks(Attempt& attempt) {
    Session::Callbacks callbacks;
    callbacks.on_event = [this, &attempt](const Event& event) {
      // What ends the command is its error, and is said once.
      if (shared_.alone() && event.kind == EventKind::kSource && attempt.lost) return;
      if (event.kind == EventKind::kModel && !attempt.opened) return;
      shared_.callbacks.on_event(camera, event);
    };
    callbacks.on_state = [&attempt](const CaptureStatus& state) {
      attempt.lost = state.state == CaptureState::kEnded && !state.message.empty();
    };
    callbacks.on_sample = [this](const Sample& sample, const InferenceResult& result) {
      {
        const std::lock_guard lock(shared_.mutex);
        status_.sample = sample;
      }
      if (shared_.callbacks.on_sample) shared_.callbacks.on_sample(camera, sample, result);
    };
    return callbacks;
  }

  bool hasSample() const {
    const std::lock_guard lock(shared_.mutex);
    return status_.sample.has_value();
  }
  void pause(const std::stop_token& stop, std::chrono::milliseconds time) const {
    std::unique_lock lock(shared_.mutex);
    shared_.changed.wait_for(lock, stop, time, [] { return false; });
  }

  Shared& shared_;
  std::vector<std::shared_ptr<const CameraRun>> before_;
  // Guarded by the mutex of Shared.
  Session* session_ = nullptr;
  CameraStatus status_;
  bool ended_ = false, hangs_ = false;

  std::atomic<bool> for_good_ = false, replaced_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace

const char* CameraStatus::word() const { return failed() ? "lost" : over ? "ended" : session.word(); }

bool stuck(const std::vector<CameraStatus>& cameras) {
  const auto hangs = [](const CameraStatus& one) { return one.session.stuck(); };
  return std::ranges::any_of(cameras, [](const auto& one) { return one.session.inference.stuck(); }) ||
         (!cameras.empty() && std::ranges::all_of(cameras, hangs));
}

struct Fleet::Impl {
  Shared shared;
  std::vector<std::shared_ptr<CameraRun>> cameras;  // of set(); guarded by the mutex of `shared`
  std::vector<std::shared_ptr<CameraRun>> leaving;  // until their threads have ended
};

Fleet::Fleet(Callbacks callbacks) : impl_(std::make_unique<Impl>()) { impl_->shared.callbacks = std::move(callbacks); }

Fleet::~Fleet() { finish(); }

Fleet::Changes Fleet::set(std::vector<Camera> cameras) {
  Changes changes;
  Shared& shared = impl_->shared;
  auto& leaving = impl_->leaving;
  const std::lock_guard lock(shared.mutex);
  std::erase_if(leaving, [](const auto& one) { return one->ended(); });
  shared.cameras = cameras.size();
  auto others = std::exchange(impl_->cameras, {});
  std::vector<std::shared_ptr<CameraRun>> kept(cameras.size());
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    const auto same = std::ranges::find_if(others, [&](const auto& one) {
      return one->camera.said == cameras[i].said && one->camera.files == cameras[i].files && !one->failed();
    });
    if (same == others.end()) continue;
    kept[i] = *same;
    others.erase(same);
    ++changes.unchanged;
  }
  changes.ended = static_cast<int>(others.size());
  for (const auto& one : others) {
    one->dropPicture();  // what is sent until it has ended must not show what is to be hidden from now on
    const auto goes_on = [&](const Camera& camera) {
      return camera.plan.source.name() == one->camera.plan.source.name() &&
             sameFile(camera.session.database, one->camera.session.database);
    };
    one->stop(std::ranges::none_of(cameras, goes_on), std::ranges::count(cameras, one->camera.name, &Camera::name) > 0);
    leaving.push_back(one);
  }
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    if (kept[i]) continue;
    Camera& camera = cameras[i];
    const bool was = std::ranges::any_of(others, [&](const auto& one) { return one->camera.name == camera.name; });
    ++(was ? changes.restarted : changes.started);
    changes.ended -= was;
    std::vector<std::shared_ptr<const CameraRun>> before;
    // A database has one writer, and what ends under a name must not be told after what begins under it.
    std::ranges::copy_if(leaving, std::back_inserter(before), [&](const auto& one) {
      return one->camera.name == camera.name || sameFile(one->camera.session.database, camera.session.database);
    });
    kept[i] = std::make_shared<CameraRun>(std::move(camera), shared, std::move(before));
  }
  impl_->cameras = std::move(kept);
  return changes;
}

std::vector<CameraStatus> Fleet::status() const {
  const std::lock_guard lock(impl_->shared.mutex);
  std::vector<CameraStatus> all;
  for (const auto& one : impl_->cameras) all.push_back(one->status());
  return all;
}

void Fleet::addEvent(const Event& event) {
  const std::lock_guard lock(impl_->shared.mutex);
  for (const auto& one : impl_->cameras) one->addEvent(event);
}

bool Fleet::finish() {
  std::unique_lock lock(impl_->shared.mutex);
  auto all = impl_->leaving;
  all.insert(all.end(), impl_->cameras.begin(), impl_->cameras.end());
  for (const auto& one : all) one->stop(false, false);
  const auto over = [&] {
    return std::ranges::all_of(all, [](const auto& one) { return one->ended() || one->hangs(); });
  };
  impl_->shared.changed.wait_for(lock, kAllPatience, over);
  return std::ranges::all_of(all, [](const auto& one) { return one->ended(); });
}

}  // namespace mpm::monitor
