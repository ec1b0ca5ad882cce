// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/sample.h"

#include <array>
#include <opencv2/imgproc.hpp>

namespace mpm::monitor {

std::vector<std::pair<int, double>> classAreas(const cv::Mat& labels) {
  std::array<std::int64_t, 256> counts{};
  for (int y = 0; y < labels.rows; ++y)
    for (int x = 0; x < labels.cols; ++x) ++counts[labels.ptr<unsigned char>(y)[x]];
  std::vector<std::pair<int, double>> areas;
  for (int c = 0; c < 256; ++c)
    if (counts[static_cast<std::size_t>(c)] > 0)
      areas.emplace_back(
          c, static_cast<double>(counts[static_cast<std::size_t>(c)]) / static_cast<double>(labels.total()));
  return areas;
}

double meanBrightness(const cv::Mat& image) {
  const cv::Scalar mean = cv::mean(image);  // grey is linear in the channels, so the mean may come first
  return 0.114 * mean[0] + 0.587 * mean[1] + 0.299 * mean[2];
}

}  // namespace mpm::monitor
