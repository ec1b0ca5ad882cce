// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include "program/model_options.h"
#include "program/terminal/output.h"
#include "vision/pictures/simulated_night.h"

namespace mpm::cli {

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
inline Json toJson(const Night& night) {
  if (!night.on) return nullptr;
  const vision::NightOptions& options = night.options;
  return {{"gain", options.gain}, {"electrons", options.electrons}, {"thermal", options.thermal}};
}

/// --simulate-night, which is off unless `night` is on already, and --electrons and --thermal, its noise.
inline void addNight(CLI::App& verb, Night& night) {
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
