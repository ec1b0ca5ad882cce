// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/live_frame.h"
#include "gui/models/viewport.h"

namespace mpm::gui {

/// The base of the image and of the merge map: zoom, pan, the patch under the mouse, the outlined cluster.
class PictureView : public QWidget {
  Q_OBJECT
 public:
  PictureView(PatchSelection* selection, QWidget* parent = nullptr);

  void setFrame(LiveFramePtr frame);
  const LiveFramePtr& frame() const { return frame_; }
  void setViewState(const ViewState& state) { setDrawn(state_, state); }
  ViewState viewState() const { return state_; }
  /// Shown across the top, in two lines if need be: why the picture is not live. Empty: it is.
  void setBanner(const QString& text) { setPainted(banner_, text); }
  const QString& banner() const { return banner_; }
  /// Shown in the middle while there is no picture.
  void setPlaceholder(const QString& text) { setPainted(placeholder_, text); }
  const QString& placeholder() const { return placeholder_; }

  Viewport viewport() const { return {frame_ ? frame_->size() : QSize(), QSizeF(size()), state_}; }
  QSize sizeHint() const override { return {640, 420}; }
  QSize minimumSizeHint() const override { return {160, 110}; }

 signals:
  void viewStateChanged(const ViewState& state);

 protected:
  /// The picture itself; the base paints what lies over it.
  virtual void paintPicture(QPainter& painter, const Viewport& viewport) = 0;
  /// Paints over the outlines and the cursor of the base.
  virtual void paintAbove(QPainter&, const Viewport&) const {}
  /// Before the base takes a press for panning; true: the view handles the drag.
  virtual bool beginDrag(QPointF) { return false; }
  virtual void drag(QPointF) {}
  virtual void endDrag() {}
  /// A press and a release at one place, which the view has not taken as a drag: pins the patch.
  virtual void clicked(QPointF at) { selection_->togglePin(tokenAt(viewport().shareAt(at))); }
  /// The patch at a place of the picture, 0..1; nullopt: there is none. There must be a frame.
  std::optional<int> tokenAt(std::optional<QPointF> place) const {
    return place && frame_->lookup.tokens() > 0 ? std::optional(frame_->tokenAt(*place)) : std::nullopt;
  }
  /// Whether the cluster under the mouse is outlined.
  virtual bool outlinesCluster() const { return true; }
  /// Changes a member that is painted.
  template <typename Value>
  void setPainted(Value& member, const Value& value) {
    if (std::exchange(member, value) != value) update();
  }

  /// Changes a member that decides on the picture itself.
  template <typename Value>
  void setDrawn(Value& member, const Value& value) {
    stale_ = stale_ || member != value;
    setPainted(member, value);
  }
  /// The direction of an arrow key; null: it is another key.
  static QPoint arrowOf(const QKeyEvent& event) {
    const int key = event.key();
    return {(key == Qt::Key_Right) - (key == Qt::Key_Left), (key == Qt::Key_Down) - (key == Qt::Key_Up)};
  }

  bool stale_ = true;  ///< there is another picture, or another part of it
  const PatchSelection& selection() const { return *selection_; }
  /// How much of the top the banner covers, px.
  int bannerHeight() const { return banner_height_; }
  /// Where the mouse or the cross of the arrow keys is, px of the picture. There must be a frame.
  std::optional<QPointF> cursorPlace() const;

  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent*) override { changeState({}); }
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent*) override { selection_->point(std::nullopt, std::nullopt); }

 private:
  void paintCluster(QPainter& painter, const Viewport& viewport);
  void paintCursor(QPainter& painter, const Viewport& viewport);
  std::pair<QString, QRect> placedBanner(QPainter& painter) const;
  void changeState(const ViewState& state);

  // What a button that is down does.
  struct Drag {
    bool of_view = false;  // else it moves the picture
    QPointF pressed_at, last_at;
    bool moved = false;
  };

  PatchSelection* const selection_;
  LiveFramePtr frame_;
  ViewState state_;
  QString banner_, placeholder_;
  int banner_height_ = 0;
  std::optional<Drag> drag_;
};

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

}  // namespace mpm::gui
