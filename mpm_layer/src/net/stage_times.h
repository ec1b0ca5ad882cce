// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "mpm/read_net.hpp"

namespace mpm {

/// The field of StageTimes that a layer's time belongs to, by its name (docs/ops.md, "Names of nodes").
double StageTimes::*stageOfLayer(std::string_view layer);

/// The encoder block that a layer belongs to, also as a merging step before or inside it; nullopt for none.
std::optional<std::size_t> blockOfLayer(std::string_view layer);

/// forwardTimes() from the time of each layer. Without a profile (as many times as layers, not all 0) all of
/// `forward_ms` is backbone.
StageTimes forwardTimes(const std::vector<cv::String>& layers, const std::vector<double>& layer_ms, double forward_ms);

}  // namespace mpm
