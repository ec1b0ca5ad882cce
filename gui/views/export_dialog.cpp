// SPDX-License-Identifier: Apache-2.0
#include "gui/views/export_dialog.h"

#include "gui/views/labels.h"

namespace mpm::gui {

ExportDialog::ExportDialog(const QString& source, double from, double to, QWidget* parent)
    : SettingsDialog(tr("Export"), parent), from_(from), to_(to) {
  auto* of = wrapped(named(new QLabel(source), tr("Source: %1").arg(source)));
  of->setTextInteractionFlags(Qt::TextSelectableByMouse);
  format_ = named(new QComboBox, tr("Format"));
  format_->addItems({tr("CSV, one row per sample"), tr("JSON Lines"), tr("The chart as a PNG picture")});
  shown_ = new QRadioButton(tr("The stretch of time on show"));
  all_ = new QRadioButton(tr("Everything that is stored of it"));
  all_->setChecked(true);
  form_->addRow(tr("Source"), of);
  form_->addRow(tr("Format"), format_);
  form_->addRow(tr("Samples"), all_);
  form_->addRow(QString(), shown_);
  connect(format_, &QComboBox::currentIndexChanged, this, [this] {
    for (QRadioButton* button : {all_, shown_}) button->setEnabled(format() != Format::kChartPng);
  });
  finish({}, nullptr, tr("Save…"));
}

std::pair<UnixMs, UnixMs> ExportDialog::span() const {
  if (all_->isChecked()) return {0, INT64_MAX};
  return {static_cast<UnixMs>(from_ * 1000), static_cast<UnixMs>(std::ceil(to_ * 1000))};
}

}  // namespace mpm::gui
