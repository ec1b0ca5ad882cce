// SPDX-License-Identifier: Apache-2.0
#include "gui/views/speed_panel.h"

#include <QFormLayout>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <algorithm>

#include "gui/views/look.h"

namespace mpm::gui {

StageBar::StageBar(QWidget* parent) : QWidget(parent) {}

std::vector<std::pair<QString, double>> StageBar::stages() const {
  return {{tr("Backbone"), ms_.backbone},
          {tr("Merge"), ms_.merge},
          {tr("Restore"), ms_.restore},
          {tr("Head"), ms_.head},
          {tr("Before and after"), ms_.preprocess + ms_.postprocess}};
}

void StageBar::setTimes(const StageTimes& ms) {
  ms_ = ms;
  QStringList parts;
  for (const auto& [name, time] : stages()) parts << tr("%1: %2 ms").arg(name, QLocale().toString(time, 'f', 1));
  setAccessibleDescription(parts.join(QStringLiteral(", ")));
  update();
}

QSize StageBar::sizeHint() const { return {200, 5 * (fontMetrics().height() + 6) + 4}; }

void StageBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const auto rows = stages();
  double longest = 0.1;
  int names = 0;
  for (const auto& [name, time] : rows) {
    longest = std::max(longest, time);
    names = std::max(names, fontMetrics().horizontalAdvance(name));
  }
  const int row = fontMetrics().height() + 6;
  const int number = fontMetrics().horizontalAdvance(QStringLiteral("0000.0 ms")) + 6;
  const double room = std::max(10, width() - names - number - 16);
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const int y = i * row;
    painter.setPen(theme().muted);
    painter.drawText(QRect(0, y, names, row), Qt::AlignVCenter | Qt::AlignLeft, rows[i].first);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme().grid);
    const QRectF track(names + 8, y + 5, room, row - 10);
    painter.drawRoundedRect(track, 3, 3);
    painter.setBrush(theme().series[i % theme().series.size()]);
    painter.drawRoundedRect(
        QRectF(track.left(), track.top(), std::max(2.0, room * rows[i].second / longest), track.height()), 3, 3);
    painter.setPen(theme().text);
    painter.drawText(QRect(width() - number, y, number, row), Qt::AlignVCenter | Qt::AlignRight,
                     tr("%1 ms").arg(QLocale().toString(rows[i].second, 'f', 1)));
  }
}

SpeedPanel::SpeedPanel(QWidget* parent) : QWidget(parent) {
  auto* form = new QFormLayout;
  form->setVerticalSpacing(4);
  const auto add = [&](const QString& name, QLabel*& value) {
    value = namedValue(new QLabel(QStringLiteral("–"), this), name);
    form->addRow(mutedLabel(name, this), value);
  };
  add(tr("Frames in"), in_);
  add(tr("Processed"), processed_);
  add(tr("Dropped"), dropped_);
  add(tr("Median latency"), p50_);
  add(tr("95 % within"), p95_);
  bar_ = named(new StageBar(this), tr("Time per stage"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 8);
  column->setSpacing(8);
  column->addLayout(form);
  column->addWidget(headingLabel(tr("Last frame"), this));
  column->addWidget(bar_);
  column->addStretch();
}

void SpeedPanel::setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference) {
  const QLocale locale;
  setValue(in_,
           tr("%1 fps, %2 in all").arg(locale.toString(capture.fps, 'f', 1), locale.toString(qlonglong(capture.in))));
  setValue(processed_,
           tr("%1 fps, %2 in all")
               .arg(locale.toString(inference.fps, 'f', 1), locale.toString(qlonglong(inference.processed))));
  const double share =
      capture.in > 0 ? 100.0 * static_cast<double>(capture.dropped) / static_cast<double>(capture.in) : 0;
  setValue(dropped_, tr("%1 (%2 %)").arg(locale.toString(qlonglong(capture.dropped)), locale.toString(share, 'f', 0)));
  setValue(p50_, tr("%1 ms").arg(locale.toString(inference.p50_ms, 'f', 1)));
  setValue(p95_, tr("%1 ms").arg(locale.toString(inference.p95_ms, 'f', 1)));
}

void SpeedPanel::setTimes(const StageTimes& ms) { bar_->setTimes(ms); }

QString SpeedPanel::text() const {
  QStringList parts;
  for (const QLabel* label : {in_, processed_, dropped_, p50_, p95_})
    parts << QStringLiteral("%1: %2").arg(valueName(label), label->text());
  return parts.join(QLatin1Char('\n')) + QLatin1Char('\n') + bar_->accessibleDescription();
}

}  // namespace mpm::gui
