// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "kernels/resample.h"
#include "mpm/estimator.hpp"
#include "net/mask_queries.h"

namespace mpm {

/// The masks of queries at the size of an image.
struct ResizedMasks {
  const MaskQueries& queries;
  const AxisResampling &rows, &columns;  ///< from queries.grid to the image
};

/// Segments and their ids (CV_16U, 0 for none), by the rules of Estimator. `things`: of each class, true if
/// its segments are single objects.
std::vector<Segment> panopticSegments(const ResizedMasks& masks, const EstimatorOptions& options,
                                      const std::vector<bool>& things, const Parallel& parallel, cv::Mat& ids);
std::vector<Segment> instanceSegments(const ResizedMasks& masks, const EstimatorOptions& options,
                                      const std::vector<bool>& things, const Parallel& parallel, cv::Mat& ids);

}  // namespace mpm
