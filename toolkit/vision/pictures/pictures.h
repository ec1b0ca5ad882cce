// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "mpm/model_info.hpp"
#include "mpm/reuse.hpp"
#include "mpm/run_report.hpp"

namespace mpm::vision {

/// Colour of each class, BGR: the model's own, else a palette that colour-blind people can tell apart. At least
/// `classes` colours.
std::vector<cv::Vec3b> classColors(const ModelFacts& facts, int classes);

/// A colour, BGR, for one more class that is drawn on `picture` (CV_8UC3; may be empty): lightness and hue differ from
/// those of the colours `taken`, also for colour-blind people, and from the most frequent colours of the picture. Its
/// contrast to a white and to a dark window is 2 or more. It is like usualColor(name), if there is one that is far
/// enough from these.
cv::Vec3b newClassColor(const std::string& name, const std::vector<cv::Vec3b>& taken, const cv::Mat& picture);

/// `image` (CV_8UC3) with `labels` (CV_8U, same size) painted over it, opacity 0..1. Labels without a colour are not
/// painted.
cv::Mat overlayPicture(const cv::Mat& image, const cv::Mat& labels, const std::vector<cv::Vec3b>& colors,
                       double opacity = 0.5);

/// The colour of an outline that is seen on `fill`.
cv::Vec3b outlineColor(const cv::Vec3b& fill);

/// `image` with segments painted over it and outlined. `ids`: CV_16U, same size; segment i has colors[i - 1], 0 is
/// none.
cv::Mat segmentsPicture(const cv::Mat& image, const cv::Mat& ids, const std::vector<cv::Vec3b>& colors,
                        double opacity = 0.5);

/// Fills every cluster with its mean colour in `image` and draws a border of 1 px between clusters.
/// `cluster_of_token` has grid.height * grid.width ids, raster order.
cv::Mat mergePicture(const cv::Mat& image, const std::vector<int>& cluster_of_token, Size2 grid);
/// Draws the merge map of a result: its clusters after the last insertion; without merging each token is one.
cv::Mat mergePicture(const cv::Mat& image, const RunReport& result);

/// Draws the patches that the reuse of rows computed for `image`: patches that were kept are dark and without colour,
/// those that were computed are as they are, with an outline. `grid`: of the patches.
cv::Mat computedPicture(const cv::Mat& image, const ReuseReport& reuse, Size2 grid);

/// Writes `picture` as a PNG, or as a JPEG of OpenCV's default quality (95) where the name ends with .jpg, whole or not
/// at all. Throws mpm::Error.
void writePicture(const std::string& path, const cv::Mat& picture);

}  // namespace mpm::vision
