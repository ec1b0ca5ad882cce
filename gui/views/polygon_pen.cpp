// SPDX-License-Identifier: Apache-2.0
#include "gui/views/polygon_pen.h"

namespace mpm::gui {

void paintPolygon(QPainter& painter, const Viewport& view, const QPolygonF& polygon, qsizetype handles,
                  Qt::PenStyle style) {
  QPolygonF corners;
  for (const QPointF& corner : polygon) corners << view.toWidget(corner);
  strokeOnPicture(
      painter, [&] { painter.drawPolygon(corners); }, style);
  for (qsizetype i = 0; i < handles; ++i) strokeOnPicture(painter, [&] { painter.drawEllipse(corners[i], 3, 3); });
}

qsizetype cornerNear(const QPolygonF& polygon, QPointF at, double reach) {
  qsizetype best = -1;
  for (qsizetype i = 0; i < polygon.size(); ++i)
    if (const double distance = QLineF(polygon[i], at).length(); distance <= reach) {
      reach = distance;
      best = i;
    }
  return best;
}

void PolygonPen::paint(QPainter& painter, const Viewport& view, std::optional<QPointF> next) const {
  if (corners_.isEmpty()) return;
  QPolygonF polygon = corners_;
  if (next) polygon << *next;
  paintPolygon(painter, view, polygon, corners_.size());
}

}  // namespace mpm::gui
