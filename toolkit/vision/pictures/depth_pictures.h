// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <opencv2/core.hpp>
#include <string>

#include "mpm/estimator.hpp"

namespace mpm::vision {

/// Mean absolute difference of two maps of one size, as a share of the range of the first; 0 for an empty range.
double depthDifference(const cv::Mat& depth, const DepthRange& range, const cv::Mat& other);

/// A depth map as an image of 16 bits: depth = offset + step * pixel.
struct DepthImage {
  cv::Mat pixels;  ///< CV_16U
  double offset = 0, step = 1;
};

/// In metres the step is always 1/256, so that values of several images compare; up to 255.996 m (KITTI's format).
/// Without a unit, 0 is the smallest depth of this map and 65535 the largest.
DepthImage depthImage(const cv::Mat& depth, DepthUnit unit);

/// The share of the range at each pixel, CV_8U: 0 at range.min, 255 at range.max.
cv::Mat depthShares(const cv::Mat& depth, const DepthRange& range);

/// The colour (BGR) of each share: violet at 0, yellow at 255.
const std::array<cv::Vec3b, 256>& depthColors();

/// The colours of a depth map, CV_8UC3 (BGR).
cv::Mat depthPicture(const cv::Mat& depth, const DepthRange& range);

/// "12.35": four digits.
std::string depthText(double depth);

/// `picture` (of depthPicture()) above a bar of its colours, with the depths at both ends and the unit.
cv::Mat withDepthLegend(const cv::Mat& picture, const DepthRange& range, DepthUnit unit);

/// "m", "(relative)", "(relative, larger is nearer)".
std::string unitText(DepthUnit unit);

}  // namespace mpm::vision
