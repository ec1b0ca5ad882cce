// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "charts/chart.h"
#include "charts/palette.h"

namespace mpm::charts {

/// One line of a chart: its quantity, and the values of the buckets in the order of time.
struct ChartSeries {
  SeriesKey quantity{};
  std::string name{};
  std::string unit{};  ///< "", "ms", "%"
  int decimals = 0;
  bool joins = false;                    ///< shares the lane and the axis of the series before it
  bool sparse = false;                   ///< has values in few buckets only: they are joined over the others
  std::optional<std::uint32_t> color{};  ///< of its class; nullopt: by its place among the series
};

/// A coloured strip below the lanes: what was so from when on, ascending; "" is not drawn.
struct ChartBand {
  std::string name{};
  std::vector<std::pair<UnixMs, std::string>> changes{};
  bool over_gaps = false;  ///< also drawn where the chart has no samples
  /// All that `changes` may say, so that each keeps its colour in any stretch of time and any language.
  std::vector<std::string> known{};
};

/// All that a chart shows: mean as a line, minimum to maximum as a band, nights shaded, gaps left open.
struct ChartDrawing {
  Chart chart{};
  std::vector<ChartSeries> series{};
  std::vector<ChartBand> bands{};
  bool one_lane = false;  ///< all series share one value axis; else each that does not join has its own lane
  TimeAxis axis{};        ///< `left` and `width` are those of plotArea()
  OptionalClock clock{};
  std::string title{};  ///< with a title come a legend and the span of time; empty: none of them
  std::string note{};   ///< in the middle, instead of the values where it is not empty
  std::string night_name = "night", band_name = "lowest to highest";
  ChartColors colors{};
};

/// Of a box, for ChartCanvas::area().
std::vector<cv::Point2d> cornersOf(const cv::Rect2d& r);

/// Where a chart is drawn: an image, a window. Points are in px from the upper left corner.
class ChartCanvas {
 public:
  virtual ~ChartCanvas() = default;

  virtual double textWidth(const std::string& text) const = 0;
  virtual double textHeight() const = 0;  ///< of a line of text
  /// `left_middle`: of the text.
  virtual void text(const std::string& text, cv::Point2d left_middle, std::uint32_t color) = 0;
  /// A dot where there is one point.
  virtual void line(const std::vector<cv::Point2d>& points, std::uint32_t color, double width) = 0;
  virtual void area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) = 0;
  /// Leaves out what is drawn outside; nullopt: nothing.
  virtual void clip(const std::optional<cv::Rect2d>& rectangle) = 0;

  // Labels, in English where a canvas does not know better.
  virtual std::string label(const TimeTick& tick,
                            const OptionalClock& clock) const;  ///< "06:10", "Sat 3 Oct" or "2026"
  virtual std::string label(double value, int decimals) const;
  virtual std::string label(const TimeAxis& axis, const OptionalClock& clock) const;  ///< from when to when it goes
};

/// The part of a chart of this size that lies between its axes.
cv::Rect2d plotArea(const ChartCanvas& canvas, cv::Size2d size, bool with_title);

/// Draws the chart into a canvas of this size.
void drawChart(const ChartDrawing& chart, cv::Size2d size, ChartCanvas& canvas);

/// The chart as a picture of 1280 x 480, CV_8UC3; higher with more than three lanes. Its axis needs no place in px.
cv::Mat chartPicture(ChartDrawing chart);

}  // namespace mpm::charts
