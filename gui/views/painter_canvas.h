// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "charts/draw_chart.h"
#include "gui/models/readout.h"
#include "gui/models/theme.h"

namespace mpm::gui {

/// Draws with a QPainter, with the labels of the language.
class PainterCanvas final : public charts::ChartCanvas {
 public:
  PainterCanvas(QPainter* painter, const QFont& font) : painter_(painter), metrics_(font) { painter->setFont(font); }

  double textWidth(const std::string& text) const override {
    return metrics_.horizontalAdvance(QString::fromStdString(text));
  }
  double textHeight() const override { return metrics_.height(); }
  void text(const std::string& text, cv::Point2d left_middle, std::uint32_t color) override {
    const QRectF place(left_middle.x, left_middle.y - textHeight() / 2, textWidth(text) + 1, textHeight());
    painter_->setPen(QColor(color));
    painter_->drawText(place, Qt::AlignLeft | Qt::AlignVCenter, QString::fromStdString(text));
  }
  void line(const std::vector<cv::Point2d>& points, std::uint32_t color, double width) override {
    if (points.size() == 1) {
      painter_->setPen(Qt::NoPen);
      painter_->setBrush(QColor(color));
      painter_->drawEllipse(polygon(points).front(), 2.2, 2.2);
      return;
    }
    painter_->setBrush(Qt::NoBrush);
    painter_->setPen(QPen(QColor(color), width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter_->drawPolyline(polygon(points));
  }
  void area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) override {
    QColor fill(color);
    fill.setAlphaF(static_cast<float>(opacity));
    painter_->setPen(Qt::NoPen);
    painter_->setBrush(fill);
    painter_->drawPolygon(polygon(corners));
  }
  void clip(const std::optional<cv::Rect2d>& rectangle) override {
    painter_->setClipping(rectangle.has_value());
    if (rectangle) painter_->setClipRect(QRectF(rectangle->x, rectangle->y, rectangle->width, rectangle->height));
  }

  std::string label(const charts::TimeTick& tick, const charts::OptionalClock& clock) const override {
    constexpr const char* kFormats[] = {"HH:mm:ss", "HH:mm", "ddd d MMM", "MMM yyyy", "yyyy"};  // by TimeTick::Unit
    const QLatin1String format(kFormats[static_cast<int>(tick.unit)]);
    return QLocale().toString(dateTime(static_cast<UnixMs>(tick.time * 1000), clock), format).toStdString();
  }
  std::string label(double value, int decimals) const override { return number(value, decimals).toStdString(); }
  std::string label(const charts::TimeAxis& axis, const charts::OptionalClock& clock) const override {
    return (QLocale().toString(dateTime(static_cast<UnixMs>(axis.from * 1000), clock), kMinuteFormat) +
            QStringLiteral(" – ") + timeText(static_cast<UnixMs>(axis.to * 1000), clock, kMinuteFormat))
        .toStdString();
  }

 private:
  static QPolygonF polygon(const std::vector<cv::Point2d>& points) {
    QPolygonF result;
    for (const cv::Point2d& point : points) result.append({point.x, point.y});
    return result;
  }

  QPainter* painter_;
  QFontMetricsF metrics_;
};

}  // namespace mpm::gui
