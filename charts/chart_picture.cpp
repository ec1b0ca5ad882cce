// SPDX-License-Identifier: Apache-2.0
#include "charts/chart_picture.h"

#include "charts/picture_canvas.h"

namespace mpm::cli {

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
