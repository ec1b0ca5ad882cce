// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/pictures.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <opencv2/imgproc.hpp>

#include "vision/pictures/lettering.h"

namespace mpm::vision {

double depthDifference(const cv::Mat& depth, const DepthRange& range, const cv::Mat& other) {
  if (range.max <= range.min) return 0;
  return cv::norm(depth, other, cv::NORM_L1) / static_cast<double>(depth.total()) / (range.max - range.min);
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
  cv::Mat above;  // in double: large depths that differ by little have nearly one quotient
  depth.convertTo(above, CV_64F);
  above -= image.offset;
  above.convertTo(image.pixels, CV_16U, 1 / image.step);
  return image;
}

cv::Mat depthShares(const cv::Mat& depth, const DepthRange& range) {
  const double scale = range.max > range.min ? 255 / (range.max - range.min) : 0;
  cv::Mat shares;
  depth.convertTo(shares, CV_8U, scale, -range.min * scale);
  return shares;
}

const std::array<cv::Vec3b, 256>& depthColors() {
  static const std::array<cv::Vec3b, 256> colors = [] {
    cv::Mat shares(1, 256, CV_8U), picture;
    std::iota(shares.begin<std::uint8_t>(), shares.end<std::uint8_t>(), std::uint8_t{0});
    cv::applyColorMap(shares, picture, cv::COLORMAP_VIRIDIS);
    std::array<cv::Vec3b, 256> result;
    std::copy(picture.begin<cv::Vec3b>(), picture.end<cv::Vec3b>(), result.begin());
    return result;
  }();
  return colors;
}

cv::Mat depthPicture(const cv::Mat& depth, const DepthRange& range) {
  cv::Mat picture;
  cv::applyColorMap(depthShares(depth, range), picture, cv::COLORMAP_VIRIDIS);
  return picture;
}

std::string depthText(double depth) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", depth + 0.0);  // + 0.0: no "-0"
  return text;
}

std::string unitText(DepthUnit unit) {
  if (unit == DepthUnit::kMetre) return "m";
  return unit == DepthUnit::kInverse ? "(relative, larger is nearer)" : "(relative)";
}

cv::Mat withDepthLegend(const cv::Mat& picture, const DepthRange& range, DepthUnit unit) {
  constexpr int kStripHeight = 48, kStripMargin = 8;
  constexpr double kStripLetters = 11, kStripBar = 14, kStripGap = 16;
  const std::string low = depthText(range.min), high = depthText(range.max), what = "depth " + unitText(unit);
  // Room for the longest numbers, so that all frames of a video have one size. The unit is there where it fits.
  const auto widthOf = [](double texts) { return static_cast<int>(texts + 2 * kStripGap) + 2 * kStripMargin; };
  const int width = std::max(picture.cols, widthOf(2 * textWidth("-1.234e-05", kStripLetters)));
  const double texts = textWidth(low, kStripLetters) + textWidth(what, kStripLetters) + textWidth(high, kStripLetters);
  cv::Mat legend(at(width, kStripHeight).y, at(width, kStripHeight).x, CV_8UC3, cv::Scalar::all(255));
  const int length = width - 2 * kStripMargin;
  for (int x = 0; x < length; ++x) {
    cv::rectangle(legend, at(kStripMargin + x, kStripMargin), at(kStripMargin + x + 1, kStripMargin + kStripBar),
                  depthColors()[static_cast<std::size_t>(255 * x / (length - 1))], cv::FILLED);
  }
  const double line = kStripHeight - kStripMargin - 2;
  write(legend, low, kStripMargin, line, 0, kStripLetters);
  if (widthOf(texts) <= width) write(legend, what, width / 2.0, line, 0.5, kStripLetters);
  write(legend, high, width - kStripMargin, line, 1, kStripLetters);
  cv::Mat result(picture.rows + kStripHeight, width, CV_8UC3, cv::Scalar::all(255));
  picture.copyTo(result(cv::Rect(cv::Point(), picture.size())));
  reduced(legend).copyTo(result(cv::Rect(0, picture.rows, width, kStripHeight)));
  return result;
}

}  // namespace mpm::vision
