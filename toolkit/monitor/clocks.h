// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "vision/time.h"

namespace mpm::monitor {

inline std::chrono::steady_clock::duration inSeconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

/// Seconds before the second, third, ... attempt to reach a camera or a server; the last one repeats.
inline constexpr std::array<double, 5> kRetryWaitsS = {1, 2, 5, 10, 30};

/// Events per second over the last 5 s. Not thread-safe.
class Rate {
 public:
  void add(std::int64_t steady) {
    times_.push_back(steady);
    while (times_.front() < steady - kSpanMs) times_.pop_front();
  }
  /// 0 with fewer than two events.
  double perSecond(std::int64_t steady) const {
    const auto recent = std::lower_bound(times_.begin(), times_.end(), steady - kSpanMs);
    const auto count = times_.end() - recent;
    if (count < 2 || times_.back() == *recent) return 0;
    return static_cast<double>(count - 1) * kSecondMs / static_cast<double>(times_.back() - *recent);
  }

 private:
  static constexpr std::int64_t kSpanMs = 5 * kSecondMs;
  std::deque<std::int64_t> times_;
};

/// Finds jumps of the wall clock (set by hand, by NTP, a machine that slept) against the clock that never jumps.
/// Not thread-safe.
class ClockDetector {
 public:
  /// Both clocks, read together. By how many ms the wall clock jumped since the last call (negative: back), if it did.
  std::optional<std::int64_t> jump(UnixMs wall, std::int64_t steady) {
    constexpr std::int64_t kJumpMs = 2 * kSecondMs;
    const std::int64_t offset = wall - steady;
    const std::int64_t by = offset_ ? offset - *offset_ : 0;
    offset_ = offset;  // also after a small step, so that slow corrections never add up to a jump
    return std::llabs(by) > kJumpMs ? std::optional(by) : std::nullopt;
  }

 private:
  std::optional<std::int64_t> offset_;
};

/// Decides when the wall clock can be trusted for ages, so that a clock that is wrong for a minute makes nothing old:
/// not while it lies more than a pause beyond where the clock that never jumps puts it, until it has done so for an
/// hour. Not thread-safe.
class SettledClock {
 public:
  /// `believed`: a time that was right before; nullopt: none is known, and the first look is believed. `pause`: for so
  /// long the machine may be off, in ms.
  explicit SettledClock(std::optional<UnixMs> believed, UnixMs pause = kDayMs) : believed_(believed), pause_(pause) {}

  /// Both clocks, read together.
  bool believes(UnixMs wall, std::int64_t steady) {
    if (!believed_) believed_ = wall;
    if (!believed_at_) believed_at_ = steady;
    if (wall - *believed_ - (steady - *believed_at_) > pause_) {
      if (!doubted_since_) doubted_since_ = steady;
      if (steady - *doubted_since_ < kHourMs) return false;
    }
    doubted_since_.reset();
    believed_ = wall;
    believed_at_ = steady;
    return true;
  }

 private:
  std::optional<UnixMs> believed_;
  UnixMs pause_;
  std::optional<std::int64_t> believed_at_, doubted_since_;  // steady
};

}  // namespace mpm::monitor
