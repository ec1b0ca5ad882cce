// SPDX-License-Identifier: Apache-2.0
#include "charts/draw_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <opencv2/imgproc.hpp>
#include <sstream>
#include <utility>

#include "vision/pictures/lettering.h"

namespace mpm::charts {
namespace {

constexpr double kGapBetweenLanes = 10, kMargin = 6, kBandOpacity = 0.2, kPlateOpacity = 0.88, kStateOpacity = 0.25,
                 kStronger = 0.2;
constexpr double kReadableOpacity = 0.451;  // of a colour on which a name has a contrast of 4.5:1

double sharp(double at) { return std::floor(at) + 0.5; }  // a line of one pixel

class Drawer {
 public:
  Drawer(const ChartDrawing& chart, cv::Size2d size, ChartCanvas& canvas)
      : chart_(chart),
        size_(size),
        canvas_(canvas),
        plot_(plotArea(canvas, size, !chart.title.empty())),
        line_(canvas.textHeight()) {}

  void draw() {
    canvas_.area(cornersOf({0, 0, size_.width, size_.height}), chart_.colors.background, 1);
    canvas_.clip(plot_);
    for (const NightStretch& night : nightStretches(chart_.chart, chart_.axis)) {
      const double left = std::floor(night.left), right = std::max(left + 1, std::floor(night.right));
      canvas_.area(cornersOf({left, plot_.y, right - left, plot_.height}), chart_.colors.night, night.share);
    }
    canvas_.clip({});
    drawTimes();
    std::vector<std::size_t> lanes;  // the first series of each
    for (std::size_t i = 0; i < chart_.series.size(); ++i)
      if (i == 0 || !(chart_.one_lane || chart_.series[i].joins)) lanes.push_back(i);
    std::vector<PlacedBand> strips;
    double bands = 0;
    for (const ChartBand& band : chart_.bands) bands += heightOf(strips.emplace_back(placed(band)));
    const double height = (plot_.height - bands + kGapBetweenLanes) / std::max(1.0, static_cast<double>(lanes.size()));
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      drawLane({plot_.x, plot_.y + static_cast<double>(i) * height, plot_.width, height - kGapBetweenLanes}, lanes[i],
               i + 1 < lanes.size() ? lanes[i + 1] : chart_.series.size());
    }
    double top = plot_.br().y - bands + kGapBetweenLanes / 2;
    for (const PlacedBand& strip : strips) {
      drawBand(strip, top);
      top += heightOf(strip);
    }
    if (!chart_.title.empty()) drawTitle();
    drawNote();
  }

 private:
  struct Stretch {
    double left, right;  // px
    std::size_t state;   // among PlacedBand::states
  };

  // A state of a band that is named above its strip.
  struct NamedState {
    std::size_t state;
    double x;  // px
    int row;
  };

  struct PlacedBand {
    const ChartBand& band;
    std::vector<std::string> states{};
    std::vector<Stretch> stretches{};
    std::vector<NamedState> named{};
    double names_height = 0;  // px, above the strip

    // Outages begin at another colour than states, so that a strip is not read by the names of the one below it.
    std::size_t place(std::size_t state) const { return state + (band.over_gaps ? 2 : 0); }
  };

  static std::vector<std::string> statesOf(const ChartBand& band) {
    std::vector<std::string> states = band.known;
    for (const auto& [time, state] : band.changes)
      if (!state.empty() && std::ranges::find(states, state) == states.end()) states.push_back(state);
    return states;
  }

  double sideOfColor() const { return line_ * 0.6; }

  PlacedBand placed(const ChartBand& band) const {
    PlacedBand result{.band = band, .states = statesOf(band)};
    result.stretches = stretchesOf(band, result.states);
    result.named = namedStates(result);
    result.names_height = line_ * (result.named.empty() ? 1 : result.named.back().row + 1);
    return result;
  }
  double heightOf(const PlacedBand& one) const { return one.names_height + line_ + 8; }

  // Only where there are samples, but for ChartBand::over_gaps.
  std::vector<Stretch> stretchesOf(const ChartBand& band, const std::vector<std::string>& states) const {
    std::vector<Stretch> stretches;
    std::vector<double> until(states.size(), plot_.x);  // px; a column has each colour once, however many changes
    const auto add = [&](double from, double to, const std::string& state) {
      const auto index = static_cast<std::size_t>(std::ranges::find(states, state) - states.begin());
      double left = std::max(plot_.x, std::floor(chart_.axis.x(from)));
      const double right = std::min(plot_.br().x, std::max(left + 1, std::floor(chart_.axis.x(to))));
      left = std::max(left, std::exchange(until[index], std::max(right, until[index])));
      if (right > left) stretches.push_back({left, right, index});
    };
    const auto between = [&](UnixMs from, UnixMs to) {
      auto change = std::ranges::upper_bound(band.changes, from, {}, &std::pair<UnixMs, std::string>::first);
      if (change != band.changes.begin()) --change;  // it lasts until `from`
      for (; change != band.changes.end() && change->first < to; ++change) {
        const auto& [time, state] = *change;
        const auto next = std::next(change);
        const UnixMs begin = std::max(from, time), end = next == band.changes.end() ? to : std::min(to, next->first);
        if (!state.empty() && begin < end)
          add(static_cast<double>(begin) / kSecondMs, static_cast<double>(end) / kSecondMs, state);
      }
    };
    const std::vector<ChartBucket>& buckets = chart_.chart.buckets;
    if (band.over_gaps) between(INT64_MIN, INT64_MAX);
    for (std::size_t i = 0, first = 0; i < buckets.size() && !band.over_gaps; ++i) {
      if (i + 1 < buckets.size() && !buckets[i + 1].gap_before) continue;
      between(buckets[first].start, buckets[i].start + chart_.chart.bucket_ms);
      first = i + 1;
    }
    return stretches;
  }

  bool holdsItsName(const PlacedBand& one, const Stretch& stretch) const {
    return canvas_.textWidth(one.states[stretch.state]) + 8 <= stretch.right - stretch.left &&
           opacityOf(one.place(stretch.state)) <= kReadableOpacity;
  }

  // Beside the name of the band, in as many rows as they need: all causes of outages, whose stretches are often short,
  // and all states on show if no stretch of one of them is wide enough for its name.
  std::vector<NamedState> namedStates(const PlacedBand& one) const {
    const ChartBand& band = one.band;
    const std::vector<std::string>& states = one.states;
    std::vector<bool> occurs(states.size()), fits(states.size());
    for (const Stretch& stretch : one.stretches) {
      occurs[stretch.state] = true;
      fits[stretch.state] = fits[stretch.state] || holdsItsName(one, stretch);
    }
    if (!band.over_gaps && occurs == fits) return {};
    std::vector<NamedState> named;
    const double first = plot_.x + 36 + canvas_.textWidth(band.name);
    double x = first;
    int row = 0;
    for (std::size_t state = 0; state < states.size(); ++state) {
      if (!(band.over_gaps ? changesTo(band, states[state]) : occurs[state])) continue;
      const double width = sideOfColor() + 4 + canvas_.textWidth(states[state]);
      if (x + width > plot_.br().x && x > first) {
        x = first;
        ++row;
      }
      named.push_back({state, x, row});
      x += width + 18;
    }
    return named;
  }

  static bool changesTo(const ChartBand& band, const std::string& state) {
    return std::ranges::find(band.changes, state, &std::pair<UnixMs, std::string>::second) != band.changes.end();
  }

  // Each state has a colour, by its place among the known.
  void drawBand(const PlacedBand& one, double top) {
    const double strip = top + one.names_height, side = sideOfColor();
    for (const Stretch& stretch : one.stretches) {
      const auto& [left, right, state] = stretch;
      canvas_.area(cornersOf({left, strip + 2, right - left, line_ + 2}), placeColor(one.place(state)),
                   opacityOf(one.place(state)));
      if (!holdsItsName(one, stretch)) continue;
      const std::string& name = one.states[state];
      canvas_.text(name, {left + (right - left - canvas_.textWidth(name)) / 2, strip + line_ * 0.5 + 3},
                   chart_.colors.text);
    }
    drawOnPlate(one.band.name, {plot_.x + 12, top + line_ / 2}, chart_.colors.muted);
    for (const auto& [state, x, row] : one.named) {
      const double middle = top + line_ * (row + 0.5);
      canvas_.area(cornersOf({x, middle - side / 2, side, side}), placeColor(one.place(state)),
                   opacityOf(one.place(state)));
      canvas_.text(one.states[state], {x + side + 4, middle}, chart_.colors.muted);
    }
  }

  // More states than colours are told apart by their strength.
  double opacityOf(std::size_t place) const {
    return std::min(1.0, kStateOpacity + kStronger * static_cast<double>(place / chart_.colors.series.size()));
  }

  void drawTimes() {
    const double widest = canvas_.textWidth("Www 30 Www") + 24;
    for (const TimeTick& tick : timeTicks(chart_.axis, widest, chart_.clock)) {
      const double x = sharp(chart_.axis.x(tick.time));
      canvas_.line({{x, plot_.y}, {x, plot_.br().y}}, tick.major ? chart_.colors.border : chart_.colors.grid, 1);
      const std::string label = canvas_.label(tick, chart_.clock);
      const double width = canvas_.textWidth(label);
      canvas_.text(label, {std::max(0.0, std::min(x - width / 2, size_.width - width)), plot_.br().y + 4 + line_ / 2},
                   chart_.colors.muted);
    }
  }

  // One lane, with the series [first, last) on one axis.
  void drawLane(const cv::Rect2d& lane, std::size_t first, std::size_t last) {
    const ChartSeries& one = chart_.series[first];
    const std::vector<SeriesName> names = namesOf(lane, first, last);
    ValueAxis values;
    if (chart_.note.empty())
      values = fittingAxis(chart_.chart, first, last, chart_.axis, 4 * std::pow(10, -one.decimals));
    values.top =
        lane.y + (names.back().row > 0 ? namesHeight(names.back().row) : std::min(namesHeight(0), lane.height / 3));
    values.bottom = lane.br().y;
    const double bottom = sharp(lane.br().y);
    canvas_.line({{lane.x, bottom}, {lane.br().x, bottom}}, chart_.colors.border, 1);
    if (chart_.note.empty()) {
      drawValues(lane, values);
      canvas_.clip(cv::Rect2d(lane.x, lane.y - 1, lane.width, lane.height + 2));
      for (std::size_t i = first; i < last; ++i) drawSeries(i, values);
      canvas_.clip({});
    }
    for (std::size_t i = first; i < last; ++i) {
      const auto& [text, x, row] = names[i - first];
      if (text.empty()) continue;  // a narrow chart has no room for it
      const auto color = chart_.series[i].color;
      const double middle = lane.y + 3 + line_ * (row + 0.5), side = sideOfColor();
      if (color) canvas_.area(cornersOf({x, middle - side / 2, side, side}), *color, 1);
      drawOnPlate(text, {x + 6 + (color ? side + 4 : 0), middle}, color ? chart_.colors.text : colorOf(i));
    }
  }

  struct SeriesName {
    std::string text;
    double x;  // px, of its swatch or its plate
    int row;
  };

  // The names stand in the lane, in the colours of their lines, so that no colour has to be matched with a legend.
  // The colour of a class may be too pale for a text, so it has a swatch. Where lanes are lower than a line, a name
  // begins behind that of the lane above.
  std::vector<SeriesName> namesOf(const cv::Rect2d& lane, std::size_t first, std::size_t last) {
    std::vector<SeriesName> names;
    const double left = lane.x + 6;
    double x = lane.height < line_ && names_end_ < plot_.br().x - plot_.width / 3 ? names_end_ : left;
    int row = 0;
    for (std::size_t i = first; i < last; ++i) {
      const ChartSeries& series = chart_.series[i];
      const double before = 6 + (series.color ? sideOfColor() + 4 : 0);
      const std::string name = series.name + (series.unit.empty() ? "" : " (" + series.unit + ")");
      if (x > left && x + before + canvas_.textWidth(name) > lane.br().x && namesHeight(row + 1) <= lane.height / 2) {
        x = left;
        ++row;
      }
      names.push_back({shortened(name, lane.br().x - x - before), x, row});
      x += before + canvas_.textWidth(names.back().text) + 18;
    }
    names_end_ = x;
    return names;
  }

  double namesHeight(int last_row) const { return line_ * (last_row + 1) + 6; }  // of the names of a lane

  // The text, or as much of it as there is room for.
  std::string shortened(std::string text, double room) const {
    if (canvas_.textWidth(text) <= room) return text;
    const auto inside = [](char byte) { return (byte & 0xc0) == 0x80; };  // of a character of UTF-8
    do {
      while (!text.empty() && inside(text.back())) text.pop_back();
      if (!text.empty()) text.pop_back();
    } while (!text.empty() && canvas_.textWidth(text + "...") > room);
    return text.empty() ? text : text + "...";
  }

  void drawValues(const cv::Rect2d& lane, const ValueAxis& values) {
    auto ticks = valueTicks(values.low, values.high, std::max(2, static_cast<int>(lane.height / (line_ * 1.8))));
    std::ranges::reverse(ticks);  // from the top
    int decimals = 0;             // that all ticks need
    for (const double value : ticks)
      while (decimals < 6 && std::abs(std::remainder(value, std::pow(10, -decimals))) > 1e-9) ++decimals;
    double above = lane.y - line_;  // the label before this one
    for (const double value : ticks) {
      const double y = sharp(values.y(value));
      canvas_.line({{lane.x, y}, {lane.br().x, y}}, chart_.colors.grid, 1);
      if (y - above < line_) continue;
      above = y;
      const std::string label = canvas_.label(value, decimals);
      canvas_.text(label, {lane.x - 6 - canvas_.textWidth(label), std::clamp(y, line_ / 2, size_.height - line_ / 2)},
                   chart_.colors.muted);
    }
  }

  void drawSeries(std::size_t i, const ValueAxis& values) {
    const SeriesShape shape = seriesShape(chart_.chart, i, chart_.axis, values, chart_.series[i].sparse);
    for (const auto& band : shape.bands) canvas_.area(band, colorOf(i), kBandOpacity);
    const bool of_class = chart_.series[i].color.has_value();  // with a rim, as it may be as pale as the background
    for (const auto& line : shape.lines) {
      if (of_class) canvas_.line(line, chart_.colors.muted, 3);
      canvas_.line(line, colorOf(i), of_class ? 2 : 1.6);
    }
  }

  // Title at the left, what shades mean at the right, the span of time below.
  void drawTitle() {
    const double y = kMargin + line_ / 2;
    canvas_.text(chart_.title, {plot_.x, y}, chart_.colors.text);
    double right = plot_.br().x;
    const double title_end = plot_.x + canvas_.textWidth(chart_.title) + 12;
    const auto entry = [&](const std::string& name, std::uint32_t color, double opacity) {
      if (right - canvas_.textWidth(name) - 6 - line_ < title_end)
        return;  // a narrow chart has room for its title alone
      right -= canvas_.textWidth(name);
      canvas_.text(name, {right, y}, chart_.colors.muted);
      right -= 6 + line_;
      canvas_.area(cornersOf({right, y - line_ / 3, line_, line_ * 2 / 3}), color, opacity);
      right -= 18;
    };
    bool band = false;
    for (const ChartBucket& bucket : chart_.chart.buckets)
      for (const Spread& value : bucket.values) band = band || value.max > value.min;
    if (!nightStretches(chart_.chart, chart_.axis).empty()) entry(chart_.night_name, chart_.colors.night, 1);
    if (band) entry(chart_.band_name, chart_.series.empty() ? placeColor(0) : colorOf(0), kBandOpacity);
    const std::string span = canvas_.label(chart_.axis, chart_.clock);
    const double left = std::max(2.0, plot_.x + (plot_.width - canvas_.textWidth(span)) / 2);
    canvas_.text(span, {left, size_.height - kMargin - line_ / 2}, chart_.colors.muted);
  }

  void drawNote() {
    if (chart_.note.empty()) return;
    std::vector<std::string> lines;
    std::istringstream words(chart_.note);
    for (std::string word; words >> word;) {
      const std::string longer = lines.empty() ? word : lines.back() + ' ' + word;
      if (!lines.empty() && canvas_.textWidth(longer) <= plot_.width - 12)
        lines.back() = longer;
      else
        lines.push_back(word);
    }
    double y = plot_.y + (plot_.height - line_ * static_cast<double>(lines.size() - 1)) / 2;
    for (const std::string& line : lines) {
      drawOnPlate(line, {plot_.x + (plot_.width - canvas_.textWidth(line)) / 2, y}, chart_.colors.muted);
      y += line_;
    }
  }

  void drawOnPlate(const std::string& text, cv::Point2d left_middle, std::uint32_t color) {
    const double height = line_ + 2;
    canvas_.area(cornersOf({left_middle.x - 6, left_middle.y - height / 2, canvas_.textWidth(text) + 12, height}),
                 chart_.colors.background, kPlateOpacity);
    canvas_.text(text, left_middle, color);
  }

  std::uint32_t placeColor(std::size_t place) const {
    return chart_.colors.series[place % chart_.colors.series.size()];
  }
  std::uint32_t colorOf(std::size_t series) const { return chart_.series[series].color.value_or(placeColor(series)); }

  const ChartDrawing& chart_;
  cv::Size2d size_;
  ChartCanvas& canvas_;
  cv::Rect2d plot_;
  double line_;  // height
  double names_end_ = plot_.x + 6;
};

using vision::at, vision::kSupersampling;

constexpr double kFontSize = 11, kLineHeight = 18;

cv::Scalar scalarOf(std::uint32_t rgb) {
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
    vision::write(picture_, text, left_middle.x, left_middle.y + kFontSize / 2, 0, kFontSize, scalarOf(color));
  }

  void line(const std::vector<cv::Point2d>& points, std::uint32_t color, double width) override {
    const int pixels = cvRound(width * kSupersampling);
    if (points.size() == 1)
      cv::circle(part_, pixelsOf(points)[0], pixels, scalarOf(color), cv::FILLED, cv::LINE_AA);
    else
      cv::polylines(part_, pixelsOf(points), false, scalarOf(color), pixels, cv::LINE_AA);
  }

  void area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) override {
    const std::vector<cv::Point> pixels = pixelsOf(corners);
    cv::Rect place;  // without boundingRect(), which is in another module of OpenCV 5
    for (const cv::Point& pixel : pixels) place |= cv::Rect(pixel, cv::Size(1, 1));
    place &= cv::Rect({}, part_.size());
    if (place.empty()) return;
    cv::Mat below = part_(place), above = below.clone();
    cv::fillPoly(above, pixels, scalarOf(color), cv::LINE_8, 0, -place.tl());
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

std::vector<cv::Point2d> cornersOf(const cv::Rect2d& r) {
  return {{r.x, r.y}, {r.br().x, r.y}, r.br(), {r.x, r.br().y}};
}

std::string ChartCanvas::label(const TimeTick& tick, const OptionalClock& clock) const {
  constexpr const char* kFormats[] = {"%H:%M:%S", "%H:%M", "%a %-d %b", "%b %Y", "%Y"};  // by TimeTick::Unit
  return timeText(tick.time, clock, kFormats[static_cast<int>(tick.unit)]);
}

std::string ChartCanvas::label(double value, int decimals) const {
  char text[64];
  const double shown = std::abs(value) < 0.5 * std::pow(10, -decimals) ? 0 : value;  // "-0" is no label
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.*f", decimals, shown))};
}

std::string ChartCanvas::label(const TimeAxis& axis, const OptionalClock& clock) const {
  const auto text = [&](double time) { return timeText(time, clock, "%-d %b %Y %H:%M"); };
  return text(axis.from) + " to " + text(axis.to) + " " + vision::clockOrMachine(clock).name();
}

cv::Rect2d plotArea(const ChartCanvas& canvas, cv::Size2d size, bool with_title) {
  const double line = canvas.textHeight(), left = canvas.textWidth("000000") + 12;
  const double top = kMargin + (with_title ? line + kMargin : 0), bottom = line + 8 + (with_title ? line + 4 : 0);
  return {left, top, std::max(10.0, size.width - left - 10), std::max(10.0, size.height - top - bottom)};
}

void drawChart(const ChartDrawing& chart, cv::Size2d size, ChartCanvas& canvas) { Drawer(chart, size, canvas).draw(); }

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
