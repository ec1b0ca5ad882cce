// SPDX-License-Identifier: Apache-2.0
#include "cli/camera_options.h"

#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;

void addTimes(CLI::App& verb, vision::TimeOptions& options) {
  addField(verb, "times", [&options](const std::string& text) {
    const auto zone = options.time_zone;
    options = vision::parseTimes(text);
    options.time_zone = zone;
  });
  addTimeZone(verb, options.time_zone);
}

CLI::Option* addTimeZone(CLI::App& verb, std::optional<int>& zone) {
  return addField(verb, "time-zone", [&zone](const std::string& text) { zone = vision::parseTimeZone(text); });
}

namespace {

// Adds the option of a field to a verb.
struct AddField {
  CLI::App& verb;
  monitor::Watch& watch;
  const monitor::WatchField& field;
  std::string name = field.key == "source" ? "SOURCE" : "--" + field.key;

  CLI::Option* operator()(bool monitor::Watch::*member) const {
    return verb.add_flag(name, watch.*member, field.help());
  }
  CLI::Option* operator()(std::optional<double> monitor::Watch::*member) const {
    return addNumber(verb, name, watch.*member, field.unit, field.min, field.max, field.help());
  }
  template <typename Texts>
  CLI::Option* operator()(Texts monitor::Watch::*member) const {
    const auto problem = problemOf([&of = field](const std::string& text) { of.validate(text); });
    CLI::Option* const option =
        addOption(verb, name, watch.*member, field.key == "source" ? " " : field.unit, field.help())->check(problem);
    return std::is_same_v<Texts, std::string> ? option : option->allow_extra_args(false);
  }
};

}  // namespace

void addWatchFields(CLI::App& verb, monitor::Watch& watch, const char* group) {
  for (const monitor::WatchField& field : monitor::watchFields()) {
    if (group ? field.group != std::string(group) : field.key == "reduce") continue;
    CLI::Option* const option = std::visit(AddField{verb, watch, field}, field.member);
    option->group(field.group);
    if (field.key == "source") option->envname("MPM_SOURCE");
  }
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
