// SPDX-License-Identifier: Apache-2.0
#include "gui/views/settings_dialogs.h"

#include "gui/views/look.h"

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
  form_ = unframed(new QFormLayout(content_));
}

void SettingsDialog::finish(std::function<QString()> refusal, QWidget* beside) {
  auto* box = buttons(this, QDialogButtonBox::Ok);
  auto* why = wrapped(new QLabel);
  setBadge(why, Badge::kWarning);
  QScrollArea* const fields = scrolled(content_);
  // The fields keep their size while the line comes and goes.
  QSizePolicy kept = why->sizePolicy();
  kept.setRetainSizeWhenHidden(true);
  why->setSizePolicy(kept);
  why->setMinimumHeight((beside ? 1 : 2) * why->fontMetrics().lineSpacing() + 4);
  if (beside) {
    fill(dialogColumn(this), stretched(fill(new QHBoxLayout, stretched(beside), fields)), why, box);
  } else {
    fill(dialogColumn(this), fields, why, box);
  }
  check_ = [box, why, refusal = std::move(refusal)] {
    why->setText(refusal ? refusal() : QString());
    why->setVisible(!why->text().isEmpty());
    box->button(QDialogButtonBox::Ok)->setEnabled(why->text().isEmpty());
  };
  for (auto* field : findChildren<QDoubleSpinBox*>()) connect(field, &QDoubleSpinBox::valueChanged, this, check_);
  for (auto* field : findChildren<QLineEdit*>()) connect(field, &QLineEdit::textChanged, this, check_);
  for (auto* field : findChildren<QPlainTextEdit*>()) connect(field, &QPlainTextEdit::textChanged, this, check_);
  for (auto* field : findChildren<QComboBox*>()) connect(field, &QComboBox::currentIndexChanged, this, check_);
  for (auto* field : findChildren<QAbstractButton*>()) connect(field, &QAbstractButton::toggled, this, check_);
  check_();
  fitToWindow(this);
}

ExportDialog::ExportDialog(const QString& source, double from, double to, QWidget* parent)
    : QDialog(parent), from_(from), to_(to) {
  setWindowTitle(tr("Export"));
  auto* of = wrapped(named(new QLabel(source), tr("Source: %1").arg(source)));
  of->setTextInteractionFlags(Qt::TextSelectableByMouse);
  format_ = named(new QComboBox, tr("Format"));
  format_->addItems({tr("CSV, one row per sample"), tr("JSON Lines"), tr("The chart as a PNG picture")});
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

std::pair<UnixMs, UnixMs> ExportDialog::span() const {
  if (all_->isChecked()) return {0, INT64_MAX};
  return {static_cast<UnixMs>(from_ * 1000), static_cast<UnixMs>(std::ceil(to_ * 1000))};
}

QString ExportDialog::suffix() const { return QStringList{"csv", "jsonl", "png"}[format_->currentIndex()]; }

}  // namespace mpm::gui
