// SPDX-License-Identifier: Apache-2.0
#include "vision/depth_pictures.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace mpm::vision {

DepthRange depthRange(const cv::Mat& depth) {
  std::vector<float> values(depth.begin<float>(), depth.end<float>());  // quantile() would be slow for so many
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  DepthRange range{*least + 0.0, 0, *most + 0.0};  // 0 instead of -0
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  range.median = *middle;
  return range;
}

DepthImage depthImage(const cv::Mat& depth, DepthUnit unit) {
  DepthImage image;
  if (unit == DepthUnit::kMetre) {
    image.step = 1.0 / 256;
  } else {
    double least = 0, most = 0;
    cv::minMaxLoc(depth, &least, &most);
    image.offset = least + 0.0;  // 0 instead of -0
    if (most > least) image.step = (most - least) / 65535;
  }
  depth.convertTo(image.pixels, CV_16U, 1 / image.step, -image.offset / image.step);
  return image;
}

cv::Mat depthPicture(const cv::Mat& depth, const DepthRange& range) {
  const double scale = range.max > range.min ? 255 / (range.max - range.min) : 0;
  cv::Mat bytes, picture;
  depth.convertTo(bytes, CV_8U, scale, -range.min * scale);
  cv::applyColorMap(bytes, picture, cv::COLORMAP_VIRIDIS);
  return picture;
}

cv::Vec3b depthColor(double share) {
  const cv::Mat one(1, 1, CV_32F, cv::Scalar(share));
  return depthPicture(one, {0, 0, 1}).at<cv::Vec3b>(0, 0);
}

}  // namespace mpm::vision
