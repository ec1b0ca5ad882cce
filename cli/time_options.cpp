// SPDX-License-Identifier: Apache-2.0
#include "cli/time_options.h"

#include "program/model_options.h"

namespace mpm::cli {
void addTimes(CLI::App& verb, vision::TimeOptions& options) {
  addText(verb, "--times", "auto|exif|name|list:FILE|modified",
          "When pictures were taken. auto: their EXIF, else their names, such as 20130708_055413; list: a CSV file of "
          "names and times, before these two; modified: the dates of the files. Default: auto",
          [&options](const std::string& text) {
            const auto zone = options.time_zone;
            options = vision::parseTimes(text);
            options.time_zone = zone;
          })
      ->group(kTimesGroup);
  addTimeZone(verb, options.time_zone, "Of times without an offset")->group(kTimesGroup);
}

CLI::Option* addTimeZone(CLI::App& verb, std::optional<int>& zone, const std::string& meaning) {
  return addText(verb, "--time-zone", "ZONE",
                 meaning +
                     ": +01:00, or a zone such as Europe/Paris, whose standard time counts all year. Default: the "
                     "standard time of this machine",
                 [&zone](const std::string& text) { zone = vision::parseTimeZone(text); });
}

}  // namespace mpm::cli
