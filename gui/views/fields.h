// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

QToolButton* actionButton(QAction* action);

QPushButton* pushButton(const QString& text, const QString& tip = {});

/// A button that makes `receiver` do something when it is clicked.
template <typename Receiver, typename Act>
QPushButton* pushButton(const QString& text, const QString& tip, Receiver* receiver, Act act) {
  QPushButton* button = pushButton(text, tip);
  QObject::connect(button, &QPushButton::clicked, receiver, std::move(act));
  return button;
}

/// A button that does an action while that can be done.
QPushButton* pushButton(QAction* action, const QString& text, const QString& tip = {});

/// Fields of a form. `name`: what screen readers say.
QDoubleSpinBox* numberField(const QString& name, double low, double high, double value, int decimals,
                            const QString& suffix = {});

QSpinBox* wholeField(const QString& name, int low, int high, double value, const QString& suffix = {});

/// A list that may be narrower than its texts: what it shows then ends with "…", and its tool tip says it.
QComboBox* choiceField(const QString& name, const QStringList& items);

/// A row with a field that counts only while this box is checked; the box itself.
QCheckBox* guarded(QFormLayout* form, QCheckBox* check, bool on, QWidget* field);

}  // namespace mpm::gui
