// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>

#include "vision/time.h"

namespace mpm::vision {

/// Decides whether an item is due at a nominal interval when items arrive at irregular times: pictures of an archive,
/// looks at a small region, pictures of a time-lapse. An item that is at most a tenth of the interval early takes its
/// turn, and the next one is due as if it had been on time, so that many early ones are not more than one in each
/// interval. After a late one the interval counts anew. Two that were due are never less than nine tenths of the
/// interval apart.
class Due {
 public:
  explicit Due(double every_s) : every_(std::llround(every_s * kSecondMs)) {}

  /// Whether one at this time is due: the first one, and one of a clock that went back.
  bool at(UnixMs time) const { return !due_ || time >= *due_ - early() || time < *due_ - 2 * every_; }
  /// The next one on time; nullopt: the first one is due at any time.
  std::optional<UnixMs> next() const { return due_; }
  /// One at this time was taken, whether it was due or not.
  void take(UnixMs time) { due_ = due_ && time >= *due_ - early() && time <= *due_ ? *due_ + every_ : time + every_; }

  /// The shortest time between two that are due, ms.
  UnixMs least() const { return every_ - early(); }

 private:
  UnixMs early() const { return every_ / 10; }

  UnixMs every_;
  std::optional<UnixMs> due_{};
};

}  // namespace mpm::vision
