// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "monitor/watch/camera_config.h"
#include "mpm/estimator.hpp"

namespace mpm::monitor {

/// Measuring::settings of a model that runs with these options: input size, refinement and limits of segments, as far
/// as its task has them and they differ from what the model does without the option. `info`: the model in `file`, read
/// with these options. Reads the file where they say an input size.
std::string settingsOf(const std::string& file, const ModelInfo& info, const EstimatorOptions& options);

/// Adds to `config` what these settings say and `config` does not.
void goOnWith(const std::string& settings, CameraConfig& config);

}  // namespace mpm::monitor
