// SPDX-License-Identifier: Apache-2.0
#include "gui/views/time_chart.h"

#include "gui/models/readout.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"

namespace mpm::gui {

TimeChart::TimeChart(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  ask_.setSingleShot(true);
  ask_.setInterval(40);  // one question for a burst of wheel steps
  connect(&ask_, &QTimer::timeout, this,
          [this] { emit rangeChanged(scene_.axis.from, scene_.axis.to, std::max(100, width())); });
  const double now = static_cast<double>(unixNow()) / 1000;
  scene_.axis.from = now - 3600;
  scene_.axis.to = now;
}

void TimeChart::setSeries(std::vector<ChartSeries> series) {
  const auto before = quantities();
  scene_.series = std::move(series);
  if (quantities() != before) scene_.chart = {};
  ask_.start();
  update();
}

std::vector<charts::SeriesKey> TimeChart::quantities() const {
  std::vector<charts::SeriesKey> keys;
  for (const ChartSeries& one : scene_.series) keys.push_back(one.quantity);
  return keys;
}

void TimeChart::setChart(charts::Chart chart) {
  scene_.chart = std::move(chart);
  update();
}

void TimeChart::setBands(std::vector<charts::ChartBand> bands) {
  scene_.bands = std::move(bands);
  const auto translate = [](std::string& text) {
    text = QCoreApplication::translate("outages", text.c_str()).toStdString();
  };
  for (charts::ChartBand& band : scene_.bands) {
    if (!band.over_gaps) continue;
    translate(band.name);
    for (auto& [time, cause] : band.changes) translate(cause);
    for (std::string& cause : band.known) translate(cause);
  }
  update();
}

void TimeChart::setPictures(std::vector<double> times) {
  scene_.pictures = std::move(times);
  update();
}

void TimeChart::setRange(double from, double to) {
  scene_.axis.from = from;
  scene_.axis.to = std::max(to, from + TimeAxis::kShortest);
  if (!ask_.isActive()) ask_.start();
  update();
}

void TimeChart::setClock(const charts::OptionalClock& clock) {
  if (std::exchange(scene_.clock, clock) != clock) update();
}

void TimeChart::setFollowing(bool following) {
  if (std::exchange(following_, following) != following) emit followingChanged(following);
}

void TimeChart::moveAxis(const TimeAxis& axis) {
  setFollowing(false);
  setRange(axis.from, axis.to);
}

void TimeChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  scene_.look = theme();
  scene_.font = font();
  scene_.paint(painter, size());
  paintFocus(painter, this);
}

void TimeChart::wheelEvent(QWheelEvent* event) {
  const double steps = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
  if (steps == 0) return;  // a touch pad says that a move begins or ends
  moveAxis(scene_.axis.zoomedAt(std::clamp(event->position().x(), scene_.plot.left(), scene_.plot.right()),
                                std::pow(1.002, steps)));
  event->accept();
}

void TimeChart::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  pressed_ = last_ = event->position();
  moved_ = false;
}

void TimeChart::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (pressed_) {
    if (std::abs(at.x() - pressed_->x()) > 3) moved_ = true;
    if (moved_) moveAxis(scene_.axis.pannedBy(at.x() - last_.x()));
  }
  last_ = at;
  moveCrosshair(at.x() >= scene_.plot.left() && at.x() <= scene_.plot.right() ? std::optional(scene_.axis.time(at.x()))
                                                                              : std::nullopt);
}

void TimeChart::mouseReleaseEvent(QMouseEvent* event) {
  if (pressed_ && !moved_ && event->button() == Qt::LeftButton && scene_.plot.contains(event->position()))
    emit timePicked(scene_.axis.time(event->position().x()));
  pressed_.reset();
}

void TimeChart::moveCrosshair(std::optional<double> time) {
  if (std::exchange(scene_.crosshair, time) != time) update();
}

void TimeChart::keyPressEvent(QKeyEvent* event) {
  const double middle = scene_.plot.center().x();
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
      const double step = event->key() == Qt::Key_Left ? -1 : 1;
      if (event->modifiers() & Qt::ShiftModifier)
        return moveAxis(scene_.axis.pannedBy(-step * scene_.plot.width() / 8));
      const double start = scene_.crosshair.value_or((scene_.axis.from + scene_.axis.to) / 2);
      return moveCrosshair(
          std::clamp(start + step * (scene_.axis.to - scene_.axis.from) / 100, scene_.axis.from, scene_.axis.to));
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (scene_.crosshair) emit timePicked(*scene_.crosshair);
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return moveAxis(scene_.axis.zoomedAt(middle, 1.5));
    case Qt::Key_Minus:
      return moveAxis(scene_.axis.zoomedAt(middle, 1 / 1.5));
    case Qt::Key_0:
      return emit allAsked();
    default:
      QWidget::keyPressEvent(event);
  }
}

void TimeChart::resizeEvent(QResizeEvent*) {
  if (!ask_.isActive()) ask_.start();
}

}  // namespace mpm::gui
