// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QCoreApplication>
#include <QFont>
#include <QImage>
#include <optional>
#include <vector>

#include "gui/models/chart_lane.h"
#include "gui/models/theme.h"

class QPainter;

namespace mpm::gui {

struct ChartSeries {
  monitor::Quantity quantity;
  QString name;
  QString unit;       ///< "", "ms", "%"
  double factor = 1;  ///< from the stored to the shown value
  int decimals = 0;
};

/// Everything a chart is drawn from. A copy of it can be painted on any thread.
struct ChartScene {
  std::vector<ChartSeries> series;
  monitor::Chart chart;
  std::vector<monitor::Quantity> answered;  ///< the quantities of `chart`
  std::vector<double> pictures;             ///< times with a stored picture, s
  TimeAxis axis;
  std::optional<double> crosshair;  ///< s
  Theme look;
  QFont font;
  QRectF plot;  ///< as layOut() found it

  /// Room for the labels; to be called when size, font or series changed.
  void layOut(QSizeF size);
  void paint(QPainter& painter, QSizeF size) const;
  /// `size` in points, at twice as many pixels each way, in light colours on white.
  QImage picture(QSize size) const;

  /// The stored time nearest to the crosshair, and what was measured then; one per line.
  QString crosshairText() const;

  Q_DECLARE_TR_FUNCTIONS(mpm::gui::TimeChart)
};

}  // namespace mpm::gui
