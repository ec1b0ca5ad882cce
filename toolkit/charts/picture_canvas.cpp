// SPDX-License-Identifier: Apache-2.0
#include "charts/picture_canvas.h"

#include <opencv2/imgproc.hpp>

#include "vision/pictures/lettering.h"

namespace mpm::charts {
namespace {

using vision::at;
using vision::kSupersampling;
using vision::reduced;
using vision::write;

constexpr double kFontSize = 11, kLineHeight = 18;

cv::Scalar colorOf(std::uint32_t rgb) {
  return {static_cast<double>(rgb & 255), static_cast<double>(rgb >> 8 & 255), static_cast<double>(rgb >> 16)};
}

}  // namespace

PictureCanvas::PictureCanvas(cv::Size size) : picture_(size * kSupersampling, CV_8UC3), part_(picture_) {}

cv::Mat PictureCanvas::picture() const { return reduced(picture_); }

double PictureCanvas::textWidth(const std::string& text) const { return vision::textWidth(text, kFontSize); }

double PictureCanvas::textHeight() const { return kLineHeight; }

void PictureCanvas::text(const std::string& text, cv::Point2d left_middle, std::uint32_t color) {
  write(picture_, text, left_middle.x, left_middle.y + kFontSize / 2, 0, kFontSize, colorOf(color));
}

void PictureCanvas::line(const std::vector<cv::Point2d>& points, std::uint32_t color, double width) {
  const int pixels = cvRound(width * kSupersampling);
  if (points.size() == 1)
    cv::circle(part_, pixelsOf(points)[0], pixels, colorOf(color), cv::FILLED, cv::LINE_AA);
  else
    cv::polylines(part_, pixelsOf(points), false, colorOf(color), pixels, cv::LINE_AA);
}

void PictureCanvas::area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) {
  const std::vector<cv::Point> pixels = pixelsOf(corners);
  cv::Rect place;  // without boundingRect(), which is in another module of OpenCV 5
  for (const cv::Point& pixel : pixels) place |= cv::Rect(pixel, cv::Size(1, 1));
  place &= cv::Rect({}, part_.size());
  if (place.empty()) return;
  cv::Mat below = part_(place), above = below.clone();
  cv::fillPoly(above, pixels, colorOf(color), cv::LINE_8, 0, -place.tl());
  cv::addWeighted(above, opacity, below, 1 - opacity, 0, below);
}

void PictureCanvas::clip(const std::optional<cv::Rect2d>& rectangle) {
  const cv::Rect all({}, picture_.size());
  const cv::Rect place =
      rectangle ? cv::Rect(at(rectangle->x, rectangle->y), at(rectangle->br().x, rectangle->br().y)) : all;
  part_ = picture_(place & all);
  origin_ = place.tl();
}

std::vector<cv::Point> PictureCanvas::pixelsOf(const std::vector<cv::Point2d>& points) const {
  std::vector<cv::Point> pixels;
  for (const cv::Point2d& point : points) pixels.push_back(at(point.x, point.y) - origin_);
  return pixels;
}

}  // namespace mpm::charts
