// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

/// One batch of a few thousand rows, in a transaction of its own. Samples, minutes and events older than `keep_days`
/// go; hours and days stay, a year of them takes a few megabytes. Above `max_bytes` the oldest go: samples but the last
/// hour, minutes but the last day, events but the last day, then hours and days but the last month. 0: no such limit.
Retention forgetSome(Database& database, UnixMs now, double keep_days, std::int64_t max_bytes);

}  // namespace mpm::monitor
