// SPDX-License-Identifier: Apache-2.0
#include "gui/views/fields.h"

#include "gui/views/look.h"

namespace mpm::gui {

QDoubleSpinBox* numberField(const QString& name, double low, double high, double value, int decimals,
                            const QString& suffix) {
  auto* box = named(new QDoubleSpinBox, name);
  box->setDecimals(decimals);
  box->setRange(low, high);
  box->setValue(value);
  box->setSuffix(suffix);
  return box;
}

QSpinBox* wholeField(const QString& name, int low, int high, double value, const QString& suffix) {
  auto* box = named(new QSpinBox, name);
  box->setRange(low, high);
  box->setValue(static_cast<int>(value));
  box->setSuffix(suffix);
  return box;
}

QComboBox* choiceField(const QString& name, const QStringList& items) {
  auto* box = named(new QComboBox, name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(8);
  box->addItems(items);
  return box;
}

QCheckBox* guarded(QFormLayout* form, const QString& text, bool on, const std::vector<QWidget*>& fields) {
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

}  // namespace mpm::gui
