// SPDX-License-Identifier: Apache-2.0
#include "cli/pictures/chart_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "cli/pictures/lettering.h"
#include "cli/terminal/output.h"

namespace mpm::cli {
namespace {

using monitor::UnixMs;

const cv::Size kSize(1280, 480);
const cv::Rect2d kPlot(80, 58, 1170, 362);
// Nights are grey, as no line and no band is.
const cv::Scalar kGrid(205, 205, 205), kNight(226, 222, 222), kNightInk(120, 110, 110);
constexpr double kBandOpacity = 0.3;
// Apart to colour-blind eyes too.
const std::array<cv::Scalar, 4> kLines = {cv::Scalar(160, 90, 20), {20, 100, 215}, {110, 140, 20}, {130, 70, 170}};

const cv::Scalar& lineColor(std::size_t series) { return kLines[series % kLines.size()]; }

// 1, 2 or 5 times a power of ten, at least `least`.
double roundStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least) return factor * power;
  return 10 * power;
}

struct TimeText {
  std::string clock, day, year;  // "06:10", "10 Oct", "2026"
};

TimeText timeText(UnixMs time) {
  const std::time_t second = time / monitor::kSecondMs;
  std::tm parts{};
  ::gmtime_r(&second, &parts);
  const auto text = [](auto&& write) {
    char buffer[64];
    return std::string(buffer, write(buffer, sizeof buffer));
  };
  return {text([&](char* to, std::size_t size) { return std::strftime(to, size, "%H:%M", &parts); }),
          text([&](char* to, std::size_t size) { return std::strftime(to, size, "%d %b", &parts); }),
          text([&](char* to, std::size_t size) { return std::strftime(to, size, "%Y", &parts); })};
}

// Where values and times lie in the picture.
struct Axes {
  UnixMs from, to;
  double low, high;

  double x(UnixMs time) const {
    const double share = static_cast<double>(time - from) / static_cast<double>(to - from);
    return kPlot.x + std::clamp(share, 0.0, 1.0) * kPlot.width;
  }
  double y(double value) const { return kPlot.br().y - (value - low) / (high - low) * kPlot.height; }
};

// Where a bucket ends in the picture: where the next one begins, which may be far behind the bucket's own width. Before
// a gap and at the end it is as wide as the one before it.
std::vector<UnixMs> endsOf(const monitor::Chart& chart) {
  const auto& buckets = chart.buckets;
  std::vector<UnixMs> ends;
  UnixMs width = chart.bucket_ms;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const bool last = i + 1 == buckets.size();
    const bool joined = !last && !buckets[i + 1].gap_before;
    if (joined)
      width = buckets[i + 1].start - buckets[i].start;
    else if (buckets[i].gap_before)
      width = chart.bucket_ms;
    // The last sample of a day stands just before its end.
    ends.push_back(buckets[i].start + (last ? 2 : 1) * width);
  }
  return ends;
}

void drawNights(cv::Mat& picture, const Axes& axes, const monitor::Chart& chart, const std::vector<UnixMs>& ends) {
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const double share = std::clamp(chart.buckets[i].night, 0.0, 1.0);
    cv::rectangle(picture, at(axes.x(chart.buckets[i].start), kPlot.y), at(axes.x(ends[i]), kPlot.br().y),
                  cv::Scalar::all(255) * (1 - share) + kNight * share, cv::FILLED);
  }
}

void nameNights(cv::Mat& picture, const Axes& axes, const monitor::Chart& chart, const std::vector<UnixMs>& ends) {
  UnixMs begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const bool night = chart.buckets[i].night > 0.5;
    if (night && !inside) begin = chart.buckets[i].start;
    const bool goes_on = i + 1 < ends.size() && !chart.buckets[i + 1].gap_before && chart.buckets[i + 1].night > 0.5;
    inside = night && goes_on;
    if (!night || goes_on) continue;
    const double left = axes.x(begin), right = axes.x(ends[i]);
    if (right - left > 60) write(picture, "night", (left + right) / 2, kPlot.y + 18, 0.5, 10, kNightInk);
  }
}

void drawTimes(cv::Mat& picture, const Axes& axes) {
  using namespace monitor;
  const bool short_span = axes.to - axes.from <= 36 * kHourMs;  // the hours alone, the date once
  const int most = short_span ? 13 : 9;
  UnixMs step = 365 * kDayMs;
  for (UnixMs candidate : {kMinuteMs, 5 * kMinuteMs, 15 * kMinuteMs, kHourMs, 2 * kHourMs, 3 * kHourMs, 6 * kHourMs,
                           12 * kHourMs, kDayMs, 2 * kDayMs, 7 * kDayMs, 14 * kDayMs, 30 * kDayMs, 91 * kDayMs})
    if ((axes.to - axes.from) / candidate <= most) {
      step = candidate;
      break;
    }
  while ((axes.to - axes.from) / step > most) step *= 2;
  for (UnixMs time = (axes.from + step - 1) / step * step; time <= axes.to; time += step) {
    cv::line(picture, at(axes.x(time), kPlot.y), at(axes.x(time), kPlot.br().y), kGrid, kSupersampling);
    const TimeText text = timeText(time);
    write(picture, short_span ? text.clock : text.day + " " + (step < kDayMs ? text.clock : text.year), axes.x(time),
          kPlot.br().y + 22, 0.5);
  }
  const TimeText begin = timeText(axes.from);
  write(picture, short_span ? "hour (UTC), " + begin.day + " " + begin.year : "UTC", kPlot.x + kPlot.width / 2,
        kPlot.br().y + 46, 0.5);
}

void drawValues(cv::Mat& picture, const Axes& axes, double step, const std::string& unit) {
  for (int i = 0; axes.low + i * step <= axes.high + step / 2; ++i) {
    const double value = axes.low + i * step;
    cv::line(picture, at(kPlot.x, axes.y(value)), at(kPlot.br().x, axes.y(value)), kGrid, kSupersampling);
    write(picture, fixed(value, step < 1 ? static_cast<int>(std::ceil(-std::log10(step))) : 0), kPlot.x - 8,
          axes.y(value) + 5, 1);
  }
  write(picture, unit, kPlot.x - 8, kPlot.y - 14, 1);
}

void drawBand(cv::Mat& picture, const Axes& axes, const monitor::Chart& chart, const std::vector<UnixMs>& ends,
              std::size_t series) {
  cv::Mat band = picture.clone();
  for (std::size_t i = 0; i < ends.size(); ++i)
    if (const auto& value = chart.buckets[i].values[series]; value.max > value.min) {
      const double left = axes.x(chart.buckets[i].start);
      cv::rectangle(band, at(left, axes.y(value.max)), at(std::max(left + 1, axes.x(ends[i])), axes.y(value.min)),
                    lineColor(series), cv::FILLED);
    }
  cv::addWeighted(picture, 1 - kBandOpacity, band, kBandOpacity, 0, picture);
}

void drawLine(cv::Mat& picture, const Axes& axes, const monitor::Chart& chart, std::size_t series) {
  const cv::Scalar& color = lineColor(series);
  cv::Point last;
  bool joined = false;
  for (const auto& bucket : chart.buckets) {
    joined = joined && !bucket.gap_before;
    const auto& value = bucket.values[series];
    if (value.samples == 0) continue;
    const cv::Point here = at(axes.x(bucket.start + chart.bucket_ms / 2), axes.y(value.mean));
    cv::line(picture, joined ? last : here, here, color, 2 * kSupersampling, cv::LINE_AA);
    last = here;
    joined = true;
  }
}

struct LegendEntry {
  std::string text;
  cv::Scalar color;
  bool line = true;  // else an area
};

std::vector<LegendEntry> legendOf(const monitor::Chart& chart, const std::vector<std::string>& names) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < names.size(); ++i) entries.push_back({names[i], lineColor(i)});
  if (names.empty()) entries.push_back({"mean", lineColor(0)});
  bool band = false, night = false;
  for (const auto& bucket : chart.buckets) {
    night = night || bucket.night > 0;
    for (const auto& value : bucket.values) band = band || value.max > value.min;
  }
  const cv::Scalar band_color = cv::Scalar::all(255) * (1 - kBandOpacity) + lineColor(0) * kBandOpacity;
  if (band) entries.push_back({"lowest to highest", band_color, false});
  if (night) entries.push_back({"night", kNight, false});
  return entries;
}

void drawLegend(cv::Mat& picture, const std::vector<LegendEntry>& entries) {
  const double middle = kPlot.y - 18;
  double right = kPlot.br().x;
  for (std::size_t i = entries.size(); i-- > 0;) {
    write(picture, entries[i].text, right, kPlot.y - 14, 1);
    const double left = right - textWidth(entries[i].text, 11) - 32;
    if (entries[i].line)
      cv::line(picture, at(left, middle), at(left + 24, middle), entries[i].color, 3 * kSupersampling, cv::LINE_AA);
    else
      cv::rectangle(picture, at(left, middle - 6), at(left + 24, middle + 6), entries[i].color, cv::FILLED);
    right = left - 24;
  }
}

}  // namespace

cv::Mat chartPicture(const monitor::Chart& chart, UnixMs from, UnixMs to, const ChartText& text) {
  cv::Mat picture(kSize * kSupersampling, CV_8UC3, cv::Scalar::all(255));
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  std::size_t series = 0;
  for (const monitor::ChartBucket& bucket : chart.buckets) {
    series = bucket.values.size();
    for (const monitor::Spread& value : bucket.values)
      if (value.samples > 0) {
        low = std::min(low, value.min);
        high = std::max(high, value.max);
      }
  }
  write(picture, text.title, kPlot.x, 26, 0, 14);
  if (low > high || from >= to || chart.buckets.size() < 2) {
    write(picture, low > high ? "no samples" : "too little to draw yet", kPlot.x + kPlot.width / 2,
          kPlot.y + kPlot.height / 2, 0.5);
    return reduced(picture);
  }
  const double step = roundStep(std::max(high - low, 1e-3 * std::abs(high) + 1e-6) / 6);
  Axes axes{from, to, std::floor(low / step) * step, std::ceil(high / step) * step};
  if (axes.low == axes.high) axes.high += step;

  const std::vector<UnixMs> ends = endsOf(chart);
  drawNights(picture, axes, chart, ends);
  drawTimes(picture, axes);
  drawValues(picture, axes, step, text.unit);
  nameNights(picture, axes, chart, ends);
  for (std::size_t i = 0; i < series; ++i) drawBand(picture, axes, chart, ends, i);
  for (std::size_t i = 0; i < series; ++i) drawLine(picture, axes, chart, i);
  drawLegend(picture, legendOf(chart, text.series));
  cv::rectangle(picture, at(kPlot.x, kPlot.y), at(kPlot.br().x, kPlot.br().y), kInk, kSupersampling);
  return reduced(picture);
}

}  // namespace mpm::cli
