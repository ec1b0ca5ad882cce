// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>
#include "gui/models/theme.h"

namespace mpm::gui {

/// The name that screen readers say; `widget` itself.
template <typename Widget>
Widget* named(Widget* widget, const QString& name) {
  widget->setAccessibleName(name);
  return widget;
}

/// Names a label whose text changes; `label` itself. Screen readers say only the name of a label that has one, so
/// setValue() adds the text to it.
QLabel* namedValue(QLabel* label, const QString& name);

/// The name that namedValue() gave.
QString valueName(const QLabel* label);

/// Changes the text of a label that namedValue() named.
void setValue(QLabel* label, const QString& text);

void setValue(QLabel* label, const QString& text, Badge badge);

/// The same of a label that is seen only while it has a text.
void showValue(QLabel* label, const QString& text);

/// `text` with places where a line may break after its colons, commas and underscores: the spec of a reduction and the
/// name of a file have no space.
QString breakable(QString text);

/// Ends with "…" where there is no space for its text, which its tool tip then says.
QLabel* shortLabel();

QLabel* wrapped(QLabel* label);  ///< `label` itself, which may take several lines

QLabel* muted(QLabel* label);  ///< `label` itself, less important

QLabel* mutedLabel(const QString& text = {});

QLabel* headingLabel(const QString& text = {});

/// The colour of a label whose text says the same.
void setBadge(QLabel* label, Badge badge);

}  // namespace mpm::gui
