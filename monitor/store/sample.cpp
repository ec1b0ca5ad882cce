// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/sample.h"

#include <opencv2/imgproc.hpp>

namespace mpm::monitor {

double meanBrightness(const cv::Mat& image) {
  const cv::Scalar mean = cv::mean(image);  // grey is linear in the channels, so the mean may come first
  return 0.114 * mean[0] + 0.587 * mean[1] + 0.299 * mean[2];
}

}  // namespace mpm::monitor
