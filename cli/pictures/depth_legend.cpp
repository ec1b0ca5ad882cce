// SPDX-License-Identifier: Apache-2.0
#include "cli/pictures/depth_legend.h"

#include <algorithm>
#include <cstdio>
#include <opencv2/imgproc.hpp>

#include "cli/pictures/lettering.h"

namespace mpm::cli {
namespace {

constexpr int kStripHeight = 48, kStripMargin = 8;
constexpr double kStripLetters = 11, kStripBar = 14, kStripGap = 16;

}  // namespace

std::string depthText(double depth) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", depth + 0.0);  // + 0.0: no "-0"
  return text;
}

std::string unitText(DepthUnit unit) {
  if (unit == DepthUnit::kMetre) return "m";
  return unit == DepthUnit::kInverse ? "(relative, larger is nearer)" : "(relative)";
}

cv::Mat withDepthLegend(const cv::Mat& picture, const vision::DepthRange& range, DepthUnit unit) {
  const std::string low = depthText(range.min), high = depthText(range.max), what = "depth " + unitText(unit);
  const double texts = textWidth(low, kStripLetters) + textWidth(what, kStripLetters) + textWidth(high, kStripLetters);
  const int width = std::max(picture.cols, static_cast<int>(texts + 2 * kStripGap) + 2 * kStripMargin);
  cv::Mat legend(at(width, kStripHeight).y, at(width, kStripHeight).x, CV_8UC3, cv::Scalar::all(255));
  const int length = width - 2 * kStripMargin;
  for (int x = 0; x < length; ++x)
    cv::rectangle(legend, at(kStripMargin + x, kStripMargin), at(kStripMargin + x + 1, kStripMargin + kStripBar),
                  vision::depthColor(x / static_cast<double>(length - 1)), cv::FILLED);
  const double line = kStripHeight - kStripMargin - 2;
  write(legend, low, kStripMargin, line, 0, kStripLetters);
  write(legend, what, width / 2.0, line, 0.5, kStripLetters);
  write(legend, high, width - kStripMargin, line, 1, kStripLetters);
  cv::Mat result(picture.rows + kStripHeight, width, CV_8UC3, cv::Scalar::all(255));
  picture.copyTo(result(cv::Rect(cv::Point(), picture.size())));
  reduced(legend).copyTo(result(cv::Rect(0, picture.rows, width, kStripHeight)));
  return result;
}

}  // namespace mpm::cli
