// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// Fields of a form. `name`: what screen readers say.
QDoubleSpinBox* numberField(const QString& name, double low, double high, double value, int decimals,
                            const QString& suffix = {});
QSpinBox* wholeField(const QString& name, int low, int high, double value, const QString& suffix = {});
/// A list that may be narrower than its texts.
QComboBox* choiceField(const QString& name, const QStringList& items);
/// A row of fields that count only while its box is checked; the box.
QCheckBox* guarded(QFormLayout* form, const QString& text, bool on, const std::vector<QWidget*>& fields);

}  // namespace mpm::gui
