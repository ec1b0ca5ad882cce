// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "vision/camera_clock.h"

namespace mpm::monitor {

/// Elevation of the sun's centre above the flat horizon in degrees, without refraction, to about 0.02 degrees.
/// Degrees north and east.
double sunElevation(UnixMs time, double latitude, double longitude);

/// Night while the sun stands lower than `night_below` degrees: -6 is the end of civil twilight, when people need
/// light.
struct NightBySun {
  double latitude = 0, longitude = 0;
  double night_below = -6;
  friend bool operator==(const NightBySun&, const NightBySun&) = default;
};

/// Night once the mean grey value (0..255) falls below `night_below`, day once it rises above `day_above`.
struct NightByBrightness {
  /// The usual `day_above`: far enough above the night that a lamp or a cloud does not turn one into the other.
  static constexpr double dayAbove(double night_below) { return std::min(255.0, 1.3 * night_below + 5); }

  double night_below = 40;
  double day_above = dayAbove(night_below);
  friend bool operator==(const NightByBrightness&, const NightByBrightness&) = default;
};

/// Night from `from` to `to`, minutes after midnight; over midnight when to < from.
struct NightByHours {
  int from = 21 * 60, to = 6 * 60;
  std::optional<vision::CameraClock> clock{};  ///< of the camera; nullopt: that of this machine
  friend bool operator==(const NightByHours&, const NightByHours&) = default;
};

using NightRule = std::variant<std::monostate, NightBySun, NightByBrightness, NightByHours>;

/// "21:00-06:30". Throws mpm::Error on anything else.
NightByHours parseNightHours(const std::string& text);

/// "06:30" for 390 minutes after midnight.
std::string clockText(int minutes);

/// For people: "the sun is below -6 degrees at 48.1 north, 11.6 east"; "" where nothing tells night from day.
std::string toText(const NightRule& rule);
/// The inverse of toText(): the rule that a session of a database has. Hours come back without their clock. nullopt for
/// any other text.
std::optional<NightRule> readNightRule(const std::string& text);

/// Throws mpm::Error for a latitude beyond the poles, a band upside down, an hour that is none.
void validate(const NightRule& rule);

/// Tells day from night, sample by sample. Not thread-safe.
class DayNight {
 public:
  /// Throws as validate().
  explicit DayNight(NightRule rule = {});

  /// Another rule from now on. A band of brightness goes on from what the one before said. Throws as validate().
  void setRule(const NightRule& rule);
  /// nullopt without a rule. `brightness` is looked at by NightByBrightness alone, which starts with the middle of its
  /// band as the border.
  std::optional<bool> night(UnixMs time, double brightness);
  /// What was decided of the sample before, by an earlier watch: a band of brightness goes on from there.
  void goOn(const std::optional<bool>& last) { last_ = last ? last : last_; }

 private:
  std::optional<bool> decide(UnixMs time, double brightness) const;

  NightRule rule_;
  std::optional<bool> last_;
};

/// Token counts (after the last insertion) of one hour by day or by night: how often each came. Counts are kept to a
/// tenth of a token, which is exact but for means over windows.
struct HourOfTokens {
  UnixMs start = 0;
  bool night = false;
  std::vector<std::pair<double, std::int64_t>> occurrences{};  // each number of tokens once, ascending
};

struct Summary {
  std::int64_t samples = 0;  ///< 0: the rest means nothing
  double mean = 0, median = 0, p90 = 0, min = 0, max = 0;
};

/// mean(night) - mean(day), in tokens.
struct Difference {
  double tokens = 0;
  /// Half the width of the 95 % interval; nullopt with too few samples (fewer than two blocks on a side).
  std::optional<double> plus_minus;
  /// The unit of one independent observation: a whole day or night (from three of each on), else an hour.
  enum class Block { kHour, kPeriod } block = Block::kHour;
  int day_blocks = 0, night_blocks = 0;

  /// True when the interval does not contain zero.
  bool significant() const { return plus_minus && (tokens > *plus_minus || tokens < -*plus_minus); }
};

struct DayNightStatistics {
  Summary day, night;
  std::optional<Difference> difference;  ///< nullopt unless there are both
  /// Mean of the last 24 hours less the mean of the 24 hours before, by day and by night; nullopt without both.
  std::optional<double> day_change, night_change;
  std::vector<UnixMs> hours{};  ///< starts of the hours that have samples by day or by night, ascending
  /// Mean grey value, 0..255, of the darkest and the brightest sample where all are of the day or all of the night, as
  /// StoreReader::dayNight() finds them: a hint for another rule.
  std::optional<std::pair<double, double>> brightness;
};

/// Summary of values with how often each occurs.
Summary summarize(const std::map<double, std::int64_t>& occurrences);

/// Frames of one night are no independent observations: light, weather and traffic last for hours, so the standard
/// error over frames would be far too small. One block is one whole day or one whole night where there are three of
/// each; otherwise an hour, its effective number reduced by the lag-1 autocorrelation of the hours. Days are cut at
/// midnight and nights at noon, every 24 hours: noon is the time of the day around which the hours of day lie, those of
/// night opposite. So the shortest night parts two days, and a polar day is as many as it has lasted. An hour of which
/// a side holds no more than a twentieth of the samples is in no block of that side. Welch's interval on the block
/// means, weighted by their samples so that they average to the mean over all of these. Not a bootstrap: with the
/// handful of blocks of a first week a bootstrap's interval is too narrow, Student's quantile is made for it.
/// `hours` in any order; `now` ends the "last 24 hours".
DayNightStatistics compareDayNight(const std::vector<HourOfTokens>& hours, UnixMs now);

}  // namespace mpm::monitor
