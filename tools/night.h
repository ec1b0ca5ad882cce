// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <opencv2/core.hpp>

#include "scene/night.h"

namespace mpm::cli {

/// Images as they are, or the paper's night.
struct Night {
  bool on = false;
  scene::NightOptions options;

  /// `image` itself, or what is left of it by night; `number` makes the noise of each image its own.
  cv::Mat applied(const cv::Mat& image, int number) const {
    return on ? scene::simulateNight(image, options, static_cast<std::uint64_t>(number)) : image;
  }
};

/// --night GAIN.
inline void addNight(CLI::App& verb, Night& night) {
  verb.add_option_function<double>(
          "--night",
          [&night](double gain) {
            night.on = true;
            night.options.gain = gain;
          },
          "Simulate night: leave this share of the light, above 0 to 1, and add\nshot and thermal noise")
      ->check(CLI::Range(1e-3, 1.0))
      ->type_name("GAIN")
      ->option_text("GAIN");
}

}  // namespace mpm::cli
