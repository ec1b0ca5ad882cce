// SPDX-License-Identifier: Apache-2.0
#include "gui/models/viewport.h"

#include <opencv2/imgproc.hpp>

namespace mpm::gui {
namespace {

// The centre nearest to `center` at which a picture larger than the widget covers it; a smaller one is centred.
double clampedCenter(double center, double picture, double widget) {
  if (picture <= widget) return 0.5;
  const double margin = widget / picture / 2;
  return std::clamp(center, margin, 1 - margin);
}

}  // namespace

Viewport::Viewport(QSize picture, QSizeF widget, const ViewState& state)
    : picture_(picture), widget_(widget), state_(state) {
  if (empty()) return;
  fit_ = std::min(widget.width() / picture.width(), widget.height() / picture.height());
  state_.zoom = std::clamp(state.zoom, 1.0, ViewState::kMaxZoom);
  scale_ = fit_ * state_.zoom;
  const QSizeF size = QSizeF(picture) * scale_;
  state_.center = {clampedCenter(state.center.x(), size.width(), widget.width()),
                   clampedCenter(state.center.y(), size.height(), widget.height())};
  rect_ = {QPointF(widget.width() / 2 - state_.center.x() * size.width(),
                   widget.height() / 2 - state_.center.y() * size.height()),
           size};
}

ViewState Viewport::zoomedAt(QPointF widget, double factor) const {
  if (empty()) return state_;
  ViewState next = state_;
  next.zoom = std::clamp(state_.zoom * factor, 1.0, ViewState::kMaxZoom);
  const QPointF fixed = toPicture(widget);
  const double scale = fit_ * next.zoom;
  const QPointF middle = fixed + (QPointF(widget_.width() / 2, widget_.height() / 2) - widget) / scale;
  next.center = {middle.x() / picture_.width(), middle.y() / picture_.height()};
  return Viewport(picture_, widget_, next).state();
}

ViewState Viewport::pannedBy(QPointF widget_delta) const {
  if (empty()) return state_;
  ViewState next = state_;
  next.center -= QPointF(widget_delta.x() / rect_.width(), widget_delta.y() / rect_.height());
  return Viewport(picture_, widget_, next).state();
}

std::optional<QPointF> Viewport::shareAt(QPointF widget) const {
  if (!rect_.contains(widget)) return std::nullopt;
  return QPointF((widget.x() - rect_.left()) / rect_.width(), (widget.y() - rect_.top()) / rect_.height());
}

QPoint Viewport::corner(int x, int y, Size2 grid) const {
  return {static_cast<int>(std::lround(rect_.left() + rect_.width() * x / grid.width)),
          static_cast<int>(std::lround(rect_.top() + rect_.height() * y / grid.height))};
}

QRectF Viewport::tokenRect(int token, Size2 grid) const {
  const double width = rect_.width() / grid.width;
  const double height = rect_.height() / grid.height;
  return {rect_.left() + token % grid.width * width, rect_.top() + token / grid.width * height, width, height};
}

void PatchSelection::point(std::optional<int> token, std::optional<QPointF> cursor) {
  if (pointed_ == token && cursor_ == cursor) return;
  pointed_ = token;
  cursor_ = cursor;
  emit changed();
}

void PatchSelection::togglePin(std::optional<int> token) {
  pinned_ = token == pinned_ ? std::nullopt : token;
  emit changed();
}

void PatchSelection::setStep(int step) {
  if (step == step_) return;
  step_ = step;
  emit changed();
}

void PatchSelection::move(int dx, int dy, int columns, int rows) {
  if (columns < 1 || rows < 1) return;
  const int start = token().value_or((rows / 2) * columns + columns / 2);
  const bool first = !token();
  const int x = std::clamp(start % columns + (first ? 0 : dx), 0, columns - 1);
  const int y = std::clamp(start / columns + (first ? 0 : dy), 0, rows - 1);
  const int next = y * columns + x;
  if (pinned_) pinned_ = next;
  pointed_ = next;
  cursor_ = QPointF((x + 0.5) / columns, (y + 0.5) / rows);
  emit changed();
}

void PatchSelection::limit(int tokens) {
  const auto gone = [tokens](std::optional<int> token) { return token && *token >= tokens; };
  if (!gone(pointed_) && !gone(pinned_)) return;
  if (gone(pointed_)) pointed_.reset();
  if (gone(pinned_)) pinned_.reset();
  emit changed();
}

QString RegionOutline::title() const {
  const QString name = QString::fromStdString(region.name);
  return region.ignore ? QCoreApplication::translate("regions", "%1 (ignored)").arg(name) : name;
}

RegionOutline outlineOf(const vision::Region& region) {
  RegionOutline outline{region, {}};
  const auto add = [&](const auto& points) {
    QPolygonF polygon;
    for (const auto& point : points)
      polygon << QPointF((point.x + 0.5) / region.size.width, (point.y + 0.5) / region.size.height);
    outline.polygons.append(polygon);
  };
  for (const auto& polygon : region.polygons) add(polygon);
  if (outline.hasCorners()) return outline;
  std::vector<std::vector<cv::Point>> contours;
  cv::findContours(region.mask.clone(), contours, cv::RETR_LIST, cv::CHAIN_APPROX_SIMPLE);
  for (const auto& contour : contours) add(contour);
  return outline;
}

QStringList regionNames(const std::vector<vision::Region>& regions) {
  QStringList names;
  for (const vision::Region& region : regions)
    if (!region.ignore) names << QString::fromStdString(region.name);
  names.removeDuplicates();
  return names;
}

}  // namespace mpm::gui
