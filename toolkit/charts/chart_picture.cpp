// SPDX-License-Identifier: Apache-2.0
#include "charts/draw_chart.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "vision/pictures/lettering.h"

namespace mpm::charts {
namespace {

using vision::at, vision::kSupersampling;

constexpr double kFontSize = 11, kLineHeight = 18;

cv::Scalar colorOf(std::uint32_t rgb) {
  return {static_cast<double>(rgb & 255), static_cast<double>(rgb >> 8 & 255), static_cast<double>(rgb >> 16)};
}

/// Draws charts and plots into a picture.
class PictureCanvas final : public ChartCanvas {
 public:
  explicit PictureCanvas(cv::Size size) : picture_(size * kSupersampling, CV_8UC3), part_(picture_) {}

  cv::Mat picture() const { return vision::reduced(picture_); }  ///< CV_8UC3

  double textWidth(const std::string& text) const override { return vision::textWidth(text, kFontSize); }
  double textHeight() const override { return kLineHeight; }

  void text(const std::string& text, cv::Point2d left_middle, std::uint32_t color) override {
    vision::write(picture_, text, left_middle.x, left_middle.y + kFontSize / 2, 0, kFontSize, colorOf(color));
  }

  void line(const std::vector<cv::Point2d>& points, std::uint32_t color, double width) override {
    const int pixels = cvRound(width * kSupersampling);
    if (points.size() == 1)
      cv::circle(part_, pixelsOf(points)[0], pixels, colorOf(color), cv::FILLED, cv::LINE_AA);
    else
      cv::polylines(part_, pixelsOf(points), false, colorOf(color), pixels, cv::LINE_AA);
  }

  void area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) override {
    const std::vector<cv::Point> pixels = pixelsOf(corners);
    cv::Rect place;  // without boundingRect(), which is in another module of OpenCV 5
    for (const cv::Point& pixel : pixels) place |= cv::Rect(pixel, cv::Size(1, 1));
    place &= cv::Rect({}, part_.size());
    if (place.empty()) return;
    cv::Mat below = part_(place), above = below.clone();
    cv::fillPoly(above, pixels, colorOf(color), cv::LINE_8, 0, -place.tl());
    cv::addWeighted(above, opacity, below, 1 - opacity, 0, below);
  }

  void clip(const std::optional<cv::Rect2d>& rectangle) override {
    const cv::Rect all({}, picture_.size());
    const cv::Rect place =
        rectangle ? cv::Rect(at(rectangle->x, rectangle->y), at(rectangle->br().x, rectangle->br().y)) : all;
    part_ = picture_(place & all);
    origin_ = place.tl();
  }

 private:
  std::vector<cv::Point> pixelsOf(const std::vector<cv::Point2d>& points) const {
    std::vector<cv::Point> pixels;
    for (const cv::Point2d& point : points) pixels.push_back(at(point.x, point.y) - origin_);
    return pixels;
  }

  cv::Mat picture_, part_;  // the latter: where is drawn
  cv::Point origin_;        // of the part
};

}  // namespace

cv::Mat chartPicture(ChartDrawing chart) {
  const auto joining = [](const ChartSeries& series) { return series.joins; };
  const auto lanes =
      static_cast<int>(chart.series.size()) - static_cast<int>(std::ranges::count_if(chart.series, joining));
  const cv::Size size(1280, std::max(480, 60 + 140 * lanes) + 40 * static_cast<int>(chart.bands.size()));
  PictureCanvas canvas(size);
  const cv::Rect2d plot = plotArea(canvas, size, !chart.title.empty());
  chart.axis.left = plot.x;
  chart.axis.width = plot.width;
  if (chart.chart.buckets.size() < 2) {
    chart.note = chart.chart.buckets.empty() ? "no samples" : "too little to draw yet";
    chart.series.clear();
  }
  drawChart(chart, size, canvas);
  return canvas.picture();
}

}  // namespace mpm::charts
