// SPDX-License-Identifier: Apache-2.0
#include "gui/views/settings_dialog.h"

#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"

namespace mpm::gui {

SettingsDialog::SettingsDialog(const QString& title, QWidget* parent) : QDialog(parent), content_(new QWidget) {
  setWindowTitle(title);
  form_ = unframed(new QFormLayout(content_));
}

void SettingsDialog::finish(std::function<QString()> refusal, QWidget* beside, const QString& accept) {
  auto* box = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  QPushButton* const ok = box->button(QDialogButtonBox::Ok);
  makePrimary(ok);
  if (!accept.isEmpty()) ok->setText(accept);
  connect(box, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(box, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* why = wrapped(new QLabel);
  setBadge(why, Badge::kWarning);
  QScrollArea* const fields = scrolled(content_);
  // The fields keep their size while the line comes and goes.
  QSizePolicy kept = why->sizePolicy();
  kept.setRetainSizeWhenHidden(true);
  why->setSizePolicy(kept);
  why->setMinimumHeight((beside ? 1 : 2) * why->fontMetrics().lineSpacing() + 4);
  const Filling top = beside ? stretched(fill(new QHBoxLayout, stretched(beside), fields)) : Filling(fields);
  fill(new QVBoxLayout(this), top, why, box)->setContentsMargins(16, 14, 16, 14);
  check_ = [ok, why, refusal = std::move(refusal)] {
    why->setText(refusal ? refusal() : QString());
    why->setVisible(!why->text().isEmpty());
    ok->setEnabled(why->text().isEmpty());
  };
  for (auto* field : findChildren<QDoubleSpinBox*>()) connect(field, &QDoubleSpinBox::valueChanged, this, check_);
  for (auto* field : findChildren<QLineEdit*>()) connect(field, &QLineEdit::textChanged, this, check_);
  for (auto* field : findChildren<QPlainTextEdit*>()) connect(field, &QPlainTextEdit::textChanged, this, check_);
  for (auto* field : findChildren<QComboBox*>()) connect(field, &QComboBox::currentIndexChanged, this, check_);
  for (auto* field : findChildren<QAbstractButton*>()) connect(field, &QAbstractButton::toggled, this, check_);
  check_();
  fitToWindow(this);
}

}  // namespace mpm::gui
