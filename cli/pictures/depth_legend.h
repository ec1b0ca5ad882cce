// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>

#include "vision/depth_pictures.h"

namespace mpm::cli {

/// "12.35": four digits.
std::string depthText(double depth);

/// "m", "(relative)", "(relative, larger is nearer)".
std::string unitText(DepthUnit unit);

/// `picture` (of vision::depthPicture) above a bar of its colours, with the depths at both ends and the unit.
cv::Mat withDepthLegend(const cv::Mat& picture, const vision::DepthRange& range, DepthUnit unit);

}  // namespace mpm::cli
