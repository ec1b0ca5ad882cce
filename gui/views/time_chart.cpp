// SPDX-License-Identifier: Apache-2.0
#include "gui/views/time_chart.h"

#include "gui/models/readout.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

UnixMs toMs(double seconds) { return static_cast<UnixMs>(seconds * 1000); }

QString momentText(UnixMs time, const charts::Clock& clock) {
  return timeText(time, clock, QStringLiteral("ddd d MMM yyyy HH:mm:ss"));
}

// "Mon 1 Jun 2026 12:00:00 – 12:05:00"; its beginning alone where it is no longer than a second.
QString stretchText(UnixMs start, UnixMs length, const charts::Clock& clock) {
  const QString begin = momentText(start, clock);
  if (length <= kSecondMs) return begin;
  const UnixMs end = start + length;
  return begin + QStringLiteral(" – ") +
         (dateTime(start, clock).date() == dateTime(end, clock).date()
              ? timeText(end, clock, QStringLiteral("HH:mm:ss"))
              : momentText(end, clock));
}

QString valueText(const ChartSeries& series, double value) {
  const QString text = number(value, series.decimals);
  return series.unit.empty() ? text : text + QChar(0x202f) + QString::fromStdString(series.unit);
}

std::uint32_t rgb(const QColor& color) { return color.rgb() & 0xffffff; }
cv::Size2d sizeOf(QSizeF size) { return {size.width(), size.height()}; }

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

  std::string label(const charts::TimeTick& tick, const charts::Clock& clock) const override {
    constexpr const char* kFormats[] = {"HH:mm:ss", "HH:mm", "ddd d MMM", "MMM yyyy", "yyyy"};  // by TimeTick::Unit
    const QLatin1String format(kFormats[static_cast<int>(tick.unit)]);
    return QLocale().toString(dateTime(toMs(tick.time), clock), format).toStdString();
  }
  std::string label(double value, int decimals) const override { return number(value, decimals).toStdString(); }
  std::string label(const TimeAxis& axis, const charts::Clock& clock) const override {
    const QString format = QStringLiteral("d MMM yyyy HH:mm");
    return (QLocale().toString(dateTime(toMs(axis.from), clock), format) + QStringLiteral(" – ") +
            timeText(toMs(axis.to), clock, format))
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

}  // namespace

void ChartScene::paint(QPainter& painter, QSizeF size) {
  note.clear();
  if (chart.buckets.empty())
    note = (series.empty() ? tr("Choose what to draw above") : tr("No samples in this stretch of time")).toStdString();
  night_name = tr("night").toStdString();
  band_name = tr("lowest to highest").toStdString();
  colors = {rgb(look.chart), rgb(look.text), rgb(look.muted), rgb(look.border), rgb(look.grid), rgb(look.night), {}};
  for (const QColor& color : look.series) colors.series.push_back(rgb(color));
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
  if (box.right() > plot.right()) box.moveRight(x - 10);
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
  const double reach = std::max(static_cast<double>(chart.bucket_ms) / 1000, (axis.to - axis.from) / axis.width * 12);
  const bool near = at >= 0 && std::abs(static_cast<double>(chart.buckets[at].start) / 1000 - *crosshair) <= reach + 1;
  // Shown is the nearest measurement, which is not exactly under the mouse.
  QStringList lines = {near ? stretchText(chart.buckets[at].start, chart.bucket_ms, clock)
                            : momentText(toMs(*crosshair), clock)};
  for (std::size_t i = 0; i < series.size() && near && i < chart.buckets[at].values.size(); ++i) {
    const charts::Spread& spread = chart.buckets[at].values[i];
    if (spread.samples == 0) continue;
    QString line =
        QStringLiteral("%1: %2").arg(QString::fromStdString(series[i].name), valueText(series[i], spread.mean));
    if (spread.samples > 1 && spread.max > spread.min)
      line += QStringLiteral("  (%1 … %2)").arg(valueText(series[i], spread.min), valueText(series[i], spread.max));
    lines << line;
  }
  if (near && chart.buckets[at].night >= 0.5) lines << tr("night");
  if (!near) lines << tr("nothing recorded");
  if (!near && at >= 0) lines << tr("nearest: %1").arg(momentText(chart.buckets[at].start, clock));
  return lines.join(QLatin1Char('\n'));
}

QImage ChartScene::picture(QSize size, const QString& heading) const {
  ChartScene page = *this;
  page.title = heading.toStdString();
  page.look = lightTheme();
  page.look.chart = Qt::white;
  page.crosshair.reset();
  QImage image(size * 2, QImage::Format_RGB32);
  image.setDevicePixelRatio(2);
  QPainter painter(&image);
  page.paint(painter, size);
  return image;
}

TimeChart::TimeChart(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  ask_.setSingleShot(true);
  ask_.setInterval(40);  // one question for a burst of wheel steps
  connect(&ask_, &QTimer::timeout, this,
          [this] { emit rangeChanged(scene_.axis.from, scene_.axis.to, std::max(100, width())); });
  const double now = static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000;
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

void TimeChart::setClock(const charts::Clock& clock) {
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
