// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include "mpm/model_info.hpp"

namespace mpm::vision {

/// Values of a depth map (CV_32F).
struct DepthRange {
  double min = 0, median = 0, max = 0;
};
DepthRange depthRange(const cv::Mat& depth);

/// A depth map as an image of 16 bits: depth = offset + step * pixel.
struct DepthImage {
  cv::Mat pixels;  ///< CV_16U
  double offset = 0, step = 1;
};

/// In metres the step is always 1/256, so that values of several images compare; up to 255.996 m (KITTI's format).
/// Without a unit, 0 is the smallest depth of this map and 65535 the largest.
DepthImage depthImage(const cv::Mat& depth, DepthUnit unit);

/// The colours of a depth map, CV_8UC3 (BGR): violet at range.min, yellow at range.max, as in depthColor().
cv::Mat depthPicture(const cv::Mat& depth, const DepthRange& range);

/// The colour of a share of the range, 0..1.
cv::Vec3b depthColor(double share);

}  // namespace mpm::vision
