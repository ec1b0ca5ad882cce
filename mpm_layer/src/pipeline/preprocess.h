// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <opencv2/core.hpp>

#include "kernels/parallel.h"
#include "mpm/model_info.hpp"

namespace mpm {

/// 8-bit BGR image -> what a net eats: channel order, 0..1, mean and standard deviation, planar float, in one pass.
class Normalizer {
 public:
  explicit Normalizer(const ModelFacts& facts);

  /// `image` CV_8UC3 -> `planes` {1, 3, image.rows, image.cols}, CV_32F; its memory is reused when the shape is the
  /// same.
  void operator()(const cv::Mat& image, cv::Mat& planes, const Parallel& parallel) const;

 private:
  // A byte has 256 values, so the arithmetic is done once, in the order of PyTorch's: ((v / 255) - mean) / std.
  std::array<std::array<float, 256>, 3> value_of_byte_;  // by channel of the net
  std::array<int, 3> image_channel_;                     // of the image, by channel of the net
};

}  // namespace mpm
