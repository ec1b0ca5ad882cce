// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/lettering.h"

#include <opencv2/imgproc.hpp>
#include <string_view>

namespace mpm::vision {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;

// The font has the letters of ASCII alone and would write each byte of another one as "?". Letters of Latin-1 are drawn
// without their accents.
std::string drawable(const std::string& text) {
  constexpr std::string_view kPlain =
      "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty";  // from U+00C0
  static_assert(kPlain.size() == 64);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool latin = text[i] == '\xc3' && i + 1 < text.size();
    result += latin ? kPlain[static_cast<unsigned char>(text[++i]) % kPlain.size()] : text[i];
  }
  return result;
}

double scaleOf(double height) { return cv::getFontScaleFromHeight(kFont, cvRound(height * kSupersampling), 2); }

}  // namespace

double textWidth(const std::string& text, double height) {
  return cv::getTextSize(drawable(text), kFont, scaleOf(height), 2, nullptr).width /
         static_cast<double>(kSupersampling);
}

void write(cv::Mat& picture, const std::string& text, double x, double y, double align, double height,
           const cv::Scalar& color) {
  cv::putText(picture, drawable(text), at(x - align * textWidth(text, height), y), kFont, scaleOf(height), color, 2,
              cv::LINE_AA);
}

cv::Mat reduced(const cv::Mat& picture) {
  cv::Mat result;
  cv::resize(picture, result, picture.size() / kSupersampling, 0, 0, cv::INTER_AREA);
  return result;
}

}  // namespace mpm::vision
