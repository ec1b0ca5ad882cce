// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include "kernels/parallel.h"
#include "kernels/pixel_values.h"
#include "mpm/model_info.hpp"

namespace mpm {

/// 8-bit BGR image -> network input: channel order, 0..1, mean and standard deviation, planar float, in one pass.
class Normalizer {
 public:
  explicit Normalizer(const ModelFacts& facts);

  /// `image` CV_8UC3 -> `planes` {1, 3, image.rows, image.cols}, CV_32F; its memory is reused when the shape is the
  /// same.
  void operator()(const cv::Mat& image, cv::Mat& planes, const Parallel& parallel) const;

  /// Computed in PyTorch's order: ((byte / 255) - mean) / std.
  const PixelValues& values() const { return values_; }

 private:
  PixelValues values_;
};

}  // namespace mpm
