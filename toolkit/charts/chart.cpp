// SPDX-License-Identifier: Apache-2.0
#include "charts/chart.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>

namespace mpm::charts {
namespace {

constexpr int kHour = 3600, kDay = 86400;

/// From tick to tick: one of the three.
struct Step {
  int seconds = 0, days = 0, months = 0;
  double length() const { return seconds + kDay * (days + 30.4 * months); }
};

constexpr Step kSteps[] = {{1},         {2},         {5},          {10},       {15},       {30},       {60},
                           {120},       {300},       {600},        {900},      {1800},     {kHour},    {2 * kHour},
                           {3 * kHour}, {6 * kHour}, {12 * kHour}, {0, 1},     {0, 2},     {0, 7},     {0, 14},
                           {0, 0, 1},   {0, 0, 3},   {0, 0, 6},    {0, 0, 12}, {0, 0, 24}, {0, 0, 60}, {0, 0, 120},
                           {0, 0, 240}, {0, 0, 600}, {0, 0, 1200}};

UnixMs wholeSecond(double time) { return static_cast<UnixMs>(std::floor(time)) * kSecondMs; }

int remainder(int value, int divisor) { return (value % divisor + divisor) % divisor; }

double middle(const ChartBucket& bucket) { return static_cast<double>(bucket.middle) / kSecondMs; }

}  // namespace

TimeAxis TimeAxis::zoomedAt(double x_fixed, double factor) const {
  const double fixed = time(x_fixed);
  const double span = std::clamp((to - from) / factor, kShortest, kLongest);
  const double share = (x_fixed - left) / width;
  TimeAxis next = *this;
  next.from = fixed - share * span;
  next.to = next.from + span;
  return next;
}

TimeAxis TimeAxis::pannedBy(double pixels) const {
  const double shift = pixels / width * (to - from);
  TimeAxis next = *this;
  next.from -= shift;
  next.to -= shift;
  return next;
}

std::vector<TimeTick> timeTicks(const TimeAxis& axis, double spacing, const OptionalClock& by) {
  std::vector<TimeTick> ticks;
  if (!(axis.to > axis.from) || axis.width < 1) return ticks;
  const double least = spacing / axis.width * (axis.to - axis.from);
  const Step* found = std::find_if(std::begin(kSteps), std::end(kSteps), [&](Step s) { return s.length() >= least; });
  const Step step = found == std::end(kSteps) ? *std::prev(found) : *found;
  const vision::CameraClock clock = vision::clockOrMachine(by);

  // The first tick at or before `from`. Fields beyond their range are fine: wallTime() carries them over.
  vision::CivilTime at = vision::civilTime(clock.wall(wholeSecond(axis.from)));
  const int second_of_day = (at.hour * 60 + at.minute) * 60 + at.second;
  at.hour = at.minute = at.second = at.millisecond = 0;
  if (step.seconds > 0) at.hour = (second_of_day - second_of_day % step.seconds) / kHour;
  constexpr int kMonday = 3;  // days from the Monday before it to 1970-01-01
  if (step.days > 0) at.day -= remainder(static_cast<int>(vision::wallTime(at) / kDayMs) + kMonday, step.days);
  if (step.months > 0) {
    at.day = 1;
    at.month -= remainder(12 * at.year + at.month - 1, step.months);
  }
  // Changes of the clock are whole or half hours. Shorter steps just count seconds, so that both hours have ticks where
  // the clock is put back.
  const bool counts_seconds = step.seconds > 0 && step.seconds <= kHour / 2;
  const auto timeAt = [&] { return static_cast<double>(clock.time(vision::wallTime(at))) / kSecondMs; };
  double time = counts_seconds ? std::floor(axis.from) - second_of_day % step.seconds : timeAt();
  while (time <= axis.to) {
    if (time >= axis.from && (ticks.empty() || time > ticks.back().time)) {
      const vision::CivilTime shown = vision::civilTime(clock.wall(wholeSecond(time)));
      const bool midnight = shown.hour == 0 && shown.minute == 0 && shown.second == 0;
      using Unit = TimeTick::Unit;
      if (step.months > 0)
        ticks.push_back({time, step.months < 12 ? Unit::kMonth : Unit::kYear, shown.month == 1});
      else if (step.days > 0)
        ticks.push_back({time, Unit::kDay, shown.day <= step.days});
      else
        ticks.push_back({time, midnight ? Unit::kDay : step.seconds < 60 ? Unit::kSecond : Unit::kMinute, midnight});
    }
    at.hour += step.seconds / kHour;
    at.day += step.days;
    at.month += step.months;
    time = counts_seconds ? time + step.seconds : timeAt();
  }
  return ticks;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"  // the formats are the callers' tables
std::string timeText(double time, const OptionalClock& clock, const char* format) {
  const UnixMs wall = vision::clockOrMachine(clock).wall(wholeSecond(time));
  const vision::CivilTime shown = vision::civilTime(wall);
  std::tm parts{};
  parts.tm_year = shown.year - 1900;
  parts.tm_mon = shown.month - 1;
  parts.tm_mday = shown.day;
  parts.tm_hour = shown.hour;
  parts.tm_min = shown.minute;
  parts.tm_sec = shown.second;
  constexpr int kThursday = 4;  // 1970-01-01
  parts.tm_wday = remainder(static_cast<int>((wall - vision::wallTime({.hour = shown.hour})) / kDayMs) + kThursday, 7);
  char text[128];  // not std::put_time(), which does not know "%-d"
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

std::vector<double> valueTicks(double low, double high, int max) {
  if (!(high > low)) return {low};
  const double raw = (high - low) / std::max(max, 1);
  const double magnitude = std::pow(10.0, std::floor(std::log10(raw)));
  constexpr double kFactors[] = {0.5, 1, 2, 5, 10};
  const double* factor = kFactors + 1;
  while (*factor * magnitude < raw && *factor < 10) ++factor;
  std::vector<double> result;
  for (; result.size() < 2 && factor >= kFactors; --factor) {  // one tick alone tells no scale
    const double step = *factor * magnitude;
    result.clear();
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) result.push_back(i * step);
  }
  return result;
}

ValueAxis fittingAxis(const Chart& chart, std::size_t first, std::size_t last, const TimeAxis& time,
                      double least_span) {
  ValueAxis axis;
  bool any = false;
  for (const ChartBucket& bucket : chart.buckets) {
    const double at = middle(bucket);
    if (at < time.from || at > time.to) continue;
    for (std::size_t i = first; i < last; ++i) {
      const Spread& spread = bucket.values[i];
      if (spread.samples == 0) continue;
      axis.low = any ? std::min(axis.low, spread.min) : spread.min;
      axis.high = any ? std::max(axis.high, spread.max) : spread.max;
      any = true;
    }
  }
  if (!any) return {0, least_span, 0, 100};
  const double missing = std::max(0.0, least_span - (axis.high - axis.low));
  axis.low -= missing / 2;
  axis.high += missing / 2;
  const double space = (axis.high - axis.low) * 0.08;
  const bool positive = axis.low >= 0;
  axis.low -= space;
  axis.high += space;
  if (positive && axis.low < axis.high * 0.3) axis.low = 0;
  return axis;
}

SeriesShape seriesShape(const Chart& chart, std::size_t value, const TimeAxis& time, const ValueAxis& axis,
                        bool sparse) {
  SeriesShape shape;
  std::vector<cv::Point2d> line, upper, lower;
  const auto finish = [&] {
    if (!line.empty()) shape.lines.push_back(line);
    if (line.size() > 1) {
      upper.insert(upper.end(), lower.rbegin(), lower.rend());
      shape.bands.push_back(upper);
    }
    for (auto* points : {&line, &upper, &lower}) points->clear();
  };
  for (const ChartBucket& bucket : chart.buckets) {
    const Spread& spread = bucket.values[value];
    if (bucket.gap_before || (spread.samples == 0 && !sparse)) finish();
    if (spread.samples == 0) continue;
    const double x = time.x(middle(bucket));
    line.emplace_back(x, axis.y(spread.mean));
    upper.emplace_back(x, axis.y(spread.max));
    lower.emplace_back(x, axis.y(spread.min));
  }
  finish();
  return shape;
}

// A bucket reaches to the next one, unless a gap is between them or more than a part of a night: a picture by night of
// an archive that has one a week says nothing of the days after it. Buckets that hold a night and a day are not shaded.
std::vector<NightStretch> nightStretches(const Chart& chart, const TimeAxis& time) {
  constexpr UnixMs kPartOfNight = 6 * kHourMs;
  std::vector<NightStretch> result;
  if (chart.bucket_ms >= kPartOfNight) return result;
  const auto& buckets = chart.buckets;
  const auto x = [&](UnixMs at) { return time.x(static_cast<double>(at) / kSecondMs); };
  bool joined = false;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const double share = std::clamp(buckets[i].night.value_or(0), 0.0, 1.0), left = x(buckets[i].start);
    double right = x(buckets[i].start + chart.bucket_ms);
    const bool reaches = i + 1 < buckets.size() && !buckets[i + 1].gap_before &&
                         buckets[i + 1].start - buckets[i].start <= std::max(chart.bucket_ms, kPartOfNight);
    if (reaches) right = std::max(right, x(buckets[i + 1].start));
    if (share > 0 && joined && result.back().share == share)
      result.back().right = right;
    else if (share > 0)
      result.push_back({left, right, share});
    joined = share > 0 && reaches;
  }
  return result;
}

int nearestBucket(const Chart& chart, double time) {
  const auto& buckets = chart.buckets;
  if (buckets.empty()) return -1;
  const auto after = std::ranges::lower_bound(buckets, time, {}, middle);
  if (after == buckets.begin()) return 0;
  if (after == buckets.end()) return static_cast<int>(buckets.size()) - 1;
  const auto before = after - 1;
  return static_cast<int>((time - middle(*before) <= middle(*after) - time ? before : after) - buckets.begin());
}

}  // namespace mpm::charts
