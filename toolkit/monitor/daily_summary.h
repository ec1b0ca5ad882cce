// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "monitor/store/sample.h"
#include "vision/camera_clock.h"

namespace mpm::monitor {

/// Once a day an event "summary" of the day before, by the clock of the camera (docs/tell.md). Where nothing ran when
/// some were due, the last seven of them come at the next look. Not thread-safe.
class DailySummary {
 public:
  /// `hour`: when it is due, 0 to 23. `since`: of a source that has no summary yet, the one that was due last comes,
  /// and those before it from the day before this time on.
  DailySummary(int hour, vision::CameraClock clock, UnixMs since)
      : hour_(hour), clock_(std::move(clock)), since_(since) {}

  /// What is due and not in the database, the oldest first: of each day since the last summary, also of one without
  /// samples, but not of days before the first sample. `pictures`: a folder of snapshots, or "". Reads the database
  /// only once a day. Throws mpm::Error.
  std::vector<Event> due(UnixMs now, const std::string& database, const std::string& source,
                         const std::string& pictures);

 private:
  int hour_;
  vision::CameraClock clock_;
  UnixMs since_;
  UnixMs done_ = INT64_MIN;  // the end of the last day that was summed up
};

}  // namespace mpm::monitor
