// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "monitor/store/sqlite.h"
#include "vision/time.h"

namespace mpm::monitor {

enum class Retention {
  kDone,      ///< nothing to forget
  kMore,      ///< a batch was deleted; call again, after others had their turn
  kHopeless,  ///< above the limit with nothing left that may go
};

struct RetentionLimits {
  double keep_days = 0;        ///< of `source`, and of events that belong to none
  std::int64_t max_bytes = 0;  ///< of the file, whatever wrote it
  std::int64_t source = 0;     ///< 0: none, and keep_days does nothing
};

/// One batch of a few thousand rows, in its own transaction. Samples, minutes and events older than `keep_days`
/// go; hours and days stay, a year of them takes a few megabytes. Above `max_bytes` the oldest go: samples but the last
/// hour, minutes but the last day, events but the last day, then hours and days but the last month. 0: no such limit.
/// An archive, whose times are those of pictures, is never touched: it is old when it is stored. A scene ages by its
/// newest sample.
Retention forgetSome(Database& database, UnixMs now, const RetentionLimits& limits);

}  // namespace mpm::monitor
