// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <string>

#include "base/json_file.h"
#include "monitor/statistics/day_night.h"
#include "program/model_options.h"
#include "vision/pictures/simulated_night.h"
#include "vision/times/picture_times.h"

namespace mpm::cli {

/// --times and --time-zone: when pictures were taken.
void addTimes(CLI::App& verb, vision::TimeOptions& options);

/// --time-zone of what `meaning` says: minutes east of UTC.
CLI::Option* addTimeZone(CLI::App& verb, std::optional<int>& zone, const std::string& meaning);

/// What --lat and --lon, --night-brightness and --night-hours say.
struct NightRuleOptions {
  std::optional<double> latitude, longitude, brightness;
  std::optional<std::string> hours;

  /// monostate: none was given. Throws UsageError for several rules at once, and for half of one.
  monitor::NightRule rule() const;
};

void addNightRule(CLI::App& verb, NightRuleOptions& options);

/// Images as they are, or at a simulated night as in the paper.
struct Night {
  bool on = false;
  vision::NightOptions options{};

  /// `image` itself, or what is left of it at night; `number` makes the noise of each image different.
  cv::Mat applied(const cv::Mat& image, int number) const {
    return on ? vision::simulateNight(image, options, static_cast<std::uint64_t>(number)) : image;
  }
};

/// {"gain", "electrons", "thermal"}; null by day.
Json toJson(const Night& night);

/// --simulate-night, which is off unless `night` is on already, and --electrons and --thermal, its noise.
void addNight(CLI::App& verb, Night& night);

}  // namespace mpm::cli
