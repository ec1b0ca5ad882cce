// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/estimator.hpp"
#include "vision/depth_pictures.h"

namespace mpm::vision {

/// What an Estimator of any task gives for an image.
struct Estimate : Segmentation {
  std::optional<Task> task{};       ///< nullopt: none, the labels are empty
  cv::Mat ids{};                    ///< of kPanoptic and kInstance: as PanopticMap::ids
  std::vector<Segment> segments{};  ///< the same
  cv::Mat depth{};                  ///< of kDepth: as DepthMap::depth
  DepthRange depth_range{};         ///< of `depth`
};

Estimate estimate(Estimator& estimator, const cv::Mat& image);
/// The class of the segment of each pixel, CV_8U; 255 for none.
cv::Mat segmentClasses(const Estimate& estimate);
const ModelInfo& modelOf(const Estimator& estimator);

}  // namespace mpm::vision
