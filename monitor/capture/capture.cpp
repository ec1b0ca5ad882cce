// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/capture.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kFpsSpanMs = 5000;
constexpr std::size_t kMaxReasons = 20;  // of one outage, which may be told

std::int64_t toMs(double seconds) { return static_cast<std::int64_t>(std::llround(seconds * 1000)); }

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", std::round(seconds * 10) / 10);
  return text;
}

}  // namespace

SourceFactory sourceFactory(vision::SourceSpec source) {
  return [source = std::move(source)](const vision::SourceOptions& options) {
    return vision::openSource(source, options);
  };
}

const char* toString(CaptureState state) {
  constexpr const char* kNames[] = {"Idle", "Opening", "Live", "Stalled", "Retrying", "Ended"};
  return kNames[static_cast<int>(state)];
}

void CaptureOptions::validate() const {
  const auto positive = [](double value, const char* name) {
    if (!(value > 0)) throw Error(std::string(name) + " of a source must be positive");
  };
  positive(source.timeout_s, "the time-out");
  positive(stall_s, "the time after which it counts as stalled");
  if (!(settled_s >= 0)) throw Error("the time after which a source has settled must not be negative");
  if (backoff_s.empty()) throw Error("a source needs at least one waiting time between attempts");
  for (double wait : backoff_s) positive(wait, "the waiting time between attempts");
  if (!(max_fps >= 0)) throw Error("the greatest frame rate of a source must not be negative");
  if (max_hanging < 1) throw Error("a source needs at least one read that may hang");
}

std::string toString(const CaptureStatus& status) {
  std::string text = toString(status.state);
  if (status.state == CaptureState::kRetrying)
    text += " (" + std::to_string(status.attempt) + ", next in " + secondsText(std::ceil(status.retry_in_s)) + " s)";
  if (!status.message.empty()) text += ": " + status.message;
  return text;
}

std::optional<Event> sourceEvent(const CaptureStatus& status, UnixMs time) {
  if (status.state == CaptureState::kIdle || status.state == CaptureState::kOpening || status.told) return std::nullopt;
  const bool gone = status.state == CaptureState::kRetrying || status.state == CaptureState::kStalled;
  return Event{time, EventKind::kSource, gone ? Severity::kWarning : Severity::kInfo, toString(status)};
}

// What the Capture, its supervisor and its readers share. A reader holds a reference, so one that hangs for ever
// touches no freed memory.
struct Capture::Impl : std::enable_shared_from_this<Impl> {
  // One reader: opens the source and reads it until something ends it.
  struct Attempt {
    std::atomic<bool> stop = false;
    std::int64_t heartbeat = 0;                   // steady; -1: waits for the consumer, which is no fault of the source
    std::int64_t live_since = 0, last_frame = 0;  // steady; 0: no frame yet, or none since it stalled
    bool opened = false;
    bool finished = false;
    bool failed = false;
    std::string message;
    std::int64_t delivered = 0;          // frames
    std::int64_t left_out = 0;           // pictures that cannot be read
    std::deque<std::string> unreadable;  // why, of those that are yet to be told
  };

  Impl(SourceFactory factory_, CaptureOptions options_, std::shared_ptr<FrameMailbox> frames_, StateCallback callback)
      : factory(std::move(factory_)),
        options(std::move(options_)),
        abandoned_reads(options.source.abandoned_reads ? options.source.abandoned_reads
                                                       : std::make_shared<std::atomic<int>>(0)),
        frames(std::move(frames_)),
        on_state(std::move(callback)),
        dropped_before(frames->dropped()) {}

  const SourceFactory factory;
  const CaptureOptions options;
  const std::shared_ptr<std::atomic<int>> abandoned_reads;  // by sources
  const std::shared_ptr<FrameMailbox> frames;
  const StateCallback on_state;
  const std::int64_t dropped_before;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Attempt> current;
  bool stopping = false;
  CaptureState state = CaptureState::kIdle;
  int failures = 0;
  std::int64_t retry_at = 0;
  std::string message;
  std::set<std::string> reasons;     // of the attempts that failed since the last frame
  bool told = false;                 // `message` was among them before
  std::deque<std::int64_t> outages;  // steady, of the last hour: when one that had settled was lost
  bool back_told = false;            // that frames came, since the source last settled
  std::int64_t in = 0, of = 0;
  double usual_step_s = 0;      // between frames of one attempt
  int given_up = 0;             // readers of ours that hang
  std::int64_t hang_since = 0;  // steady; 0: none hung when the last attempt failed, or a frame came since
  std::optional<CapturedFrame> last;
  std::deque<std::int64_t> arrivals;  // steady, of the last seconds

  std::mutex control;  // start() and stop()
  std::thread supervisor;

  // --- a reader's thread ---

  void read(const std::shared_ptr<Attempt>& attempt) {
    bool failed = false;
    std::string why;
    try {
      vision::SourceOptions source_options = options.source;
      source_options.stop = &attempt->stop;
      source_options.abandoned_reads = abandoned_reads;
      // Not the caller's own: a read that hangs and comes back may outlive what that one uses.
      if (options.source.on_unreadable)
        source_options.on_unreadable = [this, &attempt](const std::string& text) { leaveOut(*attempt, text); };
      const std::unique_ptr<vision::FrameSource> source = factory(source_options);
      if (!source) throw Error("there is no source");
      opened(*attempt, source->size().value_or(0));
      while (!attempt->stop) {
        std::optional<vision::Frame> frame = source->next();
        if (!frame) break;
        if (frame->image.empty()) throw Error("the source gave an empty frame");
        deliver(*attempt, std::move(*frame));
        waitForConsumer(*attempt);
      }
    } catch (const std::exception& error) {
      failed = true;
      why = vision::redactCredentials(error.what());
    }
    const std::lock_guard lock(mutex);
    attempt->finished = true;
    attempt->failed = failed;
    attempt->message = std::move(why);
    if (current.get() != attempt.get()) --given_up;  // and came back after all
    changed.notify_all();
  }

  void opened(Attempt& attempt, std::int64_t frames_it_has) {
    const std::lock_guard lock(mutex);
    attempt.heartbeat = steadyNow();
    attempt.opened = true;
    of = frames_it_has;
  }

  void leaveOut(Attempt& attempt, const std::string& text) {
    const std::lock_guard lock(mutex);
    attempt.heartbeat = steadyNow();
    ++attempt.left_out;
    attempt.unreadable.push_back(vision::redactCredentials(text));
    changed.notify_all();
  }

  void deliver(Attempt& attempt, vision::Frame frame) {
    const std::lock_guard lock(mutex);
    if (current.get() != &attempt || stopping) return;
    ++attempt.delivered;
    CapturedFrame captured{.image = std::move(frame.image),
                           .id = ++in,
                           .stream = options.stream,
                           .time = frame.unix_time ? toMs(*frame.unix_time) : options.now(),
                           .steady = steadyNow(),
                           .name = std::move(frame.name)};
    attempt.heartbeat = captured.steady;
    if (const auto last_frame = std::exchange(attempt.last_frame, captured.steady); last_frame > 0) {
      const double step = static_cast<double>(captured.steady - last_frame) / 1000;
      usual_step_s = usual_step_s == 0 ? step : 0.8 * usual_step_s + 0.2 * step;
    }
    arrivals.push_back(captured.steady);
    while (arrivals.front() < captured.steady - kFpsSpanMs) arrivals.pop_front();
    last = captured;
    hang_since = 0;
    message.clear();
    if (attempt.live_since == 0) {
      attempt.live_since = captured.steady;
      told = std::exchange(back_told, true);
    }
    const std::int64_t live = captured.steady - attempt.live_since;
    if (live >= toMs(options.settled_s)) failures = 0;
    if (live >= settlingTime()) {
      reasons.clear();
      told = back_told = false;
    }
    state = CaptureState::kLive;
    frames->put(std::move(captured));  // under the lock, so that none is put after stop()
    changed.notify_all();
  }

  void waitForConsumer(Attempt& attempt) {
    if (!options.lossless && options.max_fps == 0) return;
    std::int64_t next = 0;
    {
      const std::lock_guard lock(mutex);
      next = attempt.heartbeat + (options.max_fps > 0 ? static_cast<std::int64_t>(1000 / options.max_fps) : 0);
      attempt.heartbeat = -1;
    }
    if (options.lossless)
      while (!attempt.stop && !frames->waitEmpty(50ms)) continue;
    std::unique_lock lock(mutex);
    while (!attempt.stop && steadyNow() < next)
      changed.wait_for(lock, std::chrono::milliseconds(std::min<std::int64_t>(50, next - steadyNow())));
    attempt.heartbeat = steadyNow();
  }

  // One that settles just to be lost again would be an event a minute for a year: each time in an hour it must last
  // twice as long.
  std::int64_t settlingTime() const {
    const auto again = std::min<std::size_t>(outages.empty() ? 0 : outages.size() - 1, 20);
    return std::min(toMs(options.settled_s) << again, std::max<std::int64_t>(kHourMs, toMs(options.settled_s)));
  }

  // Whether this was told since the source last settled.
  bool toldBefore(const std::string& reason) {
    if (reasons.empty()) {
      const std::int64_t now = steadyNow();
      while (!outages.empty() && outages.front() < now - kHourMs) outages.pop_front();
      outages.push_back(now);
    }
    return reasons.size() >= kMaxReasons || !reasons.insert(reason).second;
  }

  // --- the supervisor's thread ---

  void supervise() {
    std::unique_lock lock(mutex);
    std::pair reported(CaptureState::kIdle, false);
    const auto report = [&] {
      const std::pair now_is(state, state == CaptureState::kLive && told);  // back for a moment, back for good
      if (now_is == reported || !on_state) return;
      reported = now_is;
      const CaptureStatus now = statusLocked();
      lock.unlock();
      on_state(now);
      lock.lock();
    };
    while (!stopping) {
      const auto attempt = std::make_shared<Attempt>();
      attempt->heartbeat = steadyNow();
      current = attempt;
      state = CaptureState::kOpening;
      try {
        std::thread([self = shared_from_this(), attempt] { self->read(attempt); }).detach();
      } catch (const std::system_error& error) {
        attempt->finished = attempt->failed = true;
        attempt->message = std::string("no thread can be made to read it: ") + error.what();
      }
      watch(lock, *attempt, report);
      tellUnreadable(lock, *attempt);
      attempt->stop = true;
      if (!attempt->finished) ++given_up;
      current = nullptr;
      if (stopping) break;
      if (attempt->finished && !attempt->failed && options.reconnect) attempt->message = "the stream ended";
      if (!attempt->failed && attempt->left_out > 0)
        attempt->message = std::to_string(attempt->left_out) + " of " +
                           std::to_string(attempt->left_out + attempt->delivered) + " pictures could not be read";
      message = attempt->message;
      if (!options.reconnect) {
        state = CaptureState::kEnded;
        report();
        changed.wait(lock, [&] { return stopping; });
        break;
      }
      waitForRetry(lock, report);
    }
    state = CaptureState::kIdle;
    report();
  }

  // Until the attempt is over: it ended, it hangs, or nobody wants it any more.
  template <typename Report>
  void watch(std::unique_lock<std::mutex>& lock, Attempt& attempt, const Report& report) {
    // The source has the same time-out and says best what is wrong; ours is for one that cannot keep it.
    const std::int64_t patience = toMs(options.source.timeout_s + std::min(2.0, options.source.timeout_s / 2));
    while (!stopping && !attempt.finished) {
      if (tellUnreadable(lock, attempt)) continue;  // much may have happened meanwhile
      const std::int64_t stall = toMs(std::max(options.stall_s, 3 * usual_step_s));
      const std::int64_t now = steadyNow();
      const std::int64_t silent = attempt.heartbeat < 0 ? 0 : now - attempt.heartbeat;
      if (silent >= patience) {
        attempt.failed = true;
        attempt.message = (attempt.opened ? "no frame for " : "no answer within ") +
                          secondsText(static_cast<double>(patience) / 1000) + " s, the read hangs";
        return;
      }
      if (state == CaptureState::kLive && silent >= stall) {
        state = CaptureState::kStalled;
        told = toldBefore("stalled");
        attempt.live_since = 0;
      }
      report();
      const std::int64_t wait = std::min(patience, state == CaptureState::kLive ? stall : patience) - silent;
      changed.wait_for(lock, std::chrono::milliseconds(std::clamp<std::int64_t>(wait, 1, 1000)));
    }
  }

  bool tellUnreadable(std::unique_lock<std::mutex>& lock, Attempt& attempt) {
    const auto unreadable = std::exchange(attempt.unreadable, {});
    if (unreadable.empty()) return false;
    lock.unlock();
    for (const std::string& why : unreadable) options.source.on_unreadable(why);
    lock.lock();
    return true;
  }

  template <typename Report>
  void waitForRetry(std::unique_lock<std::mutex>& lock, const Report& report) {
    do {
      const std::size_t step = std::min<std::size_t>(static_cast<std::size_t>(failures), options.backoff_s.size() - 1);
      ++failures;
      retry_at = steadyNow() + toMs(options.backoff_s[step]);
      state = CaptureState::kRetrying;
      if (hanging() == 0)
        hang_since = 0;
      else if (hang_since == 0)
        hang_since = steadyNow();
      if (hanging() >= options.max_hanging)
        message = std::to_string(hanging()) + " reads hang and none has returned: no further attempt until one does";
      told = toldBefore(message);
      report();
      while (!stopping && steadyNow() < retry_at)
        changed.wait_for(lock, std::chrono::milliseconds(std::clamp<std::int64_t>(retry_at - steadyNow(), 1, 1000)));
    } while (!stopping && hanging() >= options.max_hanging);
  }

  int hanging() const { return given_up + *abandoned_reads; }

  CaptureStatus statusLocked() const {
    const std::int64_t now = steadyNow();
    CaptureStatus status;
    status.state = state;
    status.attempt = failures;
    if (state == CaptureState::kRetrying)
      status.retry_in_s = static_cast<double>(std::max<std::int64_t>(0, retry_at - now)) / 1000;
    status.message = message;
    status.told =
        told && (state == CaptureState::kRetrying || state == CaptureState::kLive || state == CaptureState::kStalled);
    status.in = in;
    status.of = of;
    status.dropped = frames->dropped() - dropped_before;
    if (last) status.frame_age_s = static_cast<double>(now - last->steady) / 1000;
    const auto recent = std::lower_bound(arrivals.begin(), arrivals.end(), now - kFpsSpanMs);
    const auto count = arrivals.end() - recent;
    if (count > 1 && arrivals.back() > *recent)
      status.fps = static_cast<double>(count - 1) * 1000 / static_cast<double>(arrivals.back() - *recent);
    status.hanging = hanging();
    if (hang_since > 0 && hanging() > 0) status.hang_s = static_cast<double>(now - hang_since) / 1000;
    return status;
  }
};

Capture::Capture(SourceFactory factory, CaptureOptions options, std::shared_ptr<FrameMailbox> frames,
                 StateCallback on_state) {
  options.validate();
  impl_ = std::make_shared<Impl>(std::move(factory), std::move(options), std::move(frames), std::move(on_state));
}

Capture::~Capture() { stop(); }

void Capture::start() {
  const std::lock_guard control(impl_->control);
  if (impl_->supervisor.joinable()) return;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = false;
    impl_->failures = 0;
    impl_->message.clear();
    impl_->hang_since = 0;
    impl_->reasons.clear();
    impl_->outages.clear();
    impl_->told = impl_->back_told = false;
  }
  impl_->supervisor = std::thread([impl = impl_.get()] { impl->supervise(); });
}

void Capture::stop() {
  const std::lock_guard control(impl_->control);
  if (!impl_->supervisor.joinable()) return;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    if (impl_->current) impl_->current->stop = true;
  }
  impl_->changed.notify_all();
  impl_->supervisor.join();
  impl_->supervisor = {};
}

CaptureStatus Capture::status() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->statusLocked();
}

std::optional<CapturedFrame> Capture::last() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->last;
}

}  // namespace mpm::monitor
