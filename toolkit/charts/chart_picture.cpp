// SPDX-License-Identifier: Apache-2.0
#include "charts/chart_picture.h"

#include <algorithm>

#include "charts/picture_canvas.h"

namespace mpm::charts {

cv::Mat chartPicture(ChartDrawing chart) {
  const auto joining = [](const ChartSeries& series) { return series.joins; };
  const auto lanes = static_cast<int>(chart.series.size()) -
                     static_cast<int>(std::count_if(chart.series.begin(), chart.series.end(), joining));
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
