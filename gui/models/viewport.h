// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "mpm/options.hpp"
#include "vision/regions/region.h"

namespace mpm::gui {

/// Which part of a picture is looked at. It names no pixel, so views of different sizes can share it.
struct ViewState {
  static constexpr double kMaxZoom = 40;

  double zoom = 1;           ///< 1: the whole picture fits, kMaxZoom at most
  QPointF center{0.5, 0.5};  ///< of the picture, 0..1
  friend bool operator==(const ViewState&, const ViewState&) = default;
};

/// The mapping between a picture and the widget that shows it.
class Viewport {
 public:
  Viewport() = default;
  Viewport(QSize picture, QSizeF widget, const ViewState& state);

  bool empty() const { return picture_.isEmpty() || widget_.isEmpty(); }
  const ViewState& state() const { return state_; }
  double scale() const { return scale_; }  ///< widget px per picture px
  QRectF pictureRect() const { return rect_; }

  QPointF toPicture(QPointF widget) const { return (widget - rect_.topLeft()) / scale_; }
  QPointF toWidget(QPointF picture) const { return rect_.topLeft() + picture * scale_; }
  /// Corners as shares of the picture, 0..1, in px of it.
  QPolygonF fromShares(QPolygonF corners) const {
    for (QPointF& corner : corners) corner = {corner.x() * picture_.width(), corner.y() * picture_.height()};
    return corners;
  }

  /// The state after zooming by `factor` with the point of the picture under `widget` staying where it is.
  ViewState zoomedAt(QPointF widget, double factor) const;
  ViewState pannedBy(QPointF widget_delta) const;

  /// The place of the picture, 0..1, under a point of the widget; nullopt beside the picture.
  std::optional<QPointF> shareAt(QPointF widget) const;
  QRectF tokenRect(int token, Size2 grid) const;  ///< in widget px
  /// A corner of the patch grid on a whole pixel of the widget, so that patches meet without seams.
  QPoint corner(int x, int y, Size2 grid) const;

 private:
  QSize picture_;
  QSizeF widget_;
  ViewState state_;
  double fit_ = 1;
  double scale_ = 1;
  QRectF rect_;
};

/// Which patch both pictures and the inspector talk about: the pinned one, else the one under the mouse or under the
/// cursor of the arrow keys, whichever moved last.
class PatchSelection : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  std::optional<int> token() const { return pinned_ ? pinned_ : pointed_; }
  bool pinned() const { return pinned_.has_value(); }
  int step() const { return step_; }  ///< of the merge map on show
  /// Where the mouse is over one of the pictures, 0..1: both draw a mark there.
  std::optional<QPointF> cursor() const { return cursor_; }

  void point(std::optional<int> token, std::optional<QPointF> cursor);
  void togglePin(std::optional<int> token);
  void unpin() { togglePin(std::nullopt); }
  void setStep(int step);
  /// Moves the patch cursor on a grid of `columns` x `rows`.
  void move(int dx, int dy, int columns, int rows);
  /// Forgets tokens that a new grid of `tokens` does not have.
  void limit(int tokens);

 signals:
  void changed();

 private:
  std::optional<int> pointed_, pinned_;
  std::optional<QPointF> cursor_;
  int step_ = 0;
};

/// A region as it is drawn over a picture of any size.
struct RegionOutline {
  vision::Region region;
  QVector<QPolygonF> polygons;  ///< 0..1 of the picture; those of a mask have no corners to drag

  bool hasCorners() const { return region.mask.empty(); }
  QString title() const;  ///< "Meadow", "Sky (ignored)"
};

RegionOutline outlineOf(const vision::Region& region);
/// Names of the regions that are not ignored, each once.
QStringList regionNames(const std::vector<vision::Region>& regions);

}  // namespace mpm::gui
