// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core/types.hpp>
#include <string>
#include <vector>

#include "monitor/chart/draw_chart.h"

namespace mpm::cli {

/// Dots or a line in a plot.
struct PlotSeries {
  std::string name{};
  std::vector<cv::Point2d> points{};
  bool line = false;  ///< joined from left to right; else dots
  bool in_legend = true;
  std::size_t color = 0;  ///< of plotColor()
};

/// y against x.
struct Plot {
  std::string title{}, x_name{}, y_name{};
  std::vector<PlotSeries> series{};
};

/// A group of horizontal bars for each category, one bar for each series.
struct BarPlot {
  std::string title{}, x_name{};
  std::vector<std::string> categories{}, series{};
  std::vector<std::vector<double>> values{};  ///< {series, categories}; NaN: no bar
  bool stacked = false;                       ///< the bars of a category end to end
};

/// 0xRRGGBB; apart to colour-blind eyes for the first eight.
std::uint32_t plotColor(std::size_t index);

constexpr int kPlotWidth = 860;
cv::Size sizeOf(const Plot& plot);
cv::Size sizeOf(const BarPlot& plot);

/// Draws into a canvas of the size that sizeOf() gives.
void draw(const Plot& plot, monitor::ChartCanvas& canvas);
void draw(const BarPlot& plot, monitor::ChartCanvas& canvas);

}  // namespace mpm::cli
