// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/imgproc.hpp>

namespace mpm::test {

inline cv::Mat noisePicture(int height, int width, int seed = 3) {
  cv::Mat image(height, width, CV_8UC3);
  cv::RNG(static_cast<std::uint64_t>(seed)).fill(image, cv::RNG::UNIFORM, 0, 256);
  return image;
}

/// Smooth colours, so that neighbouring patches differ in more than noise.
inline cv::Mat smoothPicture(int height, int width, int seed = 1) {
  cv::Mat image;
  cv::resize(noisePicture(7, 9, seed), image, {width, height}, 0, 0, cv::INTER_CUBIC);
  return image;
}

}  // namespace mpm::test
