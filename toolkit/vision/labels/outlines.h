// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace mpm::vision {

/// Polygons which cv::fillPoly() fills to exactly the pixels of `mask`, CV_8U, that are not 0. A region has one; a
/// region with a hole is cut until no part has a hole, because labelling tools have no polygons with holes.
/// Each has three points at least, where need be the same one more than once.
std::vector<std::vector<cv::Point>> outlines(const cv::Mat& mask);

}  // namespace mpm::vision
