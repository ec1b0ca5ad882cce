// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/class_paint.h"
#include "gui/views/picture_view.h"

namespace mpm::gui {

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
  /// From the place of a region, px, to where it lies in the picture on show, whose view may have moved.
  QTransform followed() const;

 private:
  double curtainX(const Viewport& viewport) const;
  bool showsComputed() const { return paint_.mode == ViewMode::kComputed && !frame()->row_age.empty(); }
  void outlineComputed(QPainter& painter, const Viewport& viewport) const;
  void paintMeaning(QPainter& painter) const;
  void paintRegions(QPainter& painter, const Viewport& viewport) const;
  /// The boxes of objects with name and score, where classes are shown and this one is.
  void paintBoxes(QPainter& painter, const Viewport& viewport) const;
  /// A title on a dark plate at a place of the widget, moved into the picture.
  void paintTitle(QPainter& painter, const Viewport& viewport, QPointF at, const QString& title) const;

  ClassPaint paint_;
  std::vector<RegionOutline> regions_;
  bool shows_regions_ = true;
  QImage canvas_;  // of the widget's size in device pixels; painted anew only when something in it changed
};

}  // namespace mpm::gui
