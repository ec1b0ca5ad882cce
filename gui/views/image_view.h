// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/class_paint.h"
#include "gui/models/viewport.h"
#include "gui/views/picture_view.h"

namespace mpm::gui {

/// Strokes what `draw` draws as a white line with a dark border, which is seen on any picture.
template <typename Draw>
void strokeOnPicture(QPainter& painter, Draw draw, Qt::PenStyle style = Qt::SolidLine) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  for (const QPen& pen : {QPen(Qt::black, 3, style), QPen(Qt::white, 1, style)}) {
    painter.setPen(pen);
    draw();
  }
}

/// A closed polygon with a ring at each of its first `handles` corners; px of the picture.
void paintPolygon(QPainter& painter, const Viewport& view, const QPolygonF& polygon, qsizetype handles,
                  Qt::PenStyle style = Qt::SolidLine);

/// The corner of `polygon` nearest to `at`, no further than `reach`; px of the picture. Negative: none.
qsizetype cornerNear(const QPolygonF& polygon, QPointF at, double reach);

/// A polygon that is still drawn, corner by corner; px of the picture. `next`: where the next corner would be.
void paintPen(QPainter& painter, const Viewport& view, QPolygonF corners, std::optional<QPointF> next);

/// The image with its classes, segments or depth laid over it.
class ImageView : public PictureView {
  Q_OBJECT
 public:
  using PictureView::PictureView;

  void setPaint(const ClassPaint& paint) { setDrawn(paint_, paint); }
  const ClassPaint& paint() const { return paint_; }
  /// Outlined with their names, each while it is valid at the time of the frame.
  void setRegions(const std::vector<vision::Region>& regions);
  const std::vector<RegionOutline>& regions() const { return regions_; }
  void showRegions(bool shown) { setPainted(shows_regions_, shown); }

 signals:
  void curtainMoved(double share);  ///< 0..1 of the picture's width

 protected:
  void paintPicture(QPainter& painter, const Viewport& viewport) override;
  /// The readout() beside the mouse or the patch cursor.
  void paintAbove(QPainter& painter, const Viewport& viewport) const override;
  bool beginDrag(QPointF at) override;
  void drag(QPointF at) override;

 private:
  double curtainX(const Viewport& viewport) const;
  bool showsComputed() const { return paint_.mode == ViewMode::kComputed && !frame()->row_age.empty(); }
  void outlineComputed(QPainter& painter, const Viewport& viewport) const;
  void paintMeaning(QPainter& painter) const;
  void paintRegions(QPainter& painter, const Viewport& viewport) const;

  ClassPaint paint_;
  std::vector<RegionOutline> regions_;
  bool shows_regions_ = true;
  QImage canvas_;  // of the widget's size in device pixels; painted anew only when something in it changed
};

}  // namespace mpm::gui
