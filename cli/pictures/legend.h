// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <set>
#include <string>

#include "mpm/segmenter.hpp"

namespace mpm::cli {

/// Pixels that a class takes in a legend.
double legendWidth(const std::string& name);
/// Its colour and name, with their upper left corner at (x, y) of a supersampled picture.
void writeLegend(cv::Mat& picture, const std::string& name, const cv::Vec3b& color, double x, double y);

/// These classes of the model, one below the other. CV_8UC3.
cv::Mat legendPicture(const ModelInfo& model, const std::set<int>& classes);

}  // namespace mpm::cli
