// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "charts/draw_chart.h"
#include "vision/camera_clock.h"

namespace mpm::charts {

/// A day with samples or a picture.
struct DayCell {
  UnixMs start = 0;
  std::optional<double> value{};  ///< nullopt: it has no colour
  std::string text{};             ///< says the date and the value
  std::string picture{};          ///< URL or file of a small picture; empty: none
  UnixMs taken = 0;               ///< of the picture
};

/// Months as blocks of weeks that begin on Monday, each day a picture over a strip of its colour.
struct CalendarDrawing {
  std::vector<DayCell> days{};  ///< ascending
  UnixMs from = 0, to = 0;      ///< all months that have a moment of [from, to) are drawn
  vision::CameraClock clock{};
  std::string unit{};
  int decimals = 0;
  ChartColors colors{};
  /// "March 2026"; of the first moment of the month.
  std::function<std::string(UnixMs)> month = {};
};

/// Where the days lie.
struct CalendarLayout {
  cv::Size2d size{};
  std::vector<cv::Rect2d> days{};                             ///< of CalendarDrawing::days
  std::vector<cv::Rect2d> others{};                           ///< of days without anything
  std::vector<std::pair<cv::Point2d, std::string>> months{};  ///< the left middle of their names
};

/// `width`: px, at least 200.
CalendarLayout layoutOf(const CalendarDrawing& calendar, double width);
/// The part of a cell that its picture fills.
cv::Rect2d pictureIn(const cv::Rect2d& cell);
/// Everything but the pictures.
void drawCalendar(const CalendarDrawing& calendar, const CalendarLayout& layout, ChartCanvas& canvas);
/// As an SVG document, without scripts and styles. Each day is a group of the class "day" with the attributes
/// data-start (ms since 1970), data-text and, with a picture, data-taken.
std::string calendarSvg(const CalendarDrawing& calendar, double width);

}  // namespace mpm::charts
