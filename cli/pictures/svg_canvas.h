// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core/types.hpp>
#include <string>
#include <vector>

#include "monitor/chart/draw_chart.h"

namespace mpm::cli {

/// Draws charts and plots as SVG.
class SvgCanvas final : public monitor::ChartCanvas {
 public:
  explicit SvgCanvas(cv::Size size) : size_(size) {}

  std::string svg() const;  ///< one element <svg>, without an XML declaration

  double textWidth(const std::string& text) const override;
  double textHeight() const override { return 18; }
  void text(const std::string& text, cv::Point2d left_middle, std::uint32_t color) override;
  void line(const std::vector<cv::Point2d>& points, std::uint32_t color, double width) override;
  void area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) override;
  void clip(const std::optional<cv::Rect2d>& rectangle) override;

 private:
  cv::Size size_;
  std::string body_;
  int clips_ = 0;
  bool clipped_ = false;
};

/// `text` with &, <, > and quotes as HTML and XML write them.
std::string escaped(const std::string& text);

}  // namespace mpm::cli
