// SPDX-License-Identifier: Apache-2.0
#include "gui/views/settings_dialogs.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QScrollArea>
#include <QTimeEdit>
#include <cmath>

#include "gui/views/look.h"

namespace mpm::gui {
namespace {

QDialogButtonBox* buttons(QDialog* dialog, QDialogButtonBox::StandardButton accept) {
  auto* box = new QDialogButtonBox(accept | QDialogButtonBox::Cancel, dialog);
  makePrimary(box->button(accept));
  QObject::connect(box, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
  QObject::connect(box, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  return box;
}

QDoubleSpinBox* number(QWidget* parent, const QString& name, double low, double high, double value, int decimals,
                       const QString& suffix) {
  auto* box = named(new QDoubleSpinBox(parent), name);
  box->setDecimals(decimals);
  box->setRange(low, high);
  box->setValue(value);
  box->setSuffix(suffix);
  return box;
}

QSpinBox* whole(QWidget* parent, const QString& name, int low, int high, int value, const QString& suffix = {}) {
  auto* box = named(new QSpinBox(parent), name);
  box->setRange(low, high);
  box->setValue(value);
  box->setSuffix(suffix);
  return box;
}

// A row that counts only while its mark is set.
QCheckBox* guarded(QFormLayout* form, const QString& text, bool on, std::initializer_list<QWidget*> fields) {
  auto* check = new QCheckBox(text);
  check->setChecked(on);
  auto* row = new QHBoxLayout;
  for (QWidget* field : fields) {
    field->setEnabled(on);
    QObject::connect(check, &QCheckBox::toggled, field, &QWidget::setEnabled);
    row->addWidget(field);
  }
  row->addStretch();
  form->addRow(check, row);
  return check;
}

// Why what is written cannot be accepted; hidden while it can.
QLabel* refusal(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  setBadge(label, "warning");
  label->hide();
  return label;
}

}  // namespace

NightDialog::NightDialog(const monitor::NightRule& rule, const NightNumbers& numbers, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Day and night"));
  NightNumbers written = numbers;
  written.take(rule);
  const auto& [sun, light, fixed] = written;
  sun_ = new QRadioButton(tr("By the sun at the place of the camera"), this);
  brightness_ = new QRadioButton(tr("By the brightness of the picture"), this);
  hours_ = new QRadioButton(tr("Between fixed hours"), this);
  none_ = new QRadioButton(tr("Do not tell them apart"), this);
  QRadioButton* choices[] = {none_, sun_, brightness_, hours_};
  choices[rule.index()]->setChecked(true);

  latitude_ = number(this, tr("Latitude, degrees north"), -90, 90, sun.latitude, 4, tr("° N"));
  longitude_ = number(this, tr("Longitude, degrees east"), -180, 180, sun.longitude, 4, tr("° E"));
  elevation_ =
      number(this, tr("Night below this elevation of the sun"), -18, 10, sun.night_below, 1, QStringLiteral("°"));
  dark_ = whole(this, tr("Night below this brightness"), 0, 254, static_cast<int>(light.night_below));
  bright_ = whole(this, tr("Day above this brightness"), 1, 255, static_cast<int>(light.day_above));
  from_ = named(new QTimeEdit(QTime(fixed.from / 60, fixed.from % 60), this), tr("Night begins"));
  to_ = named(new QTimeEdit(QTime(fixed.to / 60, fixed.to % 60), this), tr("Night ends"));

  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  const auto group = [&](QRadioButton* button, std::initializer_list<std::pair<QString, QWidget*>> rows) {
    column->addWidget(button);
    auto* inner = new QWidget(content);
    auto* form = new QFormLayout(inner);
    form->setContentsMargins(24, 0, 0, 6);
    for (const auto& [name, field] : rows) form->addRow(name, field);
    column->addWidget(inner);
    inner->setEnabled(button->isChecked());
    connect(button, &QRadioButton::toggled, inner, &QWidget::setEnabled);
  };
  group(sun_,
        {{tr("Latitude"), latitude_}, {tr("Longitude"), longitude_}, {tr("Night when the sun is below"), elevation_}});
  group(brightness_, {{tr("Night below (of 255)"), dark_}, {tr("Day above (of 255)"), bright_}});
  group(hours_, {{tr("From"), from_}, {tr("To"), to_}});
  column->addWidget(none_);
  column->addStretch();
  auto* box = buttons(this, QDialogButtonBox::Ok);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(16, 14, 16, 14);
  outer->addWidget(scrolled(content));
  auto* why = refusal(this);
  outer->addWidget(why);
  outer->addWidget(box);
  const auto check = [this, box, why] {
    const bool upside_down = brightness_->isChecked() && dark_->value() > bright_->value();
    const bool empty = hours_->isChecked() && from_->time() == to_->time();
    why->setText(upside_down ? tr("The brightness of the night must not be above that of the day.")
                 : empty     ? tr("A night that begins when it ends is none.")
                             : QString());
    why->setVisible(upside_down || empty);
    box->button(QDialogButtonBox::Ok)->setEnabled(!upside_down && !empty);
  };
  for (QTimeEdit* edit : {from_, to_}) connect(edit, &QTimeEdit::timeChanged, this, check);
  connect(hours_, &QRadioButton::toggled, this, check);
  connect(dark_, &QSpinBox::valueChanged, this, check);
  connect(bright_, &QSpinBox::valueChanged, this, check);
  connect(brightness_, &QRadioButton::toggled, this, check);
  check();
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->rule()); });
  fitToWindow(this);
}

monitor::NightRule NightDialog::rule() const {
  const auto minutes = [](QTime time) { return time.hour() * 60 + time.minute(); };
  if (sun_->isChecked()) return monitor::NightBySun{latitude_->value(), longitude_->value(), elevation_->value()};
  if (brightness_->isChecked())
    return monitor::NightByBrightness{static_cast<double>(dark_->value()), static_cast<double>(bright_->value())};
  if (hours_->isChecked()) return monitor::NightByHours{minutes(from_->time()), minutes(to_->time())};
  return {};
}

AlarmsDialog::AlarmsDialog(const monitor::AlarmOptions& options, const QStringList& classes, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Alarms"));
  auto* form = new QFormLayout;
  seconds_ = whole(this, tr("Seconds without a frame"), 1, 86400,
                   options.no_frame_s > 0 ? static_cast<int>(options.no_frame_s) : 60, tr(" s"));
  fewest_ = whole(this, tr("Fewest tokens"), 1, 100000, static_cast<int>(options.tokens_below.value_or(300)));
  most_ = whole(this, tr("Most tokens"), 1, 100000, static_cast<int>(options.tokens_above.value_or(900)));
  const bool area = !options.areas.empty();
  const monitor::AreaAlarm first = area ? options.areas.front() : monitor::AreaAlarm{};
  class_ = named(new QComboBox(this), tr("Class"));
  class_->addItems(classes);
  class_->setCurrentIndex(area ? first.label : 0);
  side_ = named(new QComboBox(this), tr("Above or below"));
  side_->addItems({tr("covers more than"), tr("covers less than")});
  side_->setCurrentIndex(first.below ? 1 : 0);
  share_ = number(this, tr("Share of the picture"), 0, 100, 100 * first.above.value_or(first.below.value_or(0.1)), 1,
                  QStringLiteral(" %"));
  minutes_ = number(this, tr("Minutes before it rings"), 0.1, 1440, options.minutes, 1, tr(" min"));
  no_frame_ = guarded(form, tr("No frame for"), options.no_frame_s > 0, {seconds_});
  below_ = guarded(form, tr("Fewer tokens than"), options.tokens_below.has_value(), {fewest_});
  above_ = guarded(form, tr("More tokens than"), options.tokens_above.has_value(), {most_});
  area_ = guarded(form, tr("A class"), area, {class_, side_, share_});
  area_->setEnabled(!classes.isEmpty());
  form->addRow(tr("Tokens and areas ring after"), minutes_);
  auto* note = mutedLabel(tr("Alarms go to the list of events; nothing is ever in the way of the picture."), this);
  note->setWordWrap(true);
  auto* content = new QWidget;
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->addLayout(form);
  inner->addWidget(note);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 14, 16, 14);
  column->addWidget(scrolled(content));
  auto* why = refusal(this);
  column->addWidget(why);
  auto* box = buttons(this, QDialogButtonBox::Ok);
  column->addWidget(box);
  const auto check = [this, box, why] {
    const bool possible = !below_->isChecked() || !above_->isChecked() || fewest_->value() < most_->value();
    why->setText(possible ? QString() : tr("The fewest tokens must be fewer than the most."));
    why->setVisible(!possible);
    box->button(QDialogButtonBox::Ok)->setEnabled(possible);
  };
  for (QSpinBox* limit : {fewest_, most_}) connect(limit, &QSpinBox::valueChanged, this, check);
  for (QCheckBox* mark : {below_, above_}) connect(mark, &QCheckBox::toggled, this, check);
  check();
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->options()); });
  fitToWindow(this);
}

monitor::AlarmOptions AlarmsDialog::options() const {
  monitor::AlarmOptions result;
  if (no_frame_->isChecked()) result.no_frame_s = seconds_->value();
  if (below_->isChecked()) result.tokens_below = fewest_->value();
  if (above_->isChecked()) result.tokens_above = most_->value();
  if (area_->isChecked() && class_->currentIndex() >= 0) {
    monitor::AreaAlarm alarm;
    alarm.label = class_->currentIndex();
    alarm.name = class_->currentText().toStdString();
    (side_->currentIndex() == 0 ? alarm.above : alarm.below) = share_->value() / 100;
    result.areas.push_back(alarm);
  }
  result.minutes = minutes_->value();
  return result;
}

ExportDialog::ExportDialog(const QString& source, double from, double to, QWidget* parent)
    : QDialog(parent), from_(from), to_(to) {
  setWindowTitle(tr("Export"));
  auto* of = named(new QLabel(source, this), tr("Source: %1").arg(source));
  of->setWordWrap(true);
  of->setTextInteractionFlags(Qt::TextSelectableByMouse);
  format_ = named(new QComboBox(this), tr("Format"));
  format_->addItems({tr("CSV, one row per sample"), tr("CSV in the PhenoCam profile"), tr("JSON Lines"),
                     tr("The chart as a PNG picture")});
  shown_ = new QRadioButton(tr("The stretch of time on show"), this);
  all_ = new QRadioButton(tr("Everything that is stored of it"), this);
  all_->setChecked(true);
  auto* form = new QFormLayout;
  form->addRow(tr("Source"), of);
  form->addRow(tr("Format"), format_);
  form->addRow(tr("Samples"), all_);
  form->addRow(QString(), shown_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 14, 16, 14);
  column->addLayout(form);
  auto* box = buttons(this, QDialogButtonBox::Save);
  box->button(QDialogButtonBox::Save)->setText(tr("Save…"));
  column->addWidget(box);
  connect(format_, &QComboBox::currentIndexChanged, this, [this] {
    all_->setEnabled(format() != Format::kChartPng);
    shown_->setEnabled(format() != Format::kChartPng);
  });
  connect(this, &QDialog::accepted, this, &ExportDialog::chosen);
}

ExportDialog::Format ExportDialog::format() const { return static_cast<Format>(format_->currentIndex()); }
void ExportDialog::setFormat(Format format) { format_->setCurrentIndex(static_cast<int>(format)); }

std::pair<monitor::UnixMs, monitor::UnixMs> ExportDialog::span() const {
  if (all_->isChecked()) return {0, INT64_MAX};
  return {static_cast<monitor::UnixMs>(from_ * 1000), static_cast<monitor::UnixMs>(std::ceil(to_ * 1000))};
}

QString ExportDialog::suffix() const {
  switch (format()) {
    case Format::kCsv:
    case Format::kPhenoCam:
      return QStringLiteral("csv");
    case Format::kJsonLines:
      return QStringLiteral("jsonl");
    case Format::kChartPng:
      return QStringLiteral("png");
  }
  return {};
}

KeepDialog::KeepDialog(const KeepOptions& options, const QString& folder, const QString& database, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("What is kept"));
  auto* content = new QWidget;
  auto* form = new QFormLayout(content);
  const auto place = [&](const QString& text) {
    auto* label = mutedLabel(text, content);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form->addRow(label);
  };
  minutes_ = number(content, tr("Minutes between two pictures"), 0.1, 1440,
                    options.lapse_minutes > 0 ? options.lapse_minutes : 15, 1, tr(" min"));
  days_ = number(content, tr("Days to keep pictures"), 1, 36500, options.picture_days > 0 ? options.picture_days : 90,
                 0, tr(" days"));
  megabytes_ =
      number(content, tr("Free space to leave"), 10, 1e7, options.free_mb > 0 ? options.free_mb : 500, 0, tr(" MB"));
  sample_days_ = number(content, tr("Days to keep samples"), 1, 36500,
                        options.sample_days > 0 ? options.sample_days : 365, 0, tr(" days"));
  database_mb_ = number(content, tr("Largest database"), 10, 1e7, options.database_mb > 0 ? options.database_mb : 2000,
                        0, tr(" MB"));
  form->addRow(headingLabel(tr("Pictures"), content));
  lapse_ = guarded(form, tr("Time-lapse: one picture every"), options.lapse_minutes > 0, {minutes_});
  keep_ = guarded(form, tr("Forget pictures older than"), options.picture_days > 0, {days_});
  free_ = guarded(form, tr("Forget the oldest to leave free"), options.free_mb > 0, {megabytes_});
  place(tr("Pictures are in %1").arg(folder));
  form->addRow(headingLabel(tr("Samples"), content));
  old_samples_ = guarded(form, tr("Forget samples older than"), options.sample_days > 0, {sample_days_});
  large_ = guarded(form, tr("Forget the oldest above"), options.database_mb > 0, {database_mb_});
  place(database.isEmpty() ? tr("Samples are not stored.")
                           : tr("Samples are in %1; the means of hours and days stay.").arg(database));
  if (database.isEmpty())
    for (QCheckBox* box : {old_samples_, large_}) box->setEnabled(false);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 14, 16, 14);
  column->addWidget(scrolled(content));
  column->addWidget(buttons(this, QDialogButtonBox::Ok));
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->options()); });
  fitToWindow(this);
}

KeepOptions KeepDialog::options() const {
  const auto said = [](const QCheckBox* box, const QDoubleSpinBox* value) {
    return box->isChecked() ? value->value() : 0;
  };
  return {said(lapse_, minutes_), said(keep_, days_), said(free_, megabytes_), said(old_samples_, sample_days_),
          said(large_, database_mb_)};
}

}  // namespace mpm::gui
