// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "kernels/resample.h"
#include "mpm/estimator.hpp"
#include "net/image_net.h"
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

/// Segments of images by mask queries: the tasks kPanoptic and kInstance.
class SegmentMaker {
 public:
  /// `net`: of a model with the head kMaskQueries, which this does not own. Throws mpm::Error for `options.labels` of
  /// more than 256 classes.
  SegmentMaker(ImageNet& net, const EstimatorOptions& options, Task task);

  void run(const cv::Mat& image, Estimate& result);

 private:
  EstimatorOptions options_;
  ImageNet& net_;
  Task task_;
  std::vector<bool> things_;
  cv::Size image_size_;  // of the last image; the two below are for it
  AxisResampling rows_, columns_;
  std::vector<float> scores_;  // {pixels of a mask, classes}, for the labels
};

}  // namespace mpm
