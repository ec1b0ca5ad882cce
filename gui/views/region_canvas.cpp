// SPDX-License-Identifier: Apache-2.0
#include "gui/views/region_canvas.h"

#include "gui/views/picture_view.h"

namespace mpm::gui {
namespace {

constexpr double kReach = 9;  // px of the screen

}  // namespace

RegionCanvas::RegionCanvas(PatchSelection* cross, QWidget* parent) : ImageView(cross, parent), cross_(cross) {
  setCursor(Qt::CrossCursor);
}

void RegionCanvas::paintPicture(QPainter& painter, const Viewport& view) {
  ImageView::paintPicture(painter, view);
  if (chosen_ >= 0 && chosen_ < static_cast<int>(regions().size()) && regions()[chosen_].hasCorners()) {
    for (const QPolygonF& polygon : regions()[chosen_].polygons) {
      paintPolygon(painter, view, followed().map(view.fromShares(polygon)), polygon.size(),
                   regions()[chosen_].region.ignore ? Qt::DashLine : Qt::SolidLine);
    }
  }
  paintPen(painter, view, pen_, cursorPlace());
}

// The chosen region first: two regions may share a corner.
std::optional<RegionCanvas::Corner> RegionCanvas::cornerAt(QPointF at) const {
  std::vector<int> order = {chosen_};
  for (int i = 0; i < static_cast<int>(regions().size()); ++i) order.push_back(i);
  for (const int i : order) {
    if (i < 0 || i >= static_cast<int>(regions().size()) || !regions()[i].hasCorners()) continue;
    for (qsizetype p = 0; p < regions()[i].polygons.size(); ++p) {
      const QPolygonF corners = followed().map(viewport().fromShares(regions()[i].polygons[p]));
      if (const qsizetype c = cornerNear(corners, at, kReach / viewport().scale()); c >= 0) return Corner{i, p, c};
    }
  }
  return std::nullopt;
}

// A place of the picture where regions are kept, which are within it.
QPointF RegionCanvas::beforeItMoved(QPointF at) const {
  at = followed().inverted().map(at);
  return {std::clamp(at.x(), 0.0, double(frame()->size().width())),
          std::clamp(at.y(), 0.0, double(frame()->size().height()))};
}

// `at`, px of the picture: on a corner it is grabbed, on the first corner of the polygon that is drawn that is closed.
void RegionCanvas::press(QPointF at) {
  at = {std::clamp(at.x(), 0.0, double(frame()->size().width())),
        std::clamp(at.y(), 0.0, double(frame()->size().height()))};
  if (pen_.size() > 2 && cornerNear(pen_, at, kReach / viewport().scale()) == 0) return close();
  if (pen_.isEmpty()) grabbed_ = cornerAt(at);
  if (grabbed_) {
    if (grabbed_->region != chosen_) emit regionChosen(grabbed_->region);
    return;
  }
  pen_ << at;
  emit polygonChanged();
  update();
}

void RegionCanvas::moveGrabbed(QPointF at) {
  at = beforeItMoved(at);
  emit cornerMoved(*grabbed_, {at.x() / frame()->size().width(), at.y() / frame()->size().height()});
}

bool RegionCanvas::beginDrag(QPointF at) {
  grabbed_.reset();
  press(viewport().toPicture(at));
  return true;
}

void RegionCanvas::drag(QPointF at) {
  if (grabbed_) moveGrabbed(viewport().toPicture(at));
}

void RegionCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!pen_.isEmpty() && event->button() == Qt::LeftButton) return close();
  mousePressEvent(event);  // the second of two quick clicks
}

void RegionCanvas::close() {
  if (pen_.size() < 3) return;
  QPolygonF polygon = std::exchange(pen_, {});
  for (QPointF& corner : polygon) corner = beforeItMoved(corner);
  emit drawn(polygon);
  emit polygonChanged();
  update();
}

void RegionCanvas::drop() {
  grabbed_.reset();
  pen_.clear();
  emit polygonChanged();
  update();
}

void RegionCanvas::moveCross(QPointF by) {
  const QSize size = frame()->size();
  const QPointF from = cursorPlace().value_or(QPointF(size.width() / 2, size.height() / 2));
  const QPointF to(std::clamp(from.x() + by.x(), 0.0, double(size.width())),
                   std::clamp(from.y() + by.y(), 0.0, double(size.height())));
  cross_->point(std::nullopt, QPointF(to.x() / size.width(), to.y() / size.height()));
  if (grabbed_) moveGrabbed(to);
}

void RegionCanvas::keyPressEvent(QKeyEvent* event) {
  if (!frame()) return ImageView::keyPressEvent(event);
  const double step = event->modifiers() & Qt::ShiftModifier ? 1 : std::max(1.0, frame()->size().width() / 50.0);
  const QPoint arrow = arrowOf(*event);
  if (!arrow.isNull()) return moveCross(QPointF(arrow) * step);
  switch (event->key()) {
    case Qt::Key_Space:
      if (grabbed_)
        grabbed_.reset();
      else if (const auto at = cursorPlace())
        press(*at);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (!pen_.isEmpty()) return close();
      break;
    case Qt::Key_Escape:
      if (!pen_.isEmpty() || grabbed_) return drop();
      break;
    case Qt::Key_Backspace:
      if (!pen_.isEmpty()) pen_.removeLast();
      emit polygonChanged();
      return update();
    default:
      break;
  }
  ImageView::keyPressEvent(event);
}

}  // namespace mpm::gui
