// SPDX-License-Identifier: Apache-2.0
#include "gui/views/chart_scene.h"

#include <QDateTime>
#include <QFontMetrics>
#include <QLocale>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace mpm::gui {
namespace {

constexpr int kGapBetweenLanes = 10;

QString timeText(double time) {
  return QLocale().toString(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(time * 1000)),
                            QStringLiteral("ddd d MMM yyyy HH:mm:ss"));
}

// "Mon 1 Jun 2026 12:00:00 – 12:05:00"; its beginning alone where it is no longer than a second.
QString stretchText(monitor::UnixMs start, monitor::UnixMs length) {
  const QString begin = timeText(static_cast<double>(start) / 1000);
  if (length <= monitor::kSecondMs) return begin;
  const QDateTime from = QDateTime::fromMSecsSinceEpoch(start), to = from.addMSecs(length);
  return begin + QStringLiteral(" – ") +
         (from.date() == to.date() ? QLocale().toString(to, QStringLiteral("HH:mm:ss"))
                                   : timeText(static_cast<double>(start + length) / 1000));
}

QString valueText(const ChartSeries& series, double value) {
  const QString number = QLocale().toString(value * series.factor, 'f', series.decimals);
  return series.unit.isEmpty() ? number : number + QChar(0x202f) + series.unit;
}

}  // namespace

void ChartScene::layOut(QSizeF size) {
  const QFontMetrics metrics(font);
  const double left = metrics.horizontalAdvance(QStringLiteral("000000")) + 12;
  const double bottom = metrics.height() + 8;
  plot = QRectF(left, 6, std::max(10.0, size.width() - left - 10), std::max(10.0, size.height() - bottom - 6));
  axis.left = plot.left();
  axis.width = plot.width();
}

void ChartScene::paint(QPainter& painter, QSizeF size) const {
  painter.setFont(font);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(), size), look.chart);
  const QFontMetrics metrics = painter.fontMetrics();
  const auto writeOnPlate = [&](const QRectF& plate, const QColor& ink, const QString& text) {
    QColor back = look.chart;
    back.setAlpha(225);
    painter.setPen(Qt::NoPen);
    painter.setBrush(back);
    painter.drawRoundedRect(plate, 4, 4);
    painter.setPen(ink);
    painter.drawText(plate, Qt::AlignCenter | Qt::TextWordWrap, text);
  };

  painter.setClipRect(plot);
  for (const auto& [left, right] : nightStretches(chart, axis))
    painter.fillRect(QRectF(left, plot.top(), std::max(right - left, 1.0), plot.height()), look.night);
  painter.setClipping(false);

  // Time axis.
  const double widest = metrics.horizontalAdvance(QStringLiteral("Www 30 Www")) + 24;
  for (const TimeAxis::Tick& tick : axis.ticks(widest)) {
    const double x = std::round(axis.x(tick.time)) + 0.5;
    painter.setPen(QPen(tick.major ? look.border : look.grid, 1));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    painter.setPen(look.muted);
    QRectF label(x - widest / 2, plot.bottom() + 4, widest, metrics.height());
    const double text_width = metrics.horizontalAdvance(tick.label);
    if (x + text_width / 2 > size.width()) label.moveLeft(size.width() - widest / 2 - text_width / 2);
    painter.drawText(label, Qt::AlignCenter, tick.label);
  }

  const int lanes = static_cast<int>(series.size());
  const bool fits = answered.size() == series.size() &&
                    std::equal(series.begin(), series.end(), answered.begin(),
                               [](const ChartSeries& s, const monitor::Quantity& q) { return s.quantity == q; });
  const double lane_height = lanes > 0 ? (plot.height() - kGapBetweenLanes * (lanes - 1)) / lanes : 0;
  for (int i = 0; i < lanes; ++i) {
    const ChartSeries& one = series[i];
    const QColor color = look.series[i % look.series.size()];
    const QRectF lane(plot.left(), plot.top() + i * (lane_height + kGapBetweenLanes), plot.width(), lane_height);
    ValueAxis values =
        fits ? fittingAxis(chart, i, axis, 1 / one.factor * std::pow(10, -one.decimals) * 4) : ValueAxis{};
    values.top = lane.top() + std::min(metrics.height() + 6.0, lane_height / 3);  // below the name
    values.bottom = lane.bottom();
    painter.setPen(QPen(look.border, 1));
    painter.drawLine(QPointF(lane.left(), std::round(lane.bottom()) + 0.5),
                     QPointF(lane.right(), std::round(lane.bottom()) + 0.5));
    const int most = std::max(2, static_cast<int>(lane_height / (metrics.height() * 1.8)));
    if (fits && !chart.buckets.empty()) {
      for (double value : valueTicks(values.low * one.factor, values.high * one.factor, most)) {
        const double y = std::round(values.y(value / one.factor)) + 0.5;
        painter.setPen(QPen(look.grid, 1));
        painter.drawLine(QPointF(lane.left(), y), QPointF(lane.right(), y));
        painter.setPen(look.muted);
        const double text_y = std::clamp(y - metrics.height() / 2.0, 0.0, size.height() - metrics.height());
        painter.drawText(QRectF(0, text_y, lane.left() - 6, metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
                         QLocale().toString(value, 'g', 4));
      }
      painter.setClipRect(lane.adjusted(0, -1, 0, 1));
      const LaneShape shape = laneShape(chart, i, axis, values);
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
    const QString title = one.unit.isEmpty() ? one.name : QStringLiteral("%1 (%2)").arg(one.name, one.unit);
    const QRectF plate(lane.left() + 6, lane.top() + 2, metrics.horizontalAdvance(title) + 12, metrics.height() + 2);
    writeOnPlate(plate, color, title);
  }

  if (chart.buckets.empty() || !fits) {
    const QString note = lanes == 0 ? tr("Choose what to draw above") : tr("No samples in this stretch of time");
    writeOnPlate(painter.boundingRect(plot, Qt::AlignCenter | Qt::TextWordWrap, note).adjusted(-6, -1, 6, 1),
                 look.muted, note);
  }

  painter.setPen(Qt::NoPen);
  painter.setBrush(look.accent);
  for (double time : pictures) {
    const double x = axis.x(time);
    if (x < plot.left() || x > plot.right()) continue;
    painter.drawPolygon(
        QPolygonF(QList<QPointF>{{x - 4, plot.bottom() + 5}, {x + 4, plot.bottom() + 5}, {x, plot.bottom() - 1}}));
  }

  if (!crosshair || *crosshair < axis.from || *crosshair > axis.to) return;
  const double x = std::round(axis.x(*crosshair)) + 0.5;
  painter.setPen(QPen(look.text, 1, Qt::DashLine));
  painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
  const QStringList lines = crosshairText().split(QLatin1Char('\n'));
  double text_width = 0;
  for (const QString& line : lines) text_width = std::max<double>(text_width, metrics.horizontalAdvance(line));
  QRectF box(x + 10, plot.top() + 4, text_width + 16, metrics.height() * lines.size() + 10.0);
  if (box.right() > plot.right()) box.moveRight(x - 10);
  painter.setPen(QPen(look.border, 1));
  painter.setBrush(look.panel);
  painter.drawRoundedRect(box, 5, 5);
  painter.setPen(look.text);
  painter.drawText(box.adjusted(8, 5, -8, -5), Qt::AlignLeft | Qt::AlignTop, lines.join(QLatin1Char('\n')));
}

QString ChartScene::crosshairText() const {
  if (!crosshair) return {};
  const int at = nearestBucket(chart, *crosshair);
  // A bucket far from the mouse is the other side of a gap.
  const double reach = std::max(static_cast<double>(chart.bucket_ms) / 1000, (axis.to - axis.from) / axis.width * 12);
  const bool near = at >= 0 && std::abs(static_cast<double>(chart.buckets[at].start) / 1000 - *crosshair) <= reach + 1;
  // What is said was measured at a time of its own, not under the mouse.
  QStringList lines = {near ? stretchText(chart.buckets[at].start, chart.bucket_ms) : timeText(*crosshair)};
  for (std::size_t i = 0; i < series.size() && near && i < chart.buckets[at].values.size(); ++i) {
    const monitor::Spread& spread = chart.buckets[at].values[i];
    if (spread.samples == 0) continue;
    QString line = QStringLiteral("%1: %2").arg(series[i].name, valueText(series[i], spread.mean));
    if (spread.samples > 1 && spread.max > spread.min)
      line += QStringLiteral("  (%1 … %2)").arg(valueText(series[i], spread.min), valueText(series[i], spread.max));
    lines << line;
  }
  if (near && chart.buckets[at].night >= 0.5) lines << tr("night");
  if (!near) lines << tr("nothing recorded");
  if (!near && at >= 0) lines << tr("nearest: %1").arg(timeText(static_cast<double>(chart.buckets[at].start) / 1000));
  return lines.join(QLatin1Char('\n'));
}

QImage ChartScene::picture(QSize size) const {
  ChartScene page = *this;
  page.look = lightTheme();
  page.look.chart = Qt::white;
  page.crosshair.reset();
  QImage image(size * 2, QImage::Format_RGB32);
  image.setDevicePixelRatio(2);
  QPainter painter(&image);
  painter.setFont(font);
  page.layOut(size);
  page.paint(painter, size);
  return image;
}

}  // namespace mpm::gui
