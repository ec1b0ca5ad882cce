// SPDX-License-Identifier: Apache-2.0
#include "gui/views/trade_chart.h"

#include <QLocale>
#include <QPainter>
#include <algorithm>

#include "gui/views/look.h"

namespace mpm::gui {

void TradeChart::setResult(const TuneJob::Result& result, double wanted) {
  result_ = result;
  wanted_ = wanted;
  update();
}

void TradeChart::setRow(int row) {
  row_ = row;
  update();
}

void TradeChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().chart);
  if (!result_ || result_->rows.empty()) return;
  painter.setRenderHint(QPainter::Antialiasing);
  const QFontMetrics metrics = painter.fontMetrics();
  const QLocale locale;
  const auto percent = [&](double value) { return locale.toString(value, 'f', 1) + QStringLiteral(" %"); };
  double slow = 1, fast = 1, low = wanted_;
  for (const cli::TuneRow& row : result_->rows) {
    slow = std::min(slow, row.speed_up);
    fast = std::max(fast, row.speed_up);
    low = std::min(low, row.agreement);
  }
  const double span = std::max(0.1, 100 - low);
  const int line = metrics.height();
  const QRectF area = QRectF(rect()).adjusted(metrics.horizontalAdvance(percent(100)) + 14, line, -16, -line - 8);
  const auto at = [&](double speed_up, double agreement) {
    return QPointF(area.left() + (speed_up - slow) / std::max(0.01, fast - slow) * area.width(),
                   area.top() + (100 - agreement) / span * area.height());
  };

  painter.setPen(theme().muted);
  const auto label = [&](double agreement) {
    painter.drawText(QRectF(0, at(slow, agreement).y() - line / 2.0, area.left() - 8, line),
                     Qt::AlignRight | Qt::AlignVCenter, percent(agreement));
  };
  label(100);
  for (const double agreement : {wanted_, low})
    if (at(slow, agreement).y() > area.top() + line) label(agreement);
  const QRectF below(area.left(), area.bottom() + 4, area.width(), line);
  painter.drawText(below, Qt::AlignLeft, locale.toString(slow, 'f', 2));
  painter.drawText(below, Qt::AlignHCenter, tr("times as fast"));
  painter.drawText(below, Qt::AlignRight, locale.toString(fast, 'f', 2));
  painter.setPen(QPen(theme().muted, 1, Qt::DashLine));
  painter.drawLine(at(slow, wanted_), at(fast, wanted_));

  for (std::size_t i = 0; i < result_->rows.size(); ++i) {
    const cli::TuneRow& row = result_->rows[i];
    const bool chosen = static_cast<int>(i) == row_;
    painter.setPen(QPen(row.front ? theme().accent : theme().muted, 1.5));
    painter.setBrush(chosen ? theme().accent : theme().chart);
    const double radius = chosen ? 5 : 3.5;
    painter.drawEllipse(at(row.speed_up, row.agreement), radius, radius);
  }
}

}  // namespace mpm::gui
