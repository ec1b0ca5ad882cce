// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/live_frame.h"
#include "gui/models/viewport.h"
#include "gui/views/look.h"

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
  virtual void clicked(QPointF at) { selection_->togglePin(viewport().tokenAt(at, frame_->lookup.grid())); }
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
  void paintBanner(QPainter& painter) const;
  void changeState(const ViewState& state);

  PatchSelection* selection_;
  LiveFramePtr frame_;
  ViewState state_;
  QString banner_, placeholder_;
  enum class Drag { kNone, kPan, kView } drag_ = Drag::kNone;
  QPointF pressed_at_, last_at_;
  bool moved_ = false;
};

}  // namespace mpm::gui
