// SPDX-License-Identifier: Apache-2.0
#include "cli/time_options.h"

#include "mpm/error.hpp"
#include "program/model_options.h"

namespace mpm::cli {
namespace {

// An option whose text `take` reads, or throws mpm::Error.
template <typename Take>
CLI::Option* addText(CLI::App& verb, const std::string& name, const std::string& description, Take take) {
  return verb.add_option_function<std::string>(
      name,
      [name, take](const std::string& text) {
        try {
          take(text);
        } catch (const Error& error) {
          throw CLI::ValidationError(name, error.what());
        }
      },
      description);
}

}  // namespace

void addTimes(CLI::App& verb, vision::TimeOptions& options) {
  addText(verb, "--times",
          "When pictures were taken. auto: their EXIF, else their names, such as 20130708_055413; list: a CSV file of "
          "names and times, before these two; modified: the dates of the files. Default: auto",
          [&options](const std::string& text) {
            const auto zone = options.time_zone;
            options = vision::parseTimes(text);
            options.time_zone = zone;
          })
      ->option_text("auto|exif|name|list:FILE|modified")
      ->group(kTimesGroup);
  addTimeZone(verb, options.time_zone, "Of times without an offset")->group(kTimesGroup);
}

CLI::Option* addTimeZone(CLI::App& verb, std::optional<int>& zone, const std::string& meaning) {
  return addText(verb, "--time-zone",
                 meaning +
                     ": +01:00, or a zone such as Europe/Paris, whose standard time counts all year. Default: the "
                     "standard time of this machine",
                 [&zone](const std::string& text) { zone = vision::parseTimeZone(text); })
      ->option_text("ZONE");
}

}  // namespace mpm::cli
