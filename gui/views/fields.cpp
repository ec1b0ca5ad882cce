// SPDX-License-Identifier: Apache-2.0
#include "gui/views/fields.h"

#include <QComboBox>
#include <QDoubleSpinBox>

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

}  // namespace mpm::gui
