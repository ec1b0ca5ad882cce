// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <opencv2/core.hpp>
#include <optional>
#include <string>

#include "base/json_file.h"
#include "monitor/watch/watch.h"
#include "program/model_options.h"
#include "program/terminal/program.h"
#include "vision/pictures/simulated_night.h"
#include "vision/times/picture_times.h"

namespace mpm::cli {

/// --times and --time-zone: when pictures were taken.
void addTimes(CLI::App& verb, vision::TimeOptions& options);

CLI::Option* addTimeZone(CLI::App& verb, std::optional<int>& zone);

/// The options of the fields of watch files under this heading; nullptr: of all, but reduce, which has short forms.
void addWatchFields(CLI::App& verb, monitor::Watch& watch, const char* group = nullptr);

/// Returns what `work` does, whose monitor::WatchError becomes one that names the option, or where a file has the key.
template <typename Work>
auto orOptionError(Work&& work, const std::map<std::string, std::string>& places = {}) {
  try {
    return work();
  } catch (const monitor::WatchError& error) {
    const auto place = places.find(error.key);
    const std::string option = error.key == "source" ? "" : "--" + error.key + ": ";
    const std::string why = (place == places.end() ? option : place->second + ": ") + error.what();
    if (error.in_file) throw Error(why);
    throw program::UsageError(why);
  }
}

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
