// SPDX-License-Identifier: Apache-2.0
#include "cli/pictures/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/terminal/output.h"

namespace mpm::cli {
namespace {

constexpr double kBorder = 10, kBar = 11, kGroupGap = 8, kMaxTicks = 8;
constexpr std::size_t kMaxLetters = 44;  // of a name in a legend of two columns
const monitor::ChartColors kColors;

std::vector<cv::Point2d> corners(double left, double top, double right, double bottom) {
  return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  Range widened(double share) const {
    if (!(high >= low)) return {0, 1};
    const double space = high > low ? (high - low) * share : std::max(1e-3, std::abs(high) * share);
    return {low - space, high + space};
  }
};

int decimalsOf(double step) { return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 4); }

/// Maps values to pixels and draws the axes.
class Axes {
 public:
  Axes(monitor::ChartCanvas& canvas, cv::Rect2d plot, Range x, Range y) : canvas_(canvas), plot_(plot), x_(x), y_(y) {}

  cv::Point2d at(double x, double y) const {
    return {plot_.x + (x - x_.low) / (x_.high - x_.low) * plot_.width,
            plot_.br().y - (y - y_.low) / (y_.high - y_.low) * plot_.height};
  }

  void drawX(const std::string& name) const {
    const auto ticks = monitor::valueTicks(x_.low, x_.high, static_cast<int>(kMaxTicks));
    const int decimals = ticks.size() > 1 ? decimalsOf(ticks[1] - ticks[0]) : 1;
    for (const double tick : ticks) {
      const double x = at(tick, y_.low).x;
      const std::string label = fixed(std::abs(tick) < 1e-9 ? 0 : tick, decimals);
      canvas_.line({{x, plot_.y}, {x, plot_.br().y}}, kColors.grid, 1);
      canvas_.text(label, {x - canvas_.textWidth(label) / 2, plot_.br().y + 12}, kColors.muted);
    }
    canvas_.text(name, {plot_.br().x - canvas_.textWidth(name), plot_.br().y + 30}, kColors.text);
  }

  void drawY(const std::string& name) const {
    const auto ticks = monitor::valueTicks(y_.low, y_.high, static_cast<int>(kMaxTicks));
    const int decimals = ticks.size() > 1 ? decimalsOf(ticks[1] - ticks[0]) : 1;
    for (const double tick : ticks) {
      const double y = at(x_.low, tick).y;
      const std::string label = fixed(std::abs(tick) < 1e-9 ? 0 : tick, decimals);
      canvas_.line({{plot_.x, y}, {plot_.br().x, y}}, kColors.grid, 1);
      canvas_.text(label, {plot_.x - 8 - canvas_.textWidth(label), y}, kColors.muted);
    }
    canvas_.text(name, {kBorder, plot_.y - 14}, kColors.text);
  }

 private:
  monitor::ChartCanvas& canvas_;
  cv::Rect2d plot_;
  Range x_, y_;
};

void drawTitle(const std::string& title, cv::Size size, monitor::ChartCanvas& canvas) {
  canvas.area(corners(0, 0, size.width, size.height), kColors.background, 1);
  canvas.text(title, {kBorder, kBorder + canvas.textHeight() / 2}, kColors.text);
}

using Legend = std::vector<std::pair<std::string, std::size_t>>;

Legend legendOf(const Plot& plot) {
  Legend legend;
  for (const PlotSeries& series : plot.series)
    if (series.in_legend) legend.emplace_back(series.name, series.color);
  return legend;
}

Legend legendOf(const BarPlot& plot) {
  Legend legend;
  for (std::size_t s = 0; s < plot.series.size(); ++s) legend.emplace_back(plot.series[s], s);
  return legend;
}

/// Two, unless a name is too long.
std::size_t columnsOf(const Legend& legend) {
  return std::any_of(legend.begin(), legend.end(), [](const auto& entry) { return entry.first.size() > kMaxLetters; })
             ? 1
             : 2;
}

int heightOf(const Legend& legend) {
  const std::size_t columns = columnsOf(legend);
  return static_cast<int>((legend.size() + columns - 1) / columns) * 18 + 14;
}

/// In rows below the plot.
void drawLegend(const Legend& legend, double top, monitor::ChartCanvas& canvas) {
  const std::size_t columns = columnsOf(legend);
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const double x = kBorder + static_cast<double>(i % columns) * (kPlotWidth / 2.0);
    const double y = top + static_cast<double>(i / columns) * canvas.textHeight();
    canvas.line({{x + 6, y}}, plotColor(legend[i].second), 5);
    canvas.text(legend[i].first, {x + 18, y}, kColors.text);
  }
}

constexpr int kPlotTop = 60, kPlotHeight = 340, kBelowPlot = 56;

double groupHeight(const BarPlot& plot) {
  return kBar * (plot.stacked ? 1.6 : static_cast<double>(plot.series.size())) + kGroupGap;
}

}  // namespace

std::uint32_t plotColor(std::size_t index) {
  constexpr std::uint32_t kPalette[] = {0x1f62c4, 0xb0500f, 0x1a7a5a, 0x8b3fa0, 0xc0392b, 0x4b9cd3,
                                        0x8a7000, 0x555e6d, 0xe08fb0, 0x2f3e75, 0x6fae45, 0xd98c21};
  return kPalette[index % std::size(kPalette)];
}

cv::Size sizeOf(const Plot& plot) {
  return {kPlotWidth, kPlotTop + kPlotHeight + kBelowPlot + heightOf(legendOf(plot))};
}

cv::Size sizeOf(const BarPlot& plot) {
  return {kPlotWidth, 40 + static_cast<int>(groupHeight(plot) * static_cast<double>(plot.categories.size())) +
                          kBelowPlot + heightOf(legendOf(plot))};
}

void draw(const Plot& plot, monitor::ChartCanvas& canvas) {
  drawTitle(plot.title, sizeOf(plot), canvas);
  Range x, y;
  for (const PlotSeries& series : plot.series)
    for (const cv::Point2d& point : series.points) {
      x.add(point.x);
      y.add(point.y);
    }
  const cv::Rect2d place(66, kPlotTop, kPlotWidth - 66 - 20, kPlotHeight);
  const Axes axes(canvas, place, x.widened(0.06), y.widened(0.08));
  axes.drawX(plot.x_name);
  axes.drawY(plot.y_name);
  for (const PlotSeries& series : plot.series) {
    std::vector<cv::Point2d> points;
    for (const cv::Point2d& point : series.points) points.push_back(axes.at(point.x, point.y));
    if (series.line && points.size() > 1) canvas.line(points, plotColor(series.color), 1.5);
    if (!series.line)
      for (const cv::Point2d& point : points) canvas.line({point}, plotColor(series.color), 5);
  }
  drawLegend(legendOf(plot), kPlotTop + kPlotHeight + kBelowPlot, canvas);
}

void draw(const BarPlot& plot, monitor::ChartCanvas& canvas) {
  const cv::Size size = sizeOf(plot);
  drawTitle(plot.title, size, canvas);
  Range x;
  x.add(0);
  for (std::size_t c = 0; c < plot.categories.size(); ++c) {
    double end = 0;
    for (const auto& values : plot.values) {
      x.add(values[c]);
      if (std::isfinite(values[c])) end += values[c];
    }
    if (plot.stacked) x.add(end);
  }
  double names = 0;
  for (const std::string& name : plot.categories) names = std::max(names, canvas.textWidth(name));
  const double height = groupHeight(plot) * static_cast<double>(plot.categories.size());
  const cv::Rect2d place(names + 2 * kBorder, 40, kPlotWidth - names - 4 * kBorder, height);
  const Axes axes(canvas, place, x.widened(0.03), {0, 1});
  axes.drawX(plot.x_name);
  for (std::size_t c = 0; c < plot.categories.size(); ++c) {
    double top = place.y + groupHeight(plot) * static_cast<double>(c), start = 0;
    canvas.text(plot.categories[c], {kBorder, top + (groupHeight(plot) - kGroupGap) / 2}, kColors.text);
    for (std::size_t s = 0; s < plot.values.size(); ++s) {
      const double value = plot.values[s][c], thick = plot.stacked ? kBar * 1.6 : kBar;
      if (std::isfinite(value)) {
        const double from = axes.at(start, 0).x, to = axes.at(start + value, 0).x;
        canvas.area(corners(std::min(from, to), top, std::max(from, to), top + thick - 1), plotColor(s), 1);
        if (plot.stacked) start += value;
      }
      if (!plot.stacked) top += kBar;
    }
  }
  const double zero = axes.at(0, 0).x;
  canvas.line({{zero, place.y}, {zero, place.br().y}}, kColors.muted, 1);
  drawLegend(legendOf(plot), 40 + height + kBelowPlot, canvas);
}

}  // namespace mpm::cli
