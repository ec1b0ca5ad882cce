// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/imgproc.hpp>
#include <utility>

#include "mpm/options.hpp"

namespace mpm::test {

/// `count` images {B, H, W} CV_8UC3 from number `first` with labels {B, H, W} CV_8U: a grey ground (0) with red discs
/// (1) and blue boxes (2), which a small network learns in seconds.
inline std::pair<cv::Mat, cv::Mat> shapeBatch(int first, int count, Size2 size) {
  const int dims[] = {count, size.height, size.width};
  cv::Mat images(3, dims, CV_8UC3), labels(3, dims, CV_8U, cv::Scalar(0));
  for (int i = 0; i < count; ++i) {
    cv::RNG random(static_cast<std::uint64_t>(first + i) * 7919 + 1);
    cv::Mat image(size.height, size.width, CV_8UC3, images.ptr(i));
    cv::Mat truth(size.height, size.width, CV_8U, labels.ptr(i));
    image.setTo(cv::Scalar::all(random.uniform(60., 160.)));
    for (int shape = 0; shape < 4; ++shape) {
      const cv::Point centre(random.uniform(0, size.width), random.uniform(0, size.height));
      const int side = random.uniform(size.height / 5, size.height / 3);
      const cv::Rect box(centre - cv::Point(side / 2, side / 2), cv::Size(side, side));
      if (shape % 2 == 0) {
        cv::circle(image, centre, side / 2, {40, 60, 200}, cv::FILLED);
        cv::circle(truth, centre, side / 2, 1, cv::FILLED);
      } else {
        cv::rectangle(image, box, {220, 80, 40}, cv::FILLED);
        cv::rectangle(truth, box, 2, cv::FILLED);
      }
    }
    cv::Mat noise(image.size(), CV_8UC3);
    random.fill(noise, cv::RNG::UNIFORM, 0, 20);
    image += noise;
  }
  return {images, labels};
}

}  // namespace mpm::test
