// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <string_view>
#include <vector>

#include "mpm/segmenter.hpp"

namespace mpm {

/// The field of StageTimes that a layer's time belongs to, by its name (docs/ops.md, "Names of nodes").
double StageTimes::*stageOfLayer(std::string_view layer);

/// Spreads a forward that took `forward_ms` over backbone, merge, restore and head of `times`, by what each layer took.
/// Without a profile (as many times as layers, not all 0) all of it is backbone.
void addForwardTime(const std::vector<cv::String>& layers, const std::vector<double>& layer_ms, double forward_ms,
                    StageTimes& times);

/// The same for the last forward of `net`. The new engine of OpenCV 5 keeps no profile; layers on a GPU only hand over
/// their work, so that their times say nothing.
void addForwardTime(cv::dnn::Net& net, double forward_ms, StageTimes& times);

}  // namespace mpm
