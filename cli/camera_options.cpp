// SPDX-License-Identifier: Apache-2.0
#include "cli/camera_options.h"

#include <algorithm>

#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;

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

monitor::NightRule NightRuleOptions::rule() const {
  const bool sun = latitude || longitude;
  if (sun + brightness.has_value() + hours.has_value() > 1)
    throw UsageError("day and night come from one of --lat with --lon, --night-brightness, --night-hours");
  if (sun && !(latitude && longitude)) throw UsageError("--lat and --lon go together");
  return orUsageError([&] {
    monitor::NightRule rule;
    if (sun) rule = monitor::NightBySun{.latitude = *latitude, .longitude = *longitude};
    if (brightness)
      rule =
          monitor::NightByBrightness{.night_below = *brightness, .day_above = std::min(255.0, 1.3 * *brightness + 5)};
    if (hours) rule = monitor::parseNightHours(*hours);
    monitor::validate(rule);
    return rule;
  });
}

void addNightRule(CLI::App& verb, NightRuleOptions& options) {
  addNumber(verb, "--lat", options.latitude, "DEGREES", -90, 90,
            "By the sun: night while it is 6 degrees below the horizon");
  addNumber(verb, "--lon", options.longitude, "DEGREES", -180, 180, "Degrees north and east");
  addNumber(verb, "--night-brightness", options.brightness, "0..255", 0, 255,
            "By the image: night below this mean grey value");
  addOption(verb, "--night-hours", options.hours, "FROM-TO", "By the clock: 21:00-06:30, local time");
}

Json toJson(const Night& night) {
  if (!night.on) return nullptr;
  const vision::NightOptions& options = night.options;
  return {{"gain", options.gain}, {"electrons", options.electrons}, {"thermal", options.thermal}};
}

void addNight(CLI::App& verb, Night& night) {
  CLI::Option* const gain =
      addNumber(verb, "--simulate-night", night.options.gain, "GAIN", 1e-3, 1,
                night.on ? "Share of the light that is left at night. Default: 0.25"
                         : "Simulate night: keep this share of the light, and add shot noise and thermal noise");
  CLI::Option* const noise[] = {
      addNumber(verb, "--electrons", night.options.electrons, "N", 1, 1e7,
                "Electrons that a white pixel collects by day; fewer mean more shot noise at night. Default: 1500"),
      addNumber(verb, "--thermal", night.options.thermal, "SD", 0, 1,
                "Standard deviation of the thermal noise at night, as a share of white. Default: 0.008")};
  gain->group(kNightGroup);
  for (CLI::Option* option : noise) option->group(kNightGroup);
  if (night.on) return;
  gain->each([&night](const std::string&) { night.on = true; });
  for (CLI::Option* option : noise) option->needs(gain);
}

}  // namespace mpm::cli
