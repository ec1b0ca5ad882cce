// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpm/estimator.hpp"
#include "net/image_net.h"

namespace mpm {

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
