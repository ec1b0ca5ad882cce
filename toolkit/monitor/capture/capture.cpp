// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/capture.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <filesystem>
#include <set>
#include <thread>

#include "monitor/clocks.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxReasons = 20;  // of one outage, which may be reported

std::int64_t toMs(double seconds) { return static_cast<std::int64_t>(std::llround(seconds * 1000)); }

}  // namespace

const char* toString(CaptureState state) {
  constexpr const char* kNames[] = {"Idle", "Opening", "Live", "Stalled", "Retrying", "Ended"};
  return kNames[static_cast<int>(state)];
}

std::string toString(const CaptureStatus& status) {
  std::string text = toString(status.state);
  if (status.state == CaptureState::kRetrying) {
    text += " (" + std::to_string(status.attempt) + ", next in " +
            std::to_string(std::lround(std::ceil(status.retry_in_s))) + " s)";
  }
  if (!status.message.empty()) text += ": " + status.message;
  return text;
}

std::optional<Event> sourceEvent(const CaptureStatus& status, UnixMs time) {
  if (status.state == CaptureState::kIdle || status.state == CaptureState::kOpening || status.reported)
    return std::nullopt;
  const bool gone = status.state == CaptureState::kRetrying || status.state == CaptureState::kStalled;
  return Event{time, EventKind::kSource, gone ? Severity::kWarning : Severity::kInfo, toString(status)};
}

struct CaptureThread::Impl {
  Impl(SourceFactory factory_, CaptureOptions options_, std::shared_ptr<FrameMailbox> frames_, StateCallback callback)
      : factory(std::move(factory_)),
        options(std::move(options_)),
        frames(std::move(frames_)),
        on_state(std::move(callback)),
        dropped_before(frames->dropped()) {
    if (!options.source.abandoned_reads) options.source.abandoned_reads = std::make_shared<std::atomic<int>>(0);
  }

  const SourceFactory factory;
  CaptureOptions options;
  const std::shared_ptr<FrameMailbox> frames;
  const StateCallback on_state;
  const std::int64_t dropped_before;

  mutable std::mutex mutex;
  std::condition_variable changed;
  vision::SourceReader* reader = nullptr;  // of the attempt in progress
  bool stopping = false;
  CaptureStatus status;  // but for what statusLocked() works out
  std::int64_t retry_at = 0;
  std::set<std::string> reasons;                // of the attempts that failed since the last frame
  bool reported = false;                        // the message was among them before
  std::deque<std::int64_t> outages;             // steady, of the last hour: when one that had settled was lost
  bool back_reported = false;                   // that frames came, since the source last settled
  double usual_step_s = 0;                      // between frames of one attempt
  std::int64_t live_since = 0, last_frame = 0;  // steady, of this attempt; 0: no frame yet, or none since it stalled
  std::int64_t asked_since = 0;  // steady: since when the source may give its next frame; 0: it is kept waiting now
  std::int64_t hang_since = 0;   // steady; 0: none hung when the last attempt failed, or a frame came since
  std::pair<CaptureState, bool> last_report{};  // to on_state: the state, and `reported` of Live; Idle at first
  std::optional<CapturedFrame> last;
  Rate arrivals;

  std::thread supervisor;

  // The rest runs on the supervisor's thread, under the mutex.

  void supervise() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      status.state = CaptureState::kOpening;
      const std::string why = readUntilOver(lock);
      if (stopping) break;
      status.message = why;
      if (!options.reconnect) {
        status.state = CaptureState::kEnded;
        report(lock);
        changed.wait(lock, [&] { return stopping; });
        break;
      }
      waitForRetry(lock);
    }
    status.state = CaptureState::kIdle;
    report(lock);
  }

  void report(std::unique_lock<std::mutex>& lock) {
    const std::pair now_is(status.state,
                           status.state == CaptureState::kLive && reported);  // back for a moment, back for good
    if (now_is == last_report || !on_state) return;
    last_report = now_is;
    const CaptureStatus now = statusLocked();
    lock.unlock();
    on_state(now);
    lock.lock();
  }

  // Opens the source and reads it until it ends, fails or hangs, or stop() is called. Why it is over.
  std::string readUntilOver(std::unique_lock<std::mutex>& lock) {
    using Kind = vision::SourceReader::Event::Kind;
    std::optional<vision::SourceReader> attempt;
    try {
      reader = &attempt.emplace(options.name, factory, options.source);
    } catch (const Error& error) {
      return error.what();
    }
    live_since = last_frame = 0;
    std::int64_t delivered = 0, left_out = 0;
    std::optional<std::string> over;
    for (std::int64_t answered = steadyNow(); !stopping && !over;) {
      const std::int64_t patience = toMs(options.source.timeout_s);
      const std::int64_t stall = toMs(std::max(options.stall_s, 3 * usual_step_s));
      const std::int64_t silent = steadyNow() - answered;
      if (silent >= patience) {
        over = reader->hangMessage();
        break;
      }
      if (status.state == CaptureState::kLive && silent >= stall) {
        status.state = CaptureState::kStalled;
        ++status.stalls;
        reported = reportedBefore("stalled");
        live_since = 0;
      }
      report(lock);
      const std::int64_t wait = std::min(patience, status.state == CaptureState::kLive ? stall : patience) - silent;
      lock.unlock();
      vision::SourceReader::Event event =
          reader->next(std::chrono::milliseconds(std::clamp<std::int64_t>(wait, 1, 1000)));
      lock.lock();
      if (stopping || event.kind == Kind::kNone) continue;
      if (event.kind == Kind::kOpened) {
        status.frame_count = event.size.value_or(0);
      } else if (event.kind == Kind::kFrame) {
        ++delivered;
        deliver(std::move(event.frame));
        report(lock);
        waitForConsumer(lock);
      } else if (event.kind == Kind::kUnreadable) {
        ++left_out;
        lock.unlock();
        options.source.on_unreadable(event.text, event.taken);
        lock.lock();
      } else if (event.kind == Kind::kNote) {
        lock.unlock();
        if (!event.text.empty() && options.source.on_note) options.source.on_note(event.text);
        lock.lock();
      } else if (event.kind == Kind::kFailed) {
        over = event.text;
      } else if (options.reconnect) {
        over = "the stream ended";
      } else {
        status.unreadable = left_out;
        over = left_out == 0 ? ""
                             : std::to_string(left_out) + " of " + std::to_string(left_out + delivered) +
                                   " pictures could not be read";
      }
      answered = steadyNow();
    }
    reader = nullptr;
    return over.value_or("");
  }

  void deliver(vision::Frame frame) {
    CapturedFrame captured{.image = std::move(frame.image),
                           .id = ++status.frames_in,
                           .stream = options.stream,
                           .time = frame.unix_time ? toMs(*frame.unix_time) : options.now(),
                           .steady = options.steady(),
                           .name = std::move(frame.name),
                           .needed = options.lossless};
    // Only an image is named after its file alone.
    if (std::filesystem::path(frame.source).stem() == captured.name) captured.file = std::move(frame.source);
    if (last && last_frame == 0) ++status.reconnects;
    if (const auto before = std::exchange(last_frame, captured.steady)) {
      const double step = static_cast<double>(captured.steady - before) / 1000;
      usual_step_s = usual_step_s == 0 ? step : 0.8 * usual_step_s + 0.2 * step;
    }
    arrivals.add(captured.steady);
    last = captured;
    asked_since = captured.steady;
    hang_since = 0;
    status.message.clear();
    if (live_since == 0) {
      live_since = captured.steady;
      reported = std::exchange(back_reported, true);
    }
    const std::int64_t live = captured.steady - live_since;
    if (live >= toMs(options.settled_s)) status.attempt = 0;
    if (live >= settlingTime()) {
      reasons.clear();
      reported = back_reported = false;
    }
    status.state = CaptureState::kLive;
    if (live >= toMs(options.adapt_s)) frames->put(std::move(captured));
  }

  // A consumer that is slow is no fault of the source.
  void waitForConsumer(std::unique_lock<std::mutex>& lock) {
    const std::int64_t next =
        last_frame + (options.max_fps > 0 ? static_cast<std::int64_t>(1000 / options.max_fps) : 0);
    asked_since = 0;
    for (bool taken = !options.lossless; !taken && !stopping;) {
      lock.unlock();
      taken = frames->waitEmpty(50ms);
      lock.lock();
    }
    while (!stopping && steadyNow() < next) changed.wait_for(lock, std::chrono::milliseconds(next - steadyNow()));
    asked_since = steadyNow();
  }

  // One that settles just to be lost again would be an event a minute for a year: each time in an hour it must last
  // twice as long.
  std::int64_t settlingTime() const {
    const auto again = std::min<std::size_t>(outages.empty() ? 0 : outages.size() - 1, 20);
    return std::min(toMs(options.settled_s) << again, std::max<std::int64_t>(kHourMs, toMs(options.settled_s)));
  }

  // Whether this was reported since the source last settled.
  bool reportedBefore(const std::string& reason) {
    if (reasons.empty()) {
      const std::int64_t now = steadyNow();
      while (!outages.empty() && outages.front() < now - kHourMs) outages.pop_front();
      outages.push_back(now);
    }
    return reasons.size() >= kMaxReasons || !reasons.insert(reason).second;
  }

  void waitForRetry(std::unique_lock<std::mutex>& lock) {
    const std::size_t step =
        std::min<std::size_t>(static_cast<std::size_t>(status.attempt), options.backoff_s.size() - 1);
    ++status.attempt;
    retry_at = steadyNow() + toMs(options.backoff_s[step]);
    status.state = CaptureState::kRetrying;
    if (hanging() == 0)
      hang_since = 0;
    else if (hang_since == 0)
      hang_since = steadyNow();
    reported = reportedBefore(status.message);
    report(lock);
    while (!stopping && steadyNow() < retry_at)
      changed.wait_for(lock, std::chrono::milliseconds(std::clamp<std::int64_t>(retry_at - steadyNow(), 1, 1000)));
  }

  int hanging() const { return *options.source.abandoned_reads; }

  CaptureStatus statusLocked() const {
    using enum CaptureState;
    const std::int64_t now = steadyNow();
    CaptureStatus all = status;
    if (all.state == kRetrying) all.retry_in_s = static_cast<double>(std::max<std::int64_t>(0, retry_at - now)) / 1000;
    all.reported = reported && (all.state == kRetrying || all.state == kLive || all.state == kStalled);
    all.dropped = frames->dropped() - dropped_before;
    // What waits for the model, or for its turn, is not silent.
    if (last) all.frame_age_s = asked_since == 0 ? 0 : static_cast<double>(now - asked_since) / 1000;
    all.fps = arrivals.perSecond(now);
    all.hanging = hanging();
    if (hang_since > 0 && hanging() > 0) all.hang_s = static_cast<double>(now - hang_since) / 1000;
    return all;
  }
};

CaptureThread::CaptureThread(SourceFactory factory, CaptureOptions options, std::shared_ptr<FrameMailbox> frames,
                             StateCallback on_state)
    : impl_(std::make_unique<Impl>(std::move(factory), std::move(options), std::move(frames), std::move(on_state))) {}

CaptureThread::~CaptureThread() { stop(); }

void CaptureThread::start() {
  impl_->supervisor = std::thread([impl = impl_.get()] { impl->supervise(); });
}

void CaptureThread::stop() {
  if (!impl_->supervisor.joinable()) return;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    if (impl_->reader) impl_->reader->wake();
  }
  impl_->changed.notify_all();
  impl_->supervisor.join();
}

CaptureStatus CaptureThread::status() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->statusLocked();
}

std::optional<CapturedFrame> CaptureThread::last() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->last;
}

}  // namespace mpm::monitor
