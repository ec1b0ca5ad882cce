// SPDX-License-Identifier: Apache-2.0
#include "gui/views/calendar_panel.h"

#include <QCoreApplication>
#include <ranges>

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "monitor/quantity.h"

namespace mpm::gui {
namespace {

// What a row of the colours stands for: {a quantity, a class, a head, its state}, of which one or two are not empty.
QStringList tintOf(const QString& quantity, const QString& of_class = {}, const QString& head = {},
                   const QString& state = {}) {
  return {quantity, of_class, head, state};
}

// Replaces the rows; without a row of `chosen` the first one is chosen.
void setRows(QComboBox* box, const std::vector<std::pair<QString, QVariant>>& rows, const QVariant& chosen) {
  std::vector<std::pair<QString, QVariant>> before;
  for (int i = 0; i < box->count(); ++i) before.emplace_back(box->itemText(i), box->itemData(i));
  if (rows == before && box->currentData() == chosen) return;  // a person may have its list open
  const QSignalBlocker quiet(box);
  box->clear();
  int index = 0;
  for (const auto& [text, data] : rows) {
    if (data == chosen) index = box->count();
    box->addItem(text, data);
  }
  box->setCurrentIndex(rows.empty() ? -1 : index);
}

}  // namespace

CalendarPanel::CalendarPanel(QWidget* parent)
    : QWidget(parent),
      year_(choiceField(tr("Year"), {})),
      moment_(choiceField(tr("Picture of a day"), {})),
      tint_(choiceField(tr("Colour of a day"), {})),
      text_(namedValue(mutedLabel(), tr("Day"))),
      view_(named(new CalendarView, tr("Days of the year"))) {
  for (QComboBox* box : {moment_, tint_}) box->setMinimumContentsLength(16);
  for (const auto& [moment, name] : monitor::dayMoments())
    moment_->addItem(QCoreApplication::translate("moments", name), QLatin1String(moment));
  auto* area = new QScrollArea(this);
  area->setWidgetResizable(true);
  area->setFocusPolicy(Qt::NoFocus);  // the days have it
  area->setFrameShape(QFrame::NoFrame);
  area->setWidget(view_);
  QLayout* bar = wrappingRow(4, {year_, moment_, tint_, text_});
  QBoxLayout* column = fill(new QVBoxLayout(this), bar, stretched(area));
  column->setContentsMargins(8, 6, 8, 6);
  column->setSpacing(4);
  for (QComboBox* box : {year_, moment_, tint_}) connect(box, &QComboBox::activated, this, &CalendarPanel::wanted);
  connect(view_, &CalendarView::picked, this, &CalendarPanel::picked);
  connect(view_, &CalendarView::marked, this, [this, area](int day) {
    setValue(text_, view_->textOf(day));
    const QPoint middle = view_->placeOf(day).center().toPoint();
    area->ensureVisible(middle.x(), middle.y());
  });
  clear();
}

void CalendarPanel::clear() {
  setRows(year_, {}, {});
  setRows(tint_, {{quantityName(*monitor::findQuantity("tokens")), tintOf(QStringLiteral("tokens"))}}, {});
  view_->setCalendar({});
  setValue(text_, tr("A click on a day, or the arrow keys and Enter, show its picture"));
}

void CalendarPanel::choose(CalendarQuestion& question) const {
  const QStringList tint = tint_->currentData().toStringList();
  const auto part = [&](int i) { return tint.value(i).toStdString(); };
  question.key = {.series = {.quantity = part(0), .class_name = part(1)}, .states = part(2), .state = part(3)};
  question.moment = monitor::parseDayMoment(moment_->currentData().toString().toStdString());
  question.year = year_->currentData().toInt();
}

void CalendarPanel::setAnswer(const CalendarAnswer& answer) {
  std::vector<std::pair<QString, QVariant>> years, tints;
  for (const int year : answer.years | std::views::reverse) years.emplace_back(QString::number(year), year);
  for (const monitor::Quantity& one : monitor::quantities())
    tints.emplace_back(quantityName(one), tintOf(QLatin1String(one.key)));
  for (const QString& name : answer.classes) tints.emplace_back(tr("Area of %1").arg(name), tintOf({}, name));
  for (const auto& [head, state] : answer.states)
    tints.emplace_back(tr("%1: %2").arg(head, state), tintOf({}, {}, head, state));
  const std::pair<QString, QVariant> chosen(tint_->currentText(), tint_->currentData());
  if (std::ranges::none_of(tints, [&](const auto& row) { return row.second == chosen.second; }))
    tints.push_back(chosen);  // a state that never counted in this year
  setRows(year_, years, answer.year);
  setRows(tint_, tints, chosen.second);
  view_->setCalendar(answer.drawing);
}

void CalendarPanel::setProblem(const QString& text) { setValue(text_, text); }

void CalendarPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  emit wanted();
}

}  // namespace mpm::gui
