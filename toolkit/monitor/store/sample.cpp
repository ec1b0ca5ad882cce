// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/sample.h"

#include <opencv2/imgproc.hpp>

namespace mpm::monitor {

std::optional<double> RegionSample::value(const std::string& quantity) const {
  if (quantity == "gcc") return gcc();
  if (quantity == "rcc") return rcc();
  if (quantity == "exg") return exg();
  if (quantity == "red") return red;
  if (quantity == "green") return green;
  if (quantity == "blue") return blue;
  if (quantity == "brightness") return brightness();
  if (quantity == "tokens") return tokens;
  return std::nullopt;
}

double meanBrightness(const cv::Mat& image, const cv::Mat& mask) {
  // Grey is linear in the channels, so the mean may come first.
  const cv::Scalar mean = mask.empty() ? cv::mean(image) : cv::mean(image, mask);
  return 0.114 * mean[0] + 0.587 * mean[1] + 0.299 * mean[2];
}

std::string toText(const PictureQuality& quality) {
  std::string text;
  for (std::size_t bit = 0; bit < kQualityFlags.size(); ++bit)
    if (quality.flags >> bit & 1) text += (text.empty() ? "" : ", ") + std::string(kQualityFlags[bit]);
  return text.empty() ? "good" : text;
}

}  // namespace mpm::monitor
