// SPDX-License-Identifier: Apache-2.0
#include "chart_picture.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "output.h"

namespace mpm::cli {
namespace {

using monitor::UnixMs;

const cv::Size kSize(1280, 480);
const cv::Rect kPlot(80, 50, 1170, 370);
const cv::Scalar kInk(60, 50, 40), kGrid(225, 225, 225), kNight(245, 232, 222), kBand(235, 205, 170),
    kLine(160, 90, 20);

// 1, 2 or 5 times a power of ten, at least `least`.
double roundStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least) return factor * power;
  return 10 * power;
}

// Where values and times lie in the picture.
struct Axes {
  UnixMs from, to;
  double low, high;

  int x(UnixMs time) const {
    const double share = static_cast<double>(time - from) / static_cast<double>(to - from);
    return kPlot.x + static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kPlot.width));
  }
  int y(double value) const {
    return kPlot.y + kPlot.height - static_cast<int>(std::lround((value - low) / (high - low) * kPlot.height));
  }
};

void write(cv::Mat& picture, const std::string& text, cv::Point at, bool right_aligned = false, double size = 0.45) {
  if (right_aligned) at.x -= cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, size, 1, nullptr).width;
  cv::putText(picture, text, at, cv::FONT_HERSHEY_SIMPLEX, size, kInk, 1, cv::LINE_AA);
}

void drawTimes(cv::Mat& picture, const Axes& axes) {
  using namespace monitor;
  UnixMs step = 365 * kDayMs;
  for (UnixMs candidate : {kMinuteMs, 5 * kMinuteMs, 15 * kMinuteMs, kHourMs, 3 * kHourMs, 6 * kHourMs, 12 * kHourMs,
                           kDayMs, 2 * kDayMs, 7 * kDayMs, 14 * kDayMs, 30 * kDayMs, 91 * kDayMs})
    if ((axes.to - axes.from) / candidate <= 9) {
      step = candidate;
      break;
    }
  for (UnixMs time = (axes.from / step + 1) * step; time < axes.to; time += step) {
    cv::line(picture, {axes.x(time), kPlot.y}, {axes.x(time), kPlot.br().y}, kGrid);
    const std::time_t second = time / kSecondMs;
    std::tm parts{};
    ::gmtime_r(&second, &parts);
    char text[64];
    std::strftime(text, sizeof text, step < kDayMs ? "%d %b %H:%M" : "%d %b %Y", &parts);
    write(picture, text, {axes.x(time) - 40, kPlot.br().y + 22});
  }
  write(picture, "UTC", {kPlot.br().x - 28, kPlot.br().y + 46});
}

}  // namespace

cv::Mat chartPicture(const monitor::Chart& chart, UnixMs from, UnixMs to, const std::string& title) {
  cv::Mat picture(kSize, CV_8UC3, cv::Scalar::all(255));
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  for (const monitor::ChartBucket& bucket : chart.buckets)
    if (bucket.values[0].samples > 0) {
      low = std::min(low, bucket.values[0].min);
      high = std::max(high, bucket.values[0].max);
    }
  write(picture, title, {kPlot.x, 30}, false, 0.6);
  if (low > high || from >= to) {
    write(picture, "no samples", {kPlot.x + kPlot.width / 2 - 40, kPlot.y + kPlot.height / 2});
    return picture;
  }
  const double step = roundStep(std::max(high - low, 1e-3 * std::abs(high) + 1e-6) / 6);
  Axes axes{from, to, std::floor(low / step) * step, std::ceil(high / step) * step};
  if (axes.low == axes.high) axes.high += step;

  const auto span = [&](const monitor::ChartBucket& bucket, double top, double bottom) {
    return cv::Rect(
        cv::Point(axes.x(bucket.start), axes.y(top)),
        cv::Point(std::max(axes.x(bucket.start) + 1, axes.x(bucket.start + chart.bucket_ms)), axes.y(bottom) + 1));
  };
  for (const auto& bucket : chart.buckets)
    if (bucket.night > 0.5) cv::rectangle(picture, span(bucket, axes.high, axes.low), kNight, cv::FILLED);
  drawTimes(picture, axes);
  for (int i = 0; axes.low + i * step <= axes.high + step / 2; ++i) {
    const double value = axes.low + i * step;
    cv::line(picture, {kPlot.x, axes.y(value)}, {kPlot.br().x, axes.y(value)}, kGrid);
    write(picture, fixed(value, step < 1 ? static_cast<int>(std::ceil(-std::log10(step))) : 0),
          {kPlot.x - 8, axes.y(value) + 5}, true);
  }
  for (const auto& bucket : chart.buckets)
    if (bucket.values[0].samples > 0)
      cv::rectangle(picture, span(bucket, bucket.values[0].max, bucket.values[0].min), kBand, cv::FILLED);
  cv::Point last;
  bool joined = false;
  for (const auto& bucket : chart.buckets) {
    joined = joined && !bucket.gap_before;
    if (bucket.values[0].samples == 0) continue;
    const cv::Point at(axes.x(bucket.start + chart.bucket_ms / 2), axes.y(bucket.values[0].mean));
    cv::line(picture, joined ? last : at, at, kLine, 1, cv::LINE_AA);
    last = at;
    joined = true;
  }
  cv::rectangle(picture, kPlot, kInk);
  return picture;
}

}  // namespace mpm::cli
