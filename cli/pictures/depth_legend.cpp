// SPDX-License-Identifier: Apache-2.0
#include "cli/pictures/depth_legend.h"

#include <algorithm>
#include <cstdio>
#include <opencv2/imgproc.hpp>

#include "cli/pictures/lettering.h"

namespace mpm::cli {
namespace {

constexpr int kHeight = 48, kMargin = 8;
constexpr double kLetters = 11, kBar = 14, kGap = 16;

}  // namespace

std::string depthText(double depth) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", depth);
  return text;
}

std::string unitText(DepthUnit unit) {
  if (unit == DepthUnit::kMetre) return "m";
  return unit == DepthUnit::kInverse ? "(relative, larger is nearer)" : "(relative)";
}

cv::Mat withDepthLegend(const cv::Mat& picture, const vision::DepthRange& range, DepthUnit unit) {
  const std::string low = depthText(range.min), high = depthText(range.max), what = "depth " + unitText(unit);
  const double texts = textWidth(low, kLetters) + textWidth(what, kLetters) + textWidth(high, kLetters);
  const int width = std::max(picture.cols, static_cast<int>(texts + 2 * kGap) + 2 * kMargin);
  cv::Mat legend(at(width, kHeight).y, at(width, kHeight).x, CV_8UC3, cv::Scalar::all(255));
  const int length = width - 2 * kMargin;
  for (int x = 0; x < length; ++x)
    cv::rectangle(legend, at(kMargin + x, kMargin), at(kMargin + x + 1, kMargin + kBar),
                  vision::depthColor(x / static_cast<double>(length - 1)), cv::FILLED);
  const double line = kHeight - kMargin - 2;
  write(legend, low, kMargin, line, 0, kLetters);
  write(legend, what, width / 2.0, line, 0.5, kLetters);
  write(legend, high, width - kMargin, line, 1, kLetters);
  cv::Mat result(picture.rows + kHeight, width, CV_8UC3, cv::Scalar::all(255));
  picture.copyTo(result(cv::Rect(cv::Point(), picture.size())));
  reduced(legend).copyTo(result(cv::Rect(0, picture.rows, width, kHeight)));
  return result;
}

}  // namespace mpm::cli
