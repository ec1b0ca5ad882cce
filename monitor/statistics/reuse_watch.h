// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "monitor/store/event.h"
#include "mpm/reuse.hpp"

namespace mpm::monitor {

/// Notices that the reuse of rows agrees less with the full model than wanted, and goes on doing so (docs/reuse.md).
class ReuseWatch {
 public:
  /// Key frames in a row. A threshold that is steered falls by a fifth at each of them, so that after five its start of
  /// 6 grey levels has become the lowest, 2.
  static constexpr int kInARow = 6;
  static constexpr double kWanted = 95;  ///< percent, where Reuse::agreement names none

  /// `report`: of each frame, at `time`. An event when the last kInARow key frames agreed less than wanted, and one
  /// when a later one agrees enough.
  std::optional<Event> add(const ReuseReport& report, const Reuse& options, UnixMs time);

 private:
  int below_ = 0;  ///< key frames in a row
};

}  // namespace mpm::monitor
