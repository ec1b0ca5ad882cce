// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "vision/time.h"

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
  double night_below = 40;
  double day_above = 55;
  friend bool operator==(const NightByBrightness&, const NightByBrightness&) = default;
};

/// Night from `from` to `to`, minutes after midnight; over midnight when to < from.
struct NightByHours {
  int from = 21 * 60, to = 6 * 60;
  std::optional<int> zone{};  ///< minutes east of UTC; nullopt: the local time of this machine
  friend bool operator==(const NightByHours&, const NightByHours&) = default;
};

using NightRule = std::variant<std::monostate, NightBySun, NightByBrightness, NightByHours>;

/// "21:00-06:30". Throws mpm::Error on anything else.
NightByHours parseNightHours(const std::string& text);

/// Throws mpm::Error for a latitude beyond the poles, a band upside down, an hour that is none.
void validate(const NightRule& rule);

/// Tells day from night, sample by sample. Not thread-safe.
class DayNight {
 public:
  /// Throws as validate().
  explicit DayNight(NightRule rule = {});

  /// nullopt without a rule. `brightness` is looked at by NightByBrightness alone, which starts with the middle of its
  /// band as the border.
  std::optional<bool> night(UnixMs time, double brightness);

  const NightRule& rule() const { return rule_; }

 private:
  NightRule rule_;
  std::optional<bool> last_;
};

}  // namespace mpm::monitor
