// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "vision/sources/source.h"

namespace mpm::vision {

/// Opens sources one after the other, in the order in which they ask. OpenCV's FFmpeg backend holds one lock of the
/// whole process while it opens (4.6 always, later versions unless OPENCV_FFMPEG_IS_THREAD_SAFE is set). That lock is
/// not fair: a camera that never answers takes it again and again, and others would never open. Thread-safe.
class OpeningTurns {
 public:
  /// Those of OpenCV's FFmpeg backend in this process.
  static OpeningTurns& ofFfmpeg();

  /// Waits for its turn, calls `open` and returns what that returns; false without a call where SourceOptions::stop is
  /// set before. While it waits it calls SourceOptions::on_note, so that only its own turn counts as silence of the
  /// source. A call that takes twice its SourceOptions::timeout_s hangs, and the next one takes its turn.
  bool run(const SourceOptions& options, const std::function<bool()>& open);

  /// How many wait.
  std::size_t waiting() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Place {
    std::int64_t ticket;
    std::chrono::duration<double> longest;  // turn
  };

  bool await(std::int64_t ticket, const SourceOptions& options);
  bool waits(std::int64_t ticket) const;  // the mutex is held
  void leave(std::int64_t ticket);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Place> places_;  // the first one has its turn
  Clock::time_point since_;   // when that began
  std::int64_t tickets_ = 0;
};

}  // namespace mpm::vision
