// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/clocks.h"
#include "monitor/store/sample.h"
#include "vision/sources/source_reader.h"
#include "vision/time.h"

namespace mpm::monitor {

/// One slot between two threads; the latest value wins. All methods may be called from any thread; none but take(),
/// wait() and waitEmpty() waits, and none allocates.
template <typename T>
class Mailbox {
 public:
  /// Puts a value in the slot. One that was not taken is dropped and counted. After close(): does nothing.
  void put(T value) {
    std::optional<T> dropped(std::move(value));  // freed outside the lock: a frame is megabytes
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (slot_) ++dropped_;
    slot_.swap(dropped);
    changed_.notify_all();
  }

  /// Waits for a value, and leaves it in the slot, where a later one may replace it. False when the time is up, or the
  /// mailbox is closed, or wake() was called.
  bool wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return slot_ || closed_ || woken_; });
    woken_ = false;
    return slot_.has_value();
  }

  std::optional<T> tryTake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return std::exchange(slot_, std::nullopt);
  }

  std::optional<T> take(std::chrono::milliseconds patience) { return wait(patience) ? tryTake() : std::nullopt; }

  /// Waits until the slot is empty: for a producer that may not lose anything. False when the time is up first.
  bool waitEmpty(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return !slot_ || closed_; });
  }

  /// Ends one wait() that waits, or the next.
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }

  /// Empties the slot (not counted as a drop) and ends every wait(), now and later.
  void close() {
    std::optional<T> left;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    slot_.swap(left);
    changed_.notify_all();
  }

  /// Values that were put and never taken.
  std::int64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> slot_;
  std::int64_t dropped_ = 0;
  bool closed_ = false, woken_ = false;
};

struct CapturedFrame {
  cv::Mat image{};          ///< CV_8UC3 BGR; shared, not to be written to
  std::int64_t id = 0;      ///< 1, 2, ... within a CaptureThread, over reconnections
  int stream = 0;           ///< CaptureOptions::stream
  UnixMs time = 0;          ///< when it was taken, if the source says that, else when it arrived
  std::int64_t steady = 0;  ///< the same moment by steadyNow()
  std::string name{};       ///< vision::Frame::name
  std::string file{};       ///< path of an image file; empty: the frame is of a video or camera
  bool needed = false;      ///< CaptureOptions::lossless: a result that is out of date is computed again, not dropped
};

using FrameMailbox = Mailbox<CapturedFrame>;

/// Opens the source for each attempt. Throws mpm::Error where there is none; may hang.
using SourceFactory = vision::SourceReader::Open;

enum class CaptureState {
  kIdle,      ///< not started, or stopped
  kOpening,   ///< no frame yet in this attempt
  kLive,      ///< frames come
  kStalled,   ///< the last frame is older than CaptureOptions::stall_s and three times the usual distance of frames
  kRetrying,  ///< waits for the next attempt
  kEnded,     ///< a file or folder came to its end
};
/// "Idle", "Opening", "Live", "Stalled", "Retrying", "Ended".
const char* toString(CaptureState state);

struct CaptureOptions {
  /// `stop` is ignored: see CaptureThread::stop(). timeout_s: a read that takes longer is abandoned. `abandoned_reads`
  /// null: each CaptureThread has its own counter. `on_unreadable` and `on_note` are called on the CaptureThread's
  /// thread, as StateCallback is; the message of Ended counts these pictures.
  vision::SourceOptions source;
  std::string name = "the source";  ///< in messages, without credentials
  double stall_s = 2;               ///< at least this long without a frame: Stalled
  std::vector<double> backoff_s{kRetryWaitsS.begin(), kRetryWaitsS.end()};  ///< other ones for tests
  bool reconnect = true;  ///< false (files): its end or its failure is Ended
  bool lossless = false;  ///< files: wait until the consumer took each frame, drop none
  double adapt_s = 0;     ///< nothing is taken so soon: a camera adapts to the light
  double max_fps = 0;     ///< take frames not faster than this; 0: no limit
  /// A source that has given frames for so long is back; one that was lost or stalled and gives less goes on being
  /// retried at the pace, and with the events, of its first loss. For the events twice as long each time in an hour.
  double settled_s = 30;
  int stream = 0;  ///< copied into every frame, so that a consumer knows frames of an earlier source
  std::function<UnixMs()> now = unixNow;             ///< CapturedFrame::time, unless the frame says when it was taken
  std::function<std::int64_t()> steady = steadyNow;  ///< CapturedFrame::steady; another one for tests
};

struct CaptureStatus {
  CaptureState state = CaptureState::kIdle;
  int attempt = 0;               ///< Retrying: how many attempts failed in a row
  double retry_in_s = 0;         ///< Retrying: until the next attempt
  std::string message{};         ///< why the last attempt failed; without credentials
  bool reported = false;         ///< Retrying, Live, Stalled: an event said the same since the source last settled
  std::int64_t frames_in = 0;    ///< frames that arrived
  std::int64_t frame_count = 0;  ///< of the whole source; 0: unknown
  /// Of a source that came to its end: pictures besides frames_in that could not be read, which `message` says; else 0.
  std::int64_t unreadable = 0;
  std::int64_t dropped = 0;     ///< of frames_in, replaced in the mailbox before anyone took them
  std::int64_t stalls = 0;      ///< how often the frames stopped for longer than Stalled allows
  std::int64_t reconnects = 0;  ///< how often frames came again after a loss
  double fps = 0;               ///< of arrival, over the last seconds
  /// How long the next frame has been awaited, s; 0 while none is asked for; -1: no frame came yet.
  double frame_age_s = -1;
  int hanging = 0;    ///< abandoned reads that have not returned
  double hang_s = 0;  ///< for how long any hangs and no frame came; 0: none does, or frames come
  /// Some drivers never return, and a read that hangs may prevent the camera from being reopened. The supervisor should
  /// restart the process, which releases them.
  bool stuck() const { return hang_s >= 600; }
};

/// "Live", "Retrying (3, next in 5 s): camera 0 gave no frame for 10 s".
std::string toString(const CaptureStatus& status);

/// The event for a change to `status`: the source came, went, hangs, ended. nullopt for the states on
/// the way there, and for one more attempt that failed as those before it: a camera may be off for a year.
std::optional<Event> sourceEvent(const CaptureStatus& status, UnixMs time);

/// Keeps a source running: opens it, reads it, notices when it hangs, and opens it again. A vision::SourceReader reads
/// it, so no method waits for the source, not even the destructor: a read that hangs for ever is abandoned.
class CaptureThread {
 public:
  /// Called on the CaptureThread's thread at each change of state. May call status(), not stop().
  using StateCallback = std::function<void(const CaptureStatus&)>;

  CaptureThread(SourceFactory factory, CaptureOptions options, std::shared_ptr<FrameMailbox> frames,
                StateCallback on_state = {});
  ~CaptureThread();  ///< stop()

  void start();  ///< once
  void stop();   ///< Idle; no frame is put after it returns

  CaptureStatus status() const;
  /// The last frame that arrived, whatever happened since.
  std::optional<CapturedFrame> last() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::monitor
