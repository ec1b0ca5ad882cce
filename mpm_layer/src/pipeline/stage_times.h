// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <string_view>

#include "mpm/segmenter.hpp"

namespace mpm {

/// The field of StageTimes that a layer's time belongs to, by its name (docs/ops.md, "Names of nodes").
double StageTimes::*stageOfLayer(std::string_view layer);

/// Spreads the last forward of `net`, which took `forward_ms`, over backbone, merge, restore and head of `times`. Where
/// the engine keeps no profile (the new one of OpenCV 5) all of it is backbone.
void addForwardTime(cv::dnn::Net& net, double forward_ms, StageTimes& times);

}  // namespace mpm
