// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/lettering.h"

#include <opencv2/imgproc.hpp>

namespace mpm::vision {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;

double scaleOf(double height) { return cv::getFontScaleFromHeight(kFont, cvRound(height * kSupersampling), 2); }

}  // namespace

double textWidth(const std::string& text, double height) {
  return cv::getTextSize(text, kFont, scaleOf(height), 2, nullptr).width / static_cast<double>(kSupersampling);
}

void write(cv::Mat& picture, const std::string& text, double x, double y, double align, double height,
           const cv::Scalar& color) {
  cv::putText(picture, text, at(x - align * textWidth(text, height), y), kFont, scaleOf(height), color, 2, cv::LINE_AA);
}

cv::Mat reduced(const cv::Mat& picture) {
  cv::Mat result;
  cv::resize(picture, result, picture.size() / kSupersampling, 0, 0, cv::INTER_AREA);
  return result;
}

}  // namespace mpm::vision
