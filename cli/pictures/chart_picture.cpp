// SPDX-License-Identifier: Apache-2.0
#include "cli/pictures/chart_picture.h"

#include <opencv2/imgproc.hpp>

#include "cli/pictures/lettering.h"

namespace mpm::cli {
namespace {

cv::Scalar colorOf(std::uint32_t rgb) {
  return {static_cast<double>(rgb & 255), static_cast<double>(rgb >> 8 & 255), static_cast<double>(rgb >> 16)};
}

class PictureCanvas final : public monitor::ChartCanvas {
 public:
  explicit PictureCanvas(cv::Size size) : picture_(size * kSupersampling, CV_8UC3), part_(picture_) {}

  cv::Mat picture() const { return reduced(picture_); }

  double textWidth(const std::string& text) const override { return cli::textWidth(text, kLetters); }
  double textHeight() const override { return kLine; }
  void text(const std::string& text, cv::Point2d left_middle, std::uint32_t color) override {
    write(picture_, text, left_middle.x, left_middle.y + kLetters / 2, 0, kLetters, colorOf(color));
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
  static constexpr double kLetters = 11, kLine = 18;

  std::vector<cv::Point> pixelsOf(const std::vector<cv::Point2d>& points) const {
    std::vector<cv::Point> pixels;
    for (const cv::Point2d& point : points) pixels.push_back(at(point.x, point.y) - origin_);
    return pixels;
  }

  cv::Mat picture_, part_;  // the latter: where is drawn
  cv::Point origin_;        // of the part
};

}  // namespace

cv::Mat chartPicture(monitor::ChartDrawing chart) {
  const cv::Size size(1280, 480);
  PictureCanvas canvas(size);
  const cv::Rect2d plot = monitor::plotArea(canvas, size, !chart.title.empty());
  chart.axis.left = plot.x;
  chart.axis.width = plot.width;
  if (chart.chart.buckets.size() < 2) {
    chart.note = chart.chart.buckets.empty() ? "no samples" : "too little to draw yet";
    chart.series.clear();
  }
  monitor::drawChart(chart, size, canvas);
  return canvas.picture();
}

}  // namespace mpm::cli
