// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "monitor/store/event.h"
#include "monitor/store/sample.h"
#include "mpm/reuse.hpp"

namespace mpm::monitor {

struct AreaAlarm {
  int label = 0;
  std::string name{};                      ///< of the class, for the message
  std::optional<double> above{}, below{};  ///< share of the pixels, 0..1
};

/// A number of a region; the alarm rests while the region is not measured.
struct RegionAlarm {
  std::string region{};
  std::string quantity{};  ///< as RegionSample::value(), or the name of a class: its share, 0..1
  std::optional<double> above{}, below{};
};

struct AlarmOptions {
  double no_frame_s = 0;                                 ///< alarm after this time without a frame; 0: no such alarm
  std::optional<double> tokens_above{}, tokens_below{};  ///< of the count after the last insertion
  std::vector<AreaAlarm> areas{};
  std::vector<RegionAlarm> regions{};
  double minutes =
      1;  ///< all but no_frame_s: how long a value must be outside, without a break, before the alarm starts
  /// A token or area alarm ends only once the value is back inside by this share of the limit, so that a value on the
  /// limit does not ring all day.
  double hysteresis = 0.05;

  /// Throws mpm::Error for an empty band, an area outside 0..1, a negative time.
  void validate() const;
};

/// Watches samples; returns an event when an alarm begins and one when it ends. Not thread-safe.
class Alarms {
 public:
  explicit Alarms(AlarmOptions options);

  /// Durations are measured by `steady` (ms), so a jump of the wall clock rings nothing.
  std::vector<Event> add(const Sample& sample, std::int64_t steady);
  /// To be called every second or so. `frame_age_s` < 0: no frame yet.
  std::vector<Event> tick(UnixMs time, std::int64_t steady, double frame_age_s);

  /// Area alarms mean classes by name: another model numbers them otherwise. From here on `names` are those of the
  /// model. The alarm of a class that it does not have rests, which is an event.
  std::vector<Event> setClasses(const std::vector<std::string>& names, UnixMs time);

  bool ringing() const;
  /// Watching ends: returns an event for each active alarm.
  std::vector<Event> end(UnixMs time);

 private:
  // One limit on one value, in one direction.
  struct Limit {
    std::string name{};  // "tokens", "area of car"
    std::string unit{};  // " %"
    double scale = 1;    // of the value in messages
    double limit = 0;
    bool above = true;
    std::string class_name{};          // empty: tokens, or a class that has only a number
    std::optional<int> label{};        // class; nullopt: tokens, or a quantity of a region
    std::string region{}, quantity{};  // empty: the whole picture
    bool rests = false;                // the model does not have the class

    std::optional<std::int64_t> outside_since{};
    bool ringing = false;

    std::optional<double> valueOf(const Sample& sample) const;
    bool outside(double value) const { return above ? value > limit : value < limit; }
    bool backInside(double value, double hysteresis) const;
    std::string text(double value) const;
  };

  AlarmOptions options_;
  std::vector<Limit> limits_;
  std::optional<std::int64_t> last_sample_;  // steady
  double usual_step_ms_ = 0;
  bool no_frame_ = false;
  std::optional<std::int64_t> first_tick_;
};

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
