// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "monitor/store/sample.h"
#include "vision/camera_clock.h"

namespace mpm::monitor {

/// Once a day an event "summary" of the day before, by the clock of the camera (docs/tell.md). Not thread-safe.
class DailySummary {
 public:
  /// `hour`: when it is due, 0 to 23.
  DailySummary(int hour, vision::CameraClock clock) : hour_(hour), clock_(std::move(clock)) {}

  /// nullopt: it is not due yet, the database has it, or the source had no sample before today. A day without samples
  /// is summed up, too. `pictures`: a folder of snapshots, or "". Reads the database only once it is due. Throws
  /// mpm::Error.
  std::optional<Event> due(UnixMs now, const std::string& database, const std::string& source,
                           const std::string& pictures);

 private:
  int hour_;
  vision::CameraClock clock_;
  UnixMs done_ = INT64_MIN;  // the day on which it was due last
};

}  // namespace mpm::monitor
