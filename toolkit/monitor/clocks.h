// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "vision/time.h"

namespace mpm::monitor {

/// Events per second over the last 5 s. Not thread-safe.
class Rate {
 public:
  void add(std::int64_t steady);
  /// 0 with fewer than two events.
  double perSecond(std::int64_t steady) const;

 private:
  std::deque<std::int64_t> times_;
};

/// Finds jumps of the wall clock (set by hand, by NTP, a machine that slept) against the clock that never jumps.
/// Not thread-safe.
class ClockWatch {
 public:
  /// Both clocks, read together. By how many ms the wall clock jumped since the last call (negative: back), if it did.
  std::optional<std::int64_t> jump(UnixMs wall, std::int64_t steady);

 private:
  std::optional<std::int64_t> offset_;
};

/// Decides when the wall clock can be trusted for ages, so that a clock that is wrong for a minute makes nothing old:
/// not while it lies more than a day beyond where the clock that never jumps puts it, until it has done so for an hour.
/// Not thread-safe.
class SettledClock {
 public:
  /// A time that was right before; nullopt: none is known, and the first look is believed.
  explicit SettledClock(std::optional<UnixMs> believed) : believed_(believed) {}

  /// Both clocks, read together.
  bool believes(UnixMs wall, std::int64_t steady);

 private:
  std::optional<UnixMs> believed_;
  std::optional<std::int64_t> believed_at_, doubted_since_;  // steady
};

}  // namespace mpm::monitor
