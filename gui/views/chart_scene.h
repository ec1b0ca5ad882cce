// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "charts/draw_chart.h"
#include "gui/models/theme.h"

namespace mpm::gui {

using charts::ChartSeries;
using charts::TimeAxis;

/// The chart of the window: what every chart shows, with a crosshair and marks of stored pictures. A copy of it can be
/// painted on any thread.
struct ChartScene : charts::ChartDrawing {
  std::vector<double> pictures;     ///< times with a stored picture, s
  std::optional<double> crosshair;  ///< s
  Theme look;
  QFont font;
  QRectF plot;  ///< as paint() found it

  void paint(QPainter& painter, QSizeF size);
  /// For a file: `size` in points, at twice as many pixels each way, in light colours on white.
  QImage picture(QSize size, const QString& heading = {}) const;

  /// The stored time nearest to the crosshair, what was measured then, and what the strips say there; one per line.
  QString crosshairText() const;

  Q_DECLARE_TR_FUNCTIONS(mpm::gui::ChartScene)
};

}  // namespace mpm::gui
