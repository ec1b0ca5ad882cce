// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "vision/time.h"

namespace mpm::monitor {

/// How often samples of a source come, and so what is missing: the one answer to "is there a gap?" and "is the camera
/// alive?". A machine that is too slow for what was asked of it has a slow pace, and no gaps.
struct Pace {
  double usual_s = 0;  ///< three of four samples come within this time of the one before; no less than was asked for

  /// A longer time between two samples is a gap: more than two samples are missing. Not so a machine that is busy for a
  /// moment.
  double gapAfter() const { return std::max(2.5 * usual_s, 10.0); }
  /// For so many seconds after its last sample a camera is alive: until a gap is certain, and what came in time has
  /// been stored and sent.
  double aliveFor() const { return gapAfter() + 60; }
  bool alive(UnixMs last, UnixMs now) const { return static_cast<double>(now - last) <= aliveFor() * kSecondMs; }
};

/// Follows the pace of a source while its samples come, by the last times between them. So a pace that changes is known
/// after a few samples, and a gap changes nothing. Not thread-safe.
class PaceMeter {
 public:
  static constexpr std::size_t kSteps = 15;

  /// `every_s`: how often a sample is meant to come; 0: as they like.
  explicit PaceMeter(double every_s = 0) : every_s_(every_s) {}

  /// Takes the time since the sample before. True: it was a gap, by the pace until then.
  bool add(double step_s);
  Pace pace() const;
  bool known() const { return steps_.size() > kSteps / 2; }  ///< not by `every_s` alone

 private:
  double every_s_;
  std::deque<double> steps_;
};

/// The time between samples that are stored.
struct StoredStep {
  double seconds = 0;  ///< from the start of one stretch to that of the next that has samples
  double samples = 1;  ///< of the first of both
  double every_s = 0;  ///< how often a sample was meant to come by then; 0: as they liked
  double width_s = 0;  ///< of the first stretch; 0: it is one sample
};

/// Pace::usual_s around each of these steps, in order: of seven before it and seven after it.
std::vector<double> usualSteps(const std::vector<StoredStep>& steps);

/// Which of these steps, in order, are gaps, by the pace around each: as PaceMeter, with as many steps after it as
/// before. `usual`: usualSteps() of them. `archive`: pauses of two hours to a day are nights, and no gaps, if there is
/// one in two days or more, longer pauses left out, and most days around have no picture in their middle either.
std::vector<bool> findGaps(const std::vector<StoredStep>& steps, const std::vector<double>& usual, bool archive);

/// What a camera is to give, and gives.
struct Reached {
  double every_s = 0;  ///< 0: as samples like to come
  double usual_s = 0;  ///< Pace::usual_s; 0: not known
};

/// Notices that a machine is too slow for what was asked of it. Not thread-safe.
class SlowPaceDetector {
 public:
  /// `cameras`: all that are watched. Text for a person when some of them have got a sample in more than twice the
  /// time that was asked for, for as long as each of them needs to show it, and when all are in time again. Once a day
  /// at most.
  std::optional<std::string> look(const std::vector<Reached>& cameras, std::int64_t steady);
  bool slow() const { return slow_; }

 private:
  std::optional<std::int64_t> since_{}, said_{};  // steady
  bool slow_ = false, told_ = false;              // and this was told
};

}  // namespace mpm::monitor
