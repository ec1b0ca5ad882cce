// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpm::gui {

/// Sets the wall clock that this program sees, and no other one, by so many seconds for as long as it lives.
class WallClock {
 public:
  explicit WallClock(std::int64_t seconds);
  ~WallClock();
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;
};

}  // namespace mpm::gui
