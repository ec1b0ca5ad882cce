// SPDX-License-Identifier: Apache-2.0
#include "gui/models/chart_lane.h"

#include <algorithm>
#include <cmath>

namespace mpm::gui {
namespace {

double middle(const monitor::Chart& chart, const monitor::ChartBucket& bucket) {
  return (static_cast<double>(bucket.start) + static_cast<double>(chart.bucket_ms) / 2) / 1000;
}

}  // namespace

LaneShape laneShape(const monitor::Chart& chart, int value, const TimeAxis& time, const ValueAxis& axis) {
  LaneShape shape;
  QPolygonF line, upper, lower;
  const auto finish = [&] {
    if (line.size() == 1) shape.points.push_back(line.front());
    if (line.size() > 1) {
      shape.lines.push_back(line);
      std::reverse(lower.begin(), lower.end());
      shape.bands.push_back(upper + lower);
    }
    line.clear();
    upper.clear();
    lower.clear();
  };
  for (const monitor::ChartBucket& bucket : chart.buckets) {
    const monitor::Spread& spread = bucket.values[value];
    if (bucket.gap_before || spread.samples == 0) finish();
    if (spread.samples == 0) continue;
    const double x = time.x(middle(chart, bucket));
    line.append({x, axis.y(spread.mean)});
    upper.append({x, axis.y(spread.max)});
    lower.append({x, axis.y(spread.min)});
  }
  finish();
  return shape;
}

ValueAxis fittingAxis(const monitor::Chart& chart, int value, const TimeAxis& time, double least_span) {
  ValueAxis axis;
  bool any = false;
  for (const monitor::ChartBucket& bucket : chart.buckets) {
    const double at = middle(chart, bucket);
    const monitor::Spread& spread = bucket.values[value];
    if (spread.samples == 0 || at < time.from || at > time.to) continue;
    axis.low = any ? std::min(axis.low, spread.min) : spread.min;
    axis.high = any ? std::max(axis.high, spread.max) : spread.max;
    any = true;
  }
  if (!any) return {0, least_span, 0, 100};
  const double missing = std::max(0.0, least_span - (axis.high - axis.low));
  axis.low -= missing / 2;
  axis.high += missing / 2;
  const double air = (axis.high - axis.low) * 0.08;
  const bool positive = axis.low >= 0;
  axis.low -= air;
  axis.high += air;
  if (positive && axis.low < axis.high * 0.3) axis.low = 0;
  axis.low = positive ? std::max(axis.low, 0.0) : axis.low;
  return axis;
}

std::vector<std::pair<double, double>> nightStretches(const monitor::Chart& chart, const TimeAxis& time) {
  std::vector<std::pair<double, double>> result;
  double previous_end = -1;
  for (const monitor::ChartBucket& bucket : chart.buckets) {
    const double start = static_cast<double>(bucket.start) / 1000;
    const double end = start + static_cast<double>(chart.bucket_ms) / 1000;
    if (bucket.night >= 0.5) {
      const double left = time.x(start), right = time.x(end);
      // Buckets of the raw samples are narrower than the distance between two: one stretch unless there is a gap.
      if (previous_end >= 0 && !bucket.gap_before)
        result.back().second = right;
      else
        result.emplace_back(left, right);
      previous_end = end;
    } else {
      previous_end = -1;
    }
  }
  return result;
}

int nearestBucket(const monitor::Chart& chart, double time) {
  const auto& buckets = chart.buckets;
  if (buckets.empty()) return -1;
  const auto after = std::lower_bound(buckets.begin(), buckets.end(), time,
                                      [&](const monitor::ChartBucket& b, double t) { return middle(chart, b) < t; });
  if (after == buckets.begin()) return 0;
  if (after == buckets.end()) return static_cast<int>(buckets.size()) - 1;
  const auto before = after - 1;
  return static_cast<int>((time - middle(chart, *before) <= middle(chart, *after) - time ? before : after) -
                          buckets.begin());
}

}  // namespace mpm::gui
