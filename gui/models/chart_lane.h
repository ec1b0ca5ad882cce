// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QPolygonF>
#include <QRectF>
#include <vector>

#include "gui/models/time_axis.h"
#include "monitor/store/store.h"

namespace mpm::gui {

/// A horizontal band of the chart with an axis of values of its own.
struct ValueAxis {
  double low = 0, high = 1;
  double top = 0, bottom = 100;  ///< px
  double y(double value) const { return bottom - (value - low) / (high - low) * (bottom - top); }
};

/// The buckets of one quantity as what is drawn: lines that end at gaps, and the band between minimum and maximum.
struct LaneShape {
  std::vector<QPolygonF> lines;
  std::vector<QPolygonF> bands;
  std::vector<QPointF> points;  ///< buckets alone between two gaps
};
LaneShape laneShape(const monitor::Chart& chart, int value, const TimeAxis& time, const ValueAxis& axis);

/// A range that holds every value of the buckets on show, with some air; counts and shares begin at 0 when near it.
ValueAxis fittingAxis(const monitor::Chart& chart, int value, const TimeAxis& time, double least_span);

/// Stretches of the axis that are night, as [left, right] in px.
std::vector<std::pair<double, double>> nightStretches(const monitor::Chart& chart, const TimeAxis& time);

/// The bucket nearest to a time; -1 when there is none.
int nearestBucket(const monitor::Chart& chart, double time);

}  // namespace mpm::gui
