// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/image_view.h"

namespace mpm::gui {

/// A picture on which polygons are drawn, and the corners of regions dragged, by the mouse or by the keyboard: the
/// arrow keys move a cross (Shift: by one pixel), the space bar draws or grabs a corner, Enter closes the polygon,
/// Backspace takes a corner back, Esc drops all. Where the view has moved, regions are shown moved along, and what is
/// drawn is moved back.
class RegionCanvas : public ImageView {
  Q_OBJECT
 public:
  struct Corner {
    int region = 0;
    qsizetype polygon = 0, corner = 0;
  };

  /// `cross` is of this view alone.
  explicit RegionCanvas(PatchSelection* cross, QWidget* parent = nullptr);

  /// The corners of region `chosen` are marked; negative: of none.
  void choose(int chosen) { setPainted(chosen_, chosen); }
  bool hasPolygon() const { return !pen_.isEmpty(); }

 signals:
  /// A polygon was closed; px of the picture, in the view before it moved.
  void drawn(const QPolygonF& polygon);
  /// To a place of the picture, 0..1, in the view before it moved.
  void cornerMoved(const mpm::gui::RegionCanvas::Corner& corner, QPointF to);
  void regionChosen(int region);
  /// A polygon was begun or dropped.
  void polygonChanged();

 protected:
  void paintPicture(QPainter& painter, const Viewport& viewport) override;
  void paintAbove(QPainter&, const Viewport&) const override {}
  bool outlinesCluster() const override { return false; }
  bool beginDrag(QPointF at) override;
  void drag(QPointF at) override;
  void endDrag() override { grabbed_.reset(); }
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::optional<Corner> cornerAt(QPointF at) const;
  QPointF beforeItMoved(QPointF at) const;
  void press(QPointF at);
  void moveGrabbed(QPointF at);
  void moveCross(QPointF by);
  void close();
  void drop();

  PatchSelection* cross_;
  QPolygonF pen_;  // the polygon that is drawn, px of the picture
  int chosen_ = -1;
  std::optional<Corner> grabbed_;
};

}  // namespace mpm::gui
