// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "charts/draw_chart.h"

namespace mpm::charts {

/// Draws charts and plots into a picture.
class PictureCanvas final : public ChartCanvas {
 public:
  explicit PictureCanvas(cv::Size size);

  cv::Mat picture() const;  ///< CV_8UC3

  double textWidth(const std::string& text) const override;
  double textHeight() const override;
  void text(const std::string& text, cv::Point2d left_middle, std::uint32_t color) override;
  void line(const std::vector<cv::Point2d>& points, std::uint32_t color, double width) override;
  void area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) override;
  void clip(const std::optional<cv::Rect2d>& rectangle) override;

 private:
  std::vector<cv::Point> pixelsOf(const std::vector<cv::Point2d>& points) const;

  cv::Mat picture_, part_;  // the latter: where is drawn
  cv::Point origin_;        // of the part
};

}  // namespace mpm::charts
