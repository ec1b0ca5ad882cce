// SPDX-License-Identifier: Apache-2.0
#include "views/time_chart.h"

#include <QDateTime>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "views/look.h"

namespace mpm {
namespace {

constexpr int kGapBetweenLanes = 10;

QString timeText(double time) {
  return QLocale().toString(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(time * 1000)),
                            QStringLiteral("ddd d MMM yyyy HH:mm:ss"));
}

}  // namespace

TimeChart::TimeChart(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  ask_.setSingleShot(true);
  ask_.setInterval(40);  // one question for a burst of wheel steps
  connect(&ask_, &QTimer::timeout, this,
          [this] { emit rangeChanged(axis_.from, axis_.to, std::max(100, static_cast<int>(plot_.width()))); });
  const double now = static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000;
  axis_.from = now - 3600;
  axis_.to = now;
}

void TimeChart::setSeries(std::vector<Series> series) {
  series_ = std::move(series);
  layOut(size());
  ask_.start();
  update();
}

void TimeChart::setChart(monitor::Chart chart, const std::vector<monitor::Quantity>& quantities) {
  chart_ = std::move(chart);
  answered_ = quantities;
  update();
}

void TimeChart::setPictures(std::vector<double> times) {
  pictures_ = std::move(times);
  update();
}

void TimeChart::setRange(double from, double to) {
  TimeAxis axis = axis_;
  axis.from = from;
  axis.to = std::max(to, from + TimeAxis::kShortest);
  changeAxis(axis);
}

void TimeChart::setFollowing(bool following) {
  if (following == following_) return;
  following_ = following;
  emit followingChanged(following);
}

void TimeChart::changeAxis(const TimeAxis& axis) {
  axis_ = axis;
  if (!ask_.isActive()) ask_.start();
  update();
}

void TimeChart::layOut(QSizeF size) {
  const QFontMetrics metrics = fontMetrics();
  const double left = metrics.horizontalAdvance(QStringLiteral("000000")) + 12;
  const double bottom = metrics.height() + 8;
  plot_ = QRectF(left, 6, std::max(10.0, size.width() - left - 10), std::max(10.0, size.height() - bottom - 6));
  axis_.left = plot_.left();
  axis_.width = plot_.width();
}

QString TimeChart::valueText(const Series& series, double value) const {
  const QString number = QLocale().toString(value * series.factor, 'f', series.decimals);
  return series.unit.isEmpty() ? number : number + QChar(0x202f) + series.unit;
}

void TimeChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, size());
  if (hasFocus()) {
    painter.setPen(QPen(theme().accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void TimeChart::paint(QPainter& painter, QSizeF size) {
  const Theme& look = theme();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(), size), look.chart);
  const QFontMetrics metrics = painter.fontMetrics();

  painter.setClipRect(plot_);
  for (const auto& [left, right] : nightStretches(chart_, axis_))
    painter.fillRect(QRectF(left, plot_.top(), std::max(right - left, 1.0), plot_.height()), look.night);
  painter.setClipping(false);

  // Time axis.
  const double widest = metrics.horizontalAdvance(QStringLiteral("Www 30 Www")) + 24;
  for (const TimeAxis::Tick& tick : axis_.ticks(widest)) {
    const double x = std::round(axis_.x(tick.time)) + 0.5;
    painter.setPen(QPen(tick.major ? look.border : look.grid, 1));
    painter.drawLine(QPointF(x, plot_.top()), QPointF(x, plot_.bottom()));
    painter.setPen(look.muted);
    QRectF label(x - widest / 2, plot_.bottom() + 4, widest, metrics.height());
    const double text_width = metrics.horizontalAdvance(tick.label);
    if (x + text_width / 2 > size.width()) label.moveLeft(size.width() - widest / 2 - text_width / 2);
    painter.drawText(label, Qt::AlignCenter, tick.label);
  }

  const int lanes = static_cast<int>(series_.size());
  const bool answered = answered_.size() == series_.size() &&
                        std::equal(series_.begin(), series_.end(), answered_.begin(),
                                   [](const Series& s, const monitor::Quantity& q) { return s.quantity == q; });
  const double lane_height = lanes > 0 ? (plot_.height() - kGapBetweenLanes * (lanes - 1)) / lanes : 0;
  for (int i = 0; i < lanes; ++i) {
    const Series& series = series_[i];
    const QColor color = look.series[i % look.series.size()];
    const QRectF lane(plot_.left(), plot_.top() + i * (lane_height + kGapBetweenLanes), plot_.width(), lane_height);
    ValueAxis axis =
        answered ? fittingAxis(chart_, i, axis_, 1 / series.factor * std::pow(10, -series.decimals) * 4) : ValueAxis{};
    axis.top = lane.top();
    axis.bottom = lane.bottom();
    painter.setPen(QPen(look.border, 1));
    painter.drawLine(QPointF(lane.left(), std::round(lane.bottom()) + 0.5),
                     QPointF(lane.right(), std::round(lane.bottom()) + 0.5));
    const int most = std::max(2, static_cast<int>(lane_height / (metrics.height() * 1.8)));
    if (answered && !chart_.buckets.empty()) {
      for (double value : valueTicks(axis.low * series.factor, axis.high * series.factor, most)) {
        const double y = std::round(axis.y(value / series.factor)) + 0.5;
        painter.setPen(QPen(look.grid, 1));
        painter.drawLine(QPointF(lane.left(), y), QPointF(lane.right(), y));
        painter.setPen(look.muted);
        const double text_y = std::clamp(y - metrics.height() / 2.0, 0.0, size.height() - metrics.height());
        painter.drawText(QRectF(0, text_y, lane.left() - 6, metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
                         QLocale().toString(value, 'g', 4));
      }
      painter.setClipRect(lane.adjusted(0, -1, 0, 1));
      const LaneShape shape = laneShape(chart_, i, axis_, axis);
      QColor band = color;
      band.setAlpha(50);
      painter.setPen(Qt::NoPen);
      painter.setBrush(band);
      for (const QPolygonF& polygon : shape.bands) painter.drawPolygon(polygon);
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(color, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
      for (const QPolygonF& line : shape.lines) painter.drawPolyline(line);
      painter.setPen(Qt::NoPen);
      painter.setBrush(color);
      for (const QPointF& point : shape.points) painter.drawEllipse(point, 2.2, 2.2);
      painter.setClipping(false);
    }
    // The name stands in the lane, on a plate, so that no colour has to be matched with a key elsewhere.
    const QString title = series.unit.isEmpty() ? series.name : QStringLiteral("%1 (%2)").arg(series.name, series.unit);
    const QRectF plate(lane.left() + 6, lane.top() + 2, metrics.horizontalAdvance(title) + 12, metrics.height() + 2);
    QColor back = look.chart;
    back.setAlpha(225);
    painter.setPen(Qt::NoPen);
    painter.setBrush(back);
    painter.drawRoundedRect(plate, 4, 4);
    painter.setPen(color);
    painter.drawText(plate, Qt::AlignCenter, title);
  }

  if (chart_.buckets.empty() || !answered) {
    painter.setPen(look.muted);
    painter.drawText(plot_, Qt::AlignCenter | Qt::TextWordWrap,
                     lanes == 0 ? tr("Choose what to draw above") : tr("No samples in this stretch of time"));
  }

  painter.setPen(Qt::NoPen);
  painter.setBrush(look.accent);
  for (double time : pictures_) {
    const double x = axis_.x(time);
    if (x < plot_.left() || x > plot_.right()) continue;
    painter.drawPolygon(
        QPolygonF(QList<QPointF>{{x - 4, plot_.bottom() + 5}, {x + 4, plot_.bottom() + 5}, {x, plot_.bottom() - 1}}));
  }

  if (!crosshair_ || *crosshair_ < axis_.from || *crosshair_ > axis_.to) return;
  const double x = std::round(axis_.x(*crosshair_)) + 0.5;
  painter.setPen(QPen(look.text, 1, Qt::DashLine));
  painter.drawLine(QPointF(x, plot_.top()), QPointF(x, plot_.bottom()));
  const QStringList lines = crosshairText().split(QLatin1Char('\n'));
  double text_width = 0;
  for (const QString& line : lines) text_width = std::max<double>(text_width, metrics.horizontalAdvance(line));
  QRectF box(x + 10, plot_.top() + 4, text_width + 16, metrics.height() * lines.size() + 10.0);
  if (box.right() > plot_.right()) box.moveRight(x - 10);
  painter.setPen(QPen(look.border, 1));
  painter.setBrush(look.panel);
  painter.drawRoundedRect(box, 5, 5);
  painter.setPen(look.text);
  painter.drawText(box.adjusted(8, 5, -8, -5), Qt::AlignLeft | Qt::AlignTop, lines.join(QLatin1Char('\n')));
}

QString TimeChart::crosshairText() const {
  if (!crosshair_) return {};
  QStringList lines = {timeText(*crosshair_)};
  const int at = nearestBucket(chart_, *crosshair_);
  // A bucket far from the mouse is the other side of a gap.
  const double reach =
      std::max(static_cast<double>(chart_.bucket_ms) / 1000, (axis_.to - axis_.from) / axis_.width * 12);
  const bool near =
      at >= 0 && std::abs(static_cast<double>(chart_.buckets[at].start) / 1000 - *crosshair_) <= reach + 1;
  for (std::size_t i = 0; i < series_.size() && near && i < chart_.buckets[at].values.size(); ++i) {
    const monitor::Spread& spread = chart_.buckets[at].values[i];
    if (spread.samples == 0) continue;
    QString line = QStringLiteral("%1: %2").arg(series_[i].name, valueText(series_[i], spread.mean));
    if (spread.samples > 1 && spread.max > spread.min)
      line += QStringLiteral("  (%1 … %2)").arg(valueText(series_[i], spread.min), valueText(series_[i], spread.max));
    lines << line;
  }
  if (near && chart_.buckets[at].night >= 0.5) lines << tr("night");
  if (!near) lines << tr("nothing recorded");
  return lines.join(QLatin1Char('\n'));
}

QImage TimeChart::picture(QSize size) {
  QImage image(size * 2, QImage::Format_RGB32);
  image.setDevicePixelRatio(2);
  QPainter painter(&image);
  painter.setFont(font());
  const auto crosshair = std::exchange(crosshair_, std::nullopt);
  layOut(size);
  paint(painter, size);
  layOut(this->size());
  crosshair_ = crosshair;
  return image;
}

void TimeChart::wheelEvent(QWheelEvent* event) {
  setFollowing(false);
  const double steps = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
  changeAxis(axis_.zoomedAt(std::clamp(event->position().x(), plot_.left(), plot_.right()), std::pow(1.002, steps)));
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
    if (moved_) {
      setFollowing(false);
      changeAxis(axis_.pannedBy(at.x() - last_.x()));
    }
  }
  last_ = at;
  moveCrosshair(at.x() >= plot_.left() && at.x() <= plot_.right() ? std::optional(axis_.time(at.x())) : std::nullopt);
}

void TimeChart::mouseReleaseEvent(QMouseEvent* event) {
  if (pressed_ && !moved_ && event->button() == Qt::LeftButton && plot_.contains(event->position()))
    emit timePicked(axis_.time(event->position().x()));
  pressed_.reset();
}

void TimeChart::leaveEvent(QEvent*) { moveCrosshair(std::nullopt); }

void TimeChart::moveCrosshair(std::optional<double> time) {
  if (time == crosshair_) return;
  crosshair_ = time;
  if (time) emit crosshairMoved(*time);
  update();
}

void TimeChart::keyPressEvent(QKeyEvent* event) {
  const double middle = plot_.center().x();
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
      const double step = event->key() == Qt::Key_Left ? -1 : 1;
      if (event->modifiers() & Qt::ShiftModifier) {
        setFollowing(false);
        return changeAxis(axis_.pannedBy(-step * plot_.width() / 8));
      }
      const double start = crosshair_.value_or((axis_.from + axis_.to) / 2);
      return moveCrosshair(std::clamp(start + step * (axis_.to - axis_.from) / 100, axis_.from, axis_.to));
    }
    case Qt::Key_Return:
    case Qt::Key_Space:
      if (crosshair_) emit timePicked(*crosshair_);
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      setFollowing(false);
      return changeAxis(axis_.zoomedAt(middle, 1.5));
    case Qt::Key_Minus:
      setFollowing(false);
      return changeAxis(axis_.zoomedAt(middle, 1 / 1.5));
    default:
      QWidget::keyPressEvent(event);
  }
}

void TimeChart::resizeEvent(QResizeEvent*) {
  layOut(size());
  if (!ask_.isActive()) ask_.start();
}

}  // namespace mpm
