// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>
#include "gui/models/theme.h"

namespace mpm::gui {

/// Gives every widget of the application this theme and a font of `font_percent` of the desktop's.
void applyLook(const Theme& theme, int font_percent);
/// The percent of the last applyLook().
int lookPercent();

/// assets/icons/NAME.svg, lines of "currentColor" on a field of 24 x 24, in the text colour of the theme and sharp at
/// every size; a null icon where there is none of that name.
QIcon icon(const QString& name);

/// A picture that a chosen row does not tint.
QIcon plainIcon(const QPixmap& picture);

/// Gives a dialog `size` (default: its hint) or what its screen and its window have space for.
void fitToWindow(QDialog* dialog, QSize size = {});

/// Shows a dialog that deletes itself when it is closed; the window behind it goes on.
void openDialog(QDialog* dialog);

/// Sets a property that the style sheet looks at.
void mark(QWidget* widget, const char* property, const QVariant& value);

/// The button that does what the dialog is for.
void makePrimary(QPushButton* button);

/// A line around a widget that paints itself, while it has the focus.
void paintFocus(QPainter& painter, const QWidget* widget);

}  // namespace mpm::gui
