// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "vision/time.h"

namespace mpm::monitor {

/// Token counts (after the last insertion) of one hour by day or by night: how often each came. Counts are kept to a
/// tenth of a token, which is exact but for means over windows.
struct HourOfTokens {
  UnixMs start = 0;
  bool night = false;
  std::map<double, std::int64_t> occurrences{};
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
