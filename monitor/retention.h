// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "monitor/sqlite.h"
#include "monitor/time.h"

namespace mpm::monitor {

/// Bytes of the database that hold something: pages on the free list will be used again.
std::int64_t usedBytes(const Database& database);

enum class Retention {
  kDone,      ///< nothing to forget
  kMore,      ///< a batch was deleted; call again, after others had their turn
  kHopeless,  ///< above the limit with nothing left that may go
};

struct RetentionLimits {
  double keep_days = 0;        ///< of `sources`, and of events that belong to none
  std::int64_t max_bytes = 0;  ///< of the file, whatever wrote it
  std::set<std::int64_t> sources;
  bool all_sources = false;  ///< instead of `sources`
};

/// One batch of a few thousand rows, in a transaction of its own. Samples, minutes and events older than `keep_days`
/// go; hours and days stay, a year of them takes a few megabytes. Above `max_bytes` the oldest go: samples but the last
/// hour, minutes but the last day, events but the last day, then hours and days but the last month. 0: no such limit.
Retention forgetSome(Database& database, UnixMs now, const RetentionLimits& limits);

/// Says when ages may be told by the wall clock, so that one that is wrong for a minute makes nothing old: not while it
/// lies more than a day beyond where the clock that never jumps puts it, until it has done so for an hour.
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
