// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/pace.h"
#include "monitor/store/sample.h"
#include "mpm/reuse.hpp"
#include "vision/time.h"

namespace mpm::monitor {

inline constexpr const char* kNoFrame = "no-frame";

/// One alarm, as parseAlarm() reads it.
struct Alarm {
  std::string region{};    ///< empty: the whole picture
  std::string quantity{};  ///< a number of the picture or the region, kNoFrame, the name of a class or of states
  std::string state{};     ///< rings while the states show this one; empty: a limit
  bool above = true;       ///< rings above the limit, else below it
  double limit = 0;        ///< of a class in percent of the pixels, of kNoFrame in seconds

  bool isSilence() const { return quantity == kNoFrame; }
  /// A number of samples, with a limit.
  bool ofSamples() const { return state.empty() && !isSilence(); }
  /// Of a class.
  bool isArea() const { return ofSamples() && !findQuantity(quantity); }
  friend bool operator==(const Alarm&, const Alarm&) = default;
};

/// "[REGION:]QUANTITY<NUMBER" or with ">": "car>20", "tree:gcc<0.35", "tokens>900", "no-frame>60"; or "NAME=STATE" of
/// states. Throws mpm::Error for another text.
Alarm parseAlarm(const std::string& text);
/// The inverse.
std::string toString(const Alarm& alarm);

/// Where an alarm stands, as it is stored.
struct AlarmState {
  std::string rule{};  ///< toString() of the alarm
  UnixMs since = 0;    ///< its number has been outside since this sample, or no frame came at this time
  bool rings = false;  ///< its event has been reported

  friend bool operator==(const AlarmState&, const AlarmState&) = default;
};

struct AlarmOptions {
  std::vector<Alarm> alarms{};
  double minutes =
      1;  ///< all but kNoFrame and states: how long a value must be outside, without a break, before the alarm starts
  /// An alarm ends only once the value is back inside by this share of the limit, so that a value on the limit does not
  /// ring all day.
  double hysteresis = 0.05;

  /// Throws mpm::Error for an empty band and a negative time.
  void validate() const;
  friend bool operator==(const AlarmOptions&, const AlarmOptions&) = default;
};

/// Watches samples; returns an event when an alarm begins and one when it ends. Not thread-safe.
class Alarms {
 public:
  /// `every_s`: how often a sample is meant to come (PaceMeter); 0: as they like.
  explicit Alarms(AlarmOptions options, double every_s = 0);

  /// Durations are measured by `steady` (ms), so a jump of the wall clock rings nothing.
  std::vector<Event> add(const Sample& sample, std::int64_t steady);
  /// To be called every second or so. `frame_age_s` < 0: no frame yet.
  std::vector<Event> tick(UnixMs time, std::int64_t steady, double frame_age_s);

  /// Area alarms mean classes by name: another model numbers them otherwise. From here on `names` are those of the
  /// model. The alarm of a class that it does not have rests, which is an event.
  std::vector<Event> setClasses(const std::vector<std::string>& names, UnixMs time);
  /// The regions that are measured. The alarm of another one rests, which is an event.
  std::vector<Event> setRegions(const std::vector<std::string>& names, UnixMs time);

  /// The heads of states that are read, by their names. The alarm of another one rests, which is an event.
  std::vector<Event> setHeads(const std::map<std::string, std::string>& heads, UnixMs time);

  /// Those that ring or will.
  std::vector<AlarmState> states() const;
  /// Goes on where an earlier run of the program ended: an alarm that rang still rings, without a new event; one that
  /// is not watched for any more ends, which is an event. `states`: as states() gave them. `samples`: times of the last
  /// samples, ascending. `now` and `steady` are the same moment, by the clock of `states` and by the clock of add().
  std::vector<Event> resume(const std::vector<AlarmState>& states, const std::vector<UnixMs>& samples, UnixMs now,
                            std::int64_t steady);

  /// The alarms, as they were given, and whether each rings.
  std::vector<std::pair<Alarm, bool>> ringing() const;

  /// Takes the place of `before`: an alarm that both have goes on; one that rang and is not watched for any more ends,
  /// which is an event.
  std::vector<Event> follow(const Alarms& before, UnixMs time);

 private:
  struct Limit {
    Alarm alarm;
    std::optional<int> label{};                   // of a class; the alarm rests while the model does not have it
    bool rested = false;                          // and this was reported
    std::optional<std::int64_t> outside_since{};  // steady
    UnixMs since = 0;                             // the time of that sample, or when it began to ring
    bool ringing = false;

    std::string name() const;  // "tokens", "area of car", "missing frames"
    std::string text(double value) const;
    std::string side() const;  // "above 20 %"
    std::optional<double> valueOf(const Sample& sample) const;
    bool outside(double value) const { return alarm.above ? value > alarm.limit : value < alarm.limit; }
    bool backInside(double value, double hysteresis) const;
    void rest(std::optional<Event> why, std::vector<Event>& events);  // or no longer
  };

  static Event takenOut(const std::string& name, UnixMs time);
  static std::string nameOf(const std::string& rule);

  AlarmOptions options_;
  std::vector<Limit> limits_;
  std::optional<std::int64_t> last_sample_;  // steady
  PaceMeter pace_;
  std::optional<std::int64_t> first_tick_;
};

/// Notices that the reuse of rows agrees less with the full model than wanted, and goes on doing so (docs/reuse.md).
class ReuseDetector {
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
