// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include "view.h"

namespace mpm::scene {

/// Bends a picture of the upright image plane of View into that of a camera that is tilted and has a real lens.
class Lens {
 public:
  Lens(const Distortion& distortion, const View& view, cv::Size size);

  /// Both have the size of the constructor. `light` is interpolated; a label is that of the nearest pixel.
  void apply(cv::Mat& light, cv::Mat& labels) const;

 private:
  cv::Mat map_;  // where each pixel comes from, CV_32FC2; empty: from its own place
};

}  // namespace mpm::scene
