// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <opencv2/core.hpp>
#include <vector>

#include "cli/terminal/output.h"
#include "vision/simulated_night.h"

namespace mpm::cli {

/// Images as they are, or the paper's night.
struct Night {
  bool on = false;
  vision::NightOptions options;

  /// `image` itself, or what is left of it by night; `number` makes the noise of each image its own.
  cv::Mat applied(const cv::Mat& image, int number) const {
    return on ? vision::simulateNight(image, options, static_cast<std::uint64_t>(number)) : image;
  }
};

/// {"gain", "electrons", "thermal"}.
inline Json toJson(const vision::NightOptions& night) {
  return {{"gain", night.gain}, {"electrons", night.electrons}, {"thermal", night.thermal}};
}

/// --electrons N and --thermal SD: the noise.
inline std::vector<CLI::Option*> addNightNoise(CLI::App& verb, vision::NightOptions& night) {
  return {verb.add_option("--electrons", night.electrons,
                          "Electrons that a pixel collects by day for full white: fewer, more shot\nnoise by night. "
                          "Default: 1500")
              ->check(CLI::Range(1.0, 1e7))
              ->option_text("N"),
          verb.add_option("--thermal", night.thermal,
                          "Standard deviation of the thermal noise by night, of full white.\nDefault: 0.008")
              ->check(CLI::Range(0.0, 1.0))
              ->option_text("SD")};
}

/// --night GAIN, and the noise of that night.
inline void addNight(CLI::App& verb, Night& night) {
  CLI::Option* const gain = verb.add_option_function<double>(
      "--night",
      [&night](double share) {
        night.on = true;
        night.options.gain = share;
      },
      "Simulate night: leave this share of the light, above 0 to 1, and add\nshot and thermal noise");
  gain->check(CLI::Range(1e-3, 1.0))->type_name("GAIN")->option_text("GAIN");
  for (CLI::Option* noise : addNightNoise(verb, night.options)) noise->needs(gain);
}

}  // namespace mpm::cli
