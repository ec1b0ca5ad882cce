// SPDX-License-Identifier: Apache-2.0
#include "gui/views/chart_scene.h"

#include <algorithm>

#include "gui/models/readout.h"
#include "gui/views/painter_canvas.h"

namespace mpm::gui {
namespace {

UnixMs toMs(double seconds) { return static_cast<UnixMs>(seconds * 1000); }

QString momentText(UnixMs time, const charts::OptionalClock& clock) {
  return timeText(time, clock, QStringLiteral("ddd d MMM yyyy HH:mm:ss"));
}

// "Mon 1 Jun 2026 12:00:00 – 12:05:00 UTC+01:00"; its beginning alone where it is no longer than a second.
QString stretchText(UnixMs start, UnixMs length, const charts::OptionalClock& clock) {
  QString begin = momentText(start, clock);
  if (length <= kSecondMs) return begin;
  const UnixMs end = start + length;
  const QString time = QStringLiteral("HH:mm:ss"), until = timeText(end, clock, time);
  const bool one_day = dateTime(start, clock).date() == dateTime(end, clock).date();
  const QString zone = until.mid(time.size());  // said once
  if (one_day && begin.endsWith(zone)) begin.chop(zone.size());
  return begin + QStringLiteral(" – ") + (one_day ? until : momentText(end, clock));
}

QString valueText(const ChartSeries& series, double value) {
  const QString text = number(value, series.decimals);
  return series.unit.empty() ? text : text + QChar(0x202f) + QString::fromStdString(series.unit);
}

cv::Size2d sizeOf(QSizeF size) { return {size.width(), size.height()}; }

}  // namespace

void ChartScene::paint(QPainter& painter, QSizeF size) {
  note.clear();
  if (chart.buckets.empty())
    note = (series.empty() ? tr("Choose what to draw above") : tr("No samples in this stretch of time")).toStdString();
  night_name = tr("night").toStdString();
  band_name = tr("lowest to highest").toStdString();
  colors = look.chart;
  painter.setRenderHint(QPainter::Antialiasing);
  PainterCanvas canvas(&painter, font);
  const cv::Rect2d area = plotArea(canvas, sizeOf(size), !title.empty());
  plot = QRectF(area.x, area.y, area.width, area.height);
  axis.left = plot.left();
  axis.width = plot.width();
  drawChart(*this, sizeOf(size), canvas);

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
  const QFontMetricsF metrics(font);
  const QStringList lines = crosshairText().split(QLatin1Char('\n'));
  double text_width = 0;
  for (const QString& line : lines) text_width = std::max<double>(text_width, metrics.horizontalAdvance(line));
  QRectF box(x + 10, plot.top() + 4, text_width + 16, metrics.height() * lines.size() + 10.0);
  if (box.right() > plot.right()) box.moveLeft(std::max(2.0, x - 10 - box.width()));
  painter.setPen(QPen(look.border, 1));
  painter.setBrush(look.panel);
  painter.drawRoundedRect(box, 5, 5);
  painter.setPen(look.text);
  painter.drawText(box.adjusted(8, 5, -8, -5), Qt::AlignLeft | Qt::AlignTop, lines.join(QLatin1Char('\n')));
}

QString ChartScene::crosshairText() const {
  if (!crosshair) return {};
  const int at = charts::nearestBucket(chart, *crosshair);
  // A bucket far from the mouse is the other side of a gap.
  const double reach =
      std::max(static_cast<double>(chart.bucket_ms) / 2000, (axis.to - axis.from) / axis.width * 12) + 1;
  const bool near = at >= 0 && std::abs(static_cast<double>(chart.buckets[at].middle) / 1000 - *crosshair) <= reach;
  // Shown is the nearest measurement, which is not exactly under the mouse.
  QStringList lines = {near ? stretchText(chart.buckets[at].start, chart.bucket_ms, clock)
                            : momentText(toMs(*crosshair), clock)};
  for (std::size_t i = 0; i < series.size() && near && i < chart.buckets[at].values.size(); ++i) {
    const charts::Spread& spread = chart.buckets[at].values[i];
    if (spread.samples == 0) continue;
    QString line = tr("%1: %2").arg(QString::fromStdString(series[i].name), valueText(series[i], spread.mean));
    if (spread.samples > 1 && spread.max > spread.min)
      line += QStringLiteral("  (%1 … %2)").arg(valueText(series[i], spread.min), valueText(series[i], spread.max));
    lines << line;
  }
  if (near && chart.buckets[at].night >= 0.5) lines << tr("night");
  // A strip may be too narrow for a name, and the line above it for all of them.
  for (const charts::ChartBand& band : bands) {
    const auto next =
        std::ranges::upper_bound(band.changes, toMs(*crosshair), {}, [](const auto& one) { return one.first; });
    if (next == band.changes.begin() || std::prev(next)->second.empty() || !(near || band.over_gaps)) continue;
    lines << tr("%1: %2").arg(QString::fromStdString(band.name), QString::fromStdString(std::prev(next)->second));
  }
  if (!near) lines << tr("nothing recorded");
  if (!near && at >= 0) lines << tr("nearest: %1").arg(momentText(chart.buckets[at].start, clock));
  return lines.join(QLatin1Char('\n'));
}

QImage ChartScene::picture(QSize size, const QString& heading) const {
  ChartScene page = *this;
  page.title = heading.toStdString();
  page.look = lightTheme();
  page.crosshair.reset();
  QImage image(size * 2, QImage::Format_RGB32);
  image.setDevicePixelRatio(2);
  QPainter painter(&image);
  page.paint(painter, size);
  return image;
}

}  // namespace mpm::gui
