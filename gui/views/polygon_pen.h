// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QPainter>
#include <QPolygonF>
#include <optional>
#include <utility>

#include "gui/models/viewport.h"

namespace mpm::gui {

/// Strokes what `draw` draws as a white line with a dark border, which is seen on any picture.
template <typename Draw>
void strokeOnPicture(QPainter& painter, Draw draw) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  for (const QPen& pen : {QPen(Qt::black, 3), QPen(Qt::white, 1)}) {
    painter.setPen(pen);
    draw();
  }
}

/// A closed polygon with a ring at each of its first `handles` corners; px of the picture.
void paintPolygon(QPainter& painter, const Viewport& view, const QPolygonF& polygon, qsizetype handles);

/// The corner of `polygon` nearest to `at`, no further than `reach`; px of the picture. Negative: none.
qsizetype cornerNear(const QPolygonF& polygon, QPointF at, double reach);

/// A polygon that is drawn corner by corner; px of the picture.
class PolygonPen {
 public:
  bool hasPolygon() const { return !corners_.isEmpty(); }
  void add(QPointF corner) { corners_ << corner; }
  /// The corners, in their order; the next one begins another polygon.
  QPolygonF take() { return std::exchange(corners_, {}); }
  /// `next`: where the next corner would be.
  void paint(QPainter& painter, const Viewport& view, std::optional<QPointF> next) const;

 private:
  QPolygonF corners_;
};

}  // namespace mpm::gui
