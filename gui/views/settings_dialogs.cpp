// SPDX-License-Identifier: Apache-2.0
#include "gui/views/settings_dialogs.h"

#include "gui/views/look.h"
#include "monitor/event_command.h"
#include "mpm/error.hpp"

namespace mpm::gui {
namespace {

QDialogButtonBox* buttons(QDialog* dialog, QDialogButtonBox::StandardButton accept) {
  auto* box = new QDialogButtonBox(accept | QDialogButtonBox::Cancel);
  makePrimary(box->button(accept));
  QObject::connect(box, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
  QObject::connect(box, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  return box;
}

QBoxLayout* dialogColumn(QDialog* dialog) {
  auto* column = new QVBoxLayout(dialog);
  column->setContentsMargins(16, 14, 16, 14);
  return column;
}

}  // namespace

SettingsDialog::SettingsDialog(const QString& title, QWidget* parent) : QDialog(parent), content_(new QWidget) {
  setWindowTitle(title);
  form_ = new QFormLayout(content_);
  form_->setContentsMargins(0, 0, 0, 0);
}

void SettingsDialog::finish(std::function<QString()> refusal, QWidget* beside) {
  auto* box = buttons(this, QDialogButtonBox::Ok);
  auto* why = wrapped(new QLabel);
  setBadge(why, Badge::kWarning);
  QScrollArea* const fields = scrolled(content_);
  if (beside) {  // which keeps its size while the line comes and goes
    QSizePolicy kept = why->sizePolicy();
    kept.setRetainSizeWhenHidden(true);
    why->setSizePolicy(kept);
    why->setMinimumHeight(why->fontMetrics().lineSpacing() + 4);
    QBoxLayout* row = fill(new QHBoxLayout, beside, fields);
    row->setStretch(0, 1);
    QBoxLayout* column = fill(dialogColumn(this), row, why, box);
    column->setStretch(0, 1);
  } else {
    fill(dialogColumn(this), fields, why, box);
  }
  check_ = [box, why, refusal = std::move(refusal)] {
    why->setText(refusal ? refusal() : QString());
    why->setVisible(!why->text().isEmpty());
    box->button(QDialogButtonBox::Ok)->setEnabled(why->text().isEmpty());
  };
  for (auto* field : findChildren<QSpinBox*>()) connect(field, &QSpinBox::valueChanged, this, check_);
  for (auto* field : findChildren<QLineEdit*>()) connect(field, &QLineEdit::textChanged, this, check_);
  for (auto* field : findChildren<QTimeEdit*>()) connect(field, &QTimeEdit::timeChanged, this, check_);
  for (auto* field : findChildren<QAbstractButton*>()) connect(field, &QAbstractButton::toggled, this, check_);
  check_();
  fitToWindow(this);
}

NightDialog::NightDialog(const monitor::NightRule& rule, const NightNumbers& numbers, QWidget* parent)
    : SettingsDialog(tr("Day and night"), parent) {
  NightNumbers written = numbers;
  written.take(rule);
  const auto& [sun, light, fixed] = written;
  const auto group = [&](const QString& text, std::initializer_list<std::pair<QString, QWidget*>> rows) {
    auto* button = new QRadioButton(text);
    form_->addRow(button);
    if (rows.size() == 0) return button;
    auto* inner = new QWidget;
    auto* form = new QFormLayout(inner);
    form->setContentsMargins(24, 0, 0, 6);
    for (const auto& [name, field] : rows) form->addRow(name, field);
    form_->addRow(inner);
    inner->setEnabled(false);
    connect(button, &QRadioButton::toggled, inner, &QWidget::setEnabled);
    return button;
  };
  latitude_ = numberField(tr("Latitude, degrees north"), -90, 90, sun.latitude, 4, tr("° N"));
  longitude_ = numberField(tr("Longitude, degrees east"), -180, 180, sun.longitude, 4, tr("° E"));
  elevation_ =
      numberField(tr("Night below this elevation of the sun"), -18, 10, sun.night_below, 1, QStringLiteral("°"));
  dark_ = wholeField(tr("Night below this brightness"), 0, 254, light.night_below);
  bright_ = wholeField(tr("Day above this brightness"), 1, 255, light.day_above);
  from_ = named(new QTimeEdit(QTime(fixed.from / 60, fixed.from % 60)), tr("Night begins"));
  to_ = named(new QTimeEdit(QTime(fixed.to / 60, fixed.to % 60)), tr("Night ends"));
  sun_ = group(
      tr("By the sun at the place of the camera"),
      {{tr("Latitude"), latitude_}, {tr("Longitude"), longitude_}, {tr("Night when the sun is below"), elevation_}});
  brightness_ = group(tr("By the brightness of the picture"),
                      {{tr("Night below (of 255)"), dark_}, {tr("Day above (of 255)"), bright_}});
  hours_ = group(tr("Between fixed hours"), {{tr("From"), from_}, {tr("To"), to_}});
  none_ = group(tr("Do not distinguish them"), {});
  QRadioButton* choices[] = {none_, sun_, brightness_, hours_};
  choices[rule.index()]->setChecked(true);
  finish([this] {
    return brightness_->isChecked() && dark_->value() > bright_->value()
               ? tr("The brightness of the night must not be above that of the day.")
           : hours_->isChecked() && from_->time() == to_->time() ? tr("A night that begins when it ends is none.")
                                                                 : QString();
  });
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->rule()); });
}

monitor::NightRule NightDialog::rule() const {
  const auto minutes = [](const QTimeEdit* edit) { return edit->time().hour() * 60 + edit->time().minute(); };
  if (sun_->isChecked()) return monitor::NightBySun{latitude_->value(), longitude_->value(), elevation_->value()};
  if (brightness_->isChecked())
    return monitor::NightByBrightness{static_cast<double>(dark_->value()), static_cast<double>(bright_->value())};
  if (hours_->isChecked()) return monitor::NightByHours{minutes(from_), minutes(to_)};
  return {};
}

AlarmsDialog::AlarmsDialog(const monitor::AlarmOptions& options, const QStringList& classes, const QString& command,
                           QWidget* parent)
    : SettingsDialog(tr("Alarms"), parent) {
  const bool area = !options.areas.empty();
  const monitor::AreaAlarm first = area ? options.areas.front() : monitor::AreaAlarm{};
  seconds_ =
      wholeField(tr("Seconds without a frame"), 1, 86400, options.no_frame_s > 0 ? options.no_frame_s : 60, tr(" s"));
  fewest_ = wholeField(tr("Fewest tokens"), 1, 100000, options.tokens_below.value_or(300));
  most_ = wholeField(tr("Most tokens"), 1, 100000, options.tokens_above.value_or(900));
  class_ = named(new QComboBox, tr("Class"));
  class_->addItems(classes);
  class_->setCurrentIndex(first.label);
  side_ = named(new QComboBox, tr("Above or below"));
  side_->addItems({tr("covers more than"), tr("covers less than")});
  side_->setCurrentIndex(first.below ? 1 : 0);
  share_ = numberField(tr("Share of the picture"), 0, 100, 100 * first.above.value_or(first.below.value_or(0.1)), 1,
                       QStringLiteral(" %"));
  minutes_ = numberField(tr("Minutes before it rings"), 0.1, 1440, options.minutes, 1, tr(" min"));
  no_frame_ = guarded(form_, tr("No frame for"), options.no_frame_s > 0, {seconds_});
  below_ = guarded(form_, tr("Fewer tokens than"), options.tokens_below.has_value(), {fewest_});
  above_ = guarded(form_, tr("More tokens than"), options.tokens_above.has_value(), {most_});
  area_ = guarded(form_, tr("A class"), area, {class_, side_, share_});
  area_->setEnabled(!classes.isEmpty());
  if (classes.isEmpty()) area_->setToolTip(tr("The model has no classes"));
  form_->addRow(tr("Tokens and areas ring after"), minutes_);
  form_->addRow(wrapped(mutedLabel(tr("Alarms go to the list of events; nothing is ever in the way of the picture."))));
  command_ = named(new QLineEdit(command), tr("Program to run for each event"));
  command_->setPlaceholderText(QStringLiteral("sh /home/me/tell.sh"));
  command_->setToolTip(
      tr("A program and its arguments. The facts are in MPM_EVENT_KIND, _SEVERITY, _MESSAGE, _TIME and _SOURCE, and as "
         "JSON on its standard input."));
  form_->addRow(tr("Run for each event"), command_);
  finish([this] {
    if (below_->isChecked() && above_->isChecked() && fewest_->value() >= most_->value())
      return tr("The fewest tokens must be fewer than the most.");
    try {
      if (!this->command().isEmpty()) monitor::parseCommand(this->command().toStdString());
    } catch (const Error& error) {
      return QString::fromUtf8(error.what());
    }
    return QString();
  });
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->options()); });
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

QString AlarmsDialog::command() const { return command_->text().trimmed(); }

ExportDialog::ExportDialog(const QString& source, double from, double to, QWidget* parent)
    : QDialog(parent), from_(from), to_(to) {
  setWindowTitle(tr("Export"));
  auto* of = wrapped(named(new QLabel(source), tr("Source: %1").arg(source)));
  of->setTextInteractionFlags(Qt::TextSelectableByMouse);
  format_ = named(new QComboBox, tr("Format"));
  format_->addItems({tr("CSV, one row per sample"), tr("CSV in the PhenoCam profile"), tr("JSON Lines"),
                     tr("The chart as a PNG picture")});
  shown_ = new QRadioButton(tr("The stretch of time on show"));
  all_ = new QRadioButton(tr("Everything that is stored of it"));
  all_->setChecked(true);
  auto* form = new QFormLayout;
  form->addRow(tr("Source"), of);
  form->addRow(tr("Format"), format_);
  form->addRow(tr("Samples"), all_);
  form->addRow(QString(), shown_);
  auto* box = buttons(this, QDialogButtonBox::Save);
  box->button(QDialogButtonBox::Save)->setText(tr("Save…"));
  fill(dialogColumn(this), form, box);
  connect(format_, &QComboBox::currentIndexChanged, this, [this] {
    all_->setEnabled(format() != Format::kChartPng);
    shown_->setEnabled(format() != Format::kChartPng);
  });
  connect(this, &QDialog::accepted, this, &ExportDialog::chosen);
}

ExportDialog::Format ExportDialog::format() const { return static_cast<Format>(format_->currentIndex()); }

std::pair<UnixMs, UnixMs> ExportDialog::span() const {
  if (all_->isChecked()) return {0, INT64_MAX};
  return {static_cast<UnixMs>(from_ * 1000), static_cast<UnixMs>(std::ceil(to_ * 1000))};
}

QString ExportDialog::suffix() const { return QStringList{"csv", "csv", "jsonl", "png"}[format_->currentIndex()]; }

KeepDialog::KeepDialog(const KeepOptions& options, const QString& folder, const QString& database, QWidget* parent)
    : SettingsDialog(tr("What is kept"), parent) {
  // `usual`: what is proposed while the box is not checked.
  const auto add = [&](double KeepOptions::*value, const QString& text, const QString& name, double low, double high,
                       double usual, int decimals, const QString& suffix) {
    const bool on = options.*value > 0;
    QDoubleSpinBox* box = numberField(name, low, high, on ? options.*value : usual, decimals, suffix);
    fields_.push_back({value, guarded(form_, text, on, {box}), box});
    return fields_.back().on;
  };
  const auto place = [this](const QString& text) {
    QLabel* label = wrapped(mutedLabel(text));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form_->addRow(label);
  };
  form_->addRow(headingLabel(tr("Pictures")));
  add(&KeepOptions::lapse_minutes, tr("Time-lapse: one picture every"), tr("Minutes between two pictures"), 0.1, 1440,
      15, 1, tr(" min"));
  add(&KeepOptions::picture_days, tr("Forget pictures older than"), tr("Days to keep pictures"), 1, 36500, 90, 0,
      tr(" days"));
  add(&KeepOptions::free_mb, tr("Forget the oldest to leave free"), tr("Free space to leave"), 10, 1e7, 500, 0,
      tr(" MB"));
  place(tr("Pictures are in %1").arg(folder));
  form_->addRow(headingLabel(tr("Samples")));
  auto* days = add(&KeepOptions::sample_days, tr("Forget samples older than"), tr("Days to keep samples"), 1, 36500,
                   365, 0, tr(" days"));
  auto* size = add(&KeepOptions::database_mb, tr("Forget the oldest above"), tr("Largest database"), 10, 1e7, 2000, 0,
                   tr(" MB"));
  place(database.isEmpty() ? tr("Samples are not stored.")
                           : tr("Samples are in %1; the means of hours and days stay.").arg(database));
  for (QCheckBox* box : {days, size}) box->setEnabled(!database.isEmpty());
  finish();
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->options()); });
}

KeepOptions KeepDialog::options() const {
  KeepOptions result;
  for (const Field& field : fields_)
    if (field.on->isChecked()) result.*field.value = field.number->value();
  return result;
}

}  // namespace mpm::gui
