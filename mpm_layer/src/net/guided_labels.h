// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <vector>

#include "kernels/parallel.h"

namespace mpm {

/// Labels whose edges are those of the picture: the class probabilities go through a guided filter whose guide is the
/// colour picture, then each pixel gets the most probable class. Source: He, Sun, Tang, "Guided image filtering",
/// ECCV 2010; in the fast form of He and Sun, arXiv 1505.00996, which fits its linear models on a smaller picture.
class GuidedLabels {
 public:
  /// The class scores at this size of a picture: {classes, height, width}, contiguous, as logits.
  using Scores = std::function<void(cv::Size size, float* scores)>;

  /// `image`: CV_8UC3. `radius`: of the windows of the filter, px of `image`. `labels`: CV_8U, of the size of `image`.
  /// Only classes that are the best somewhere can be labels. The same for any number of threads.
  void run(const cv::Mat& image, int classes, double radius, const Scores& scores, cv::Mat& labels,
           const Parallel& parallel);

 private:
  std::vector<float> scores_;
};

}  // namespace mpm
