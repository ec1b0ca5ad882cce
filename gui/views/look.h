// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QIcon>

#include "gui/models/theme.h"

class QDialog;
class QLabel;
class QPushButton;
class QScrollArea;
class QTableView;
class QWidget;

namespace mpm::gui {

/// The theme in force. UI thread only.
const Theme& theme();

/// Gives every widget of the application this theme and a font of `font_percent` of the desktop's.
void applyLook(const Theme& theme, int font_percent);

enum class Glyph {
  kCamera,
  kVideo,
  kFolder,
  kNetwork,
  kPipeline,
  kDemo,
  kPause,
  kImage,
  kMask,
  kOverlay,
  kCurtain,
  kSnapshot,
  kRecord,
  kExport,
  kModel,
  kTheme,
  kHelp,
  kClose,
  kPrevious,
  kNext,
  kCompare,
  kLayout
};
/// Painted, not loaded: sharp at every size, in the text colour of the theme in force.
QIcon icon(Glyph glyph);

/// The name that screen readers say; `widget` itself.
template <typename Widget>
Widget* named(Widget* widget, const QString& name) {
  widget->setAccessibleName(name);
  return widget;
}

/// Names a label whose text changes. Of a label with a name screen readers say the name alone, so setValue() lets the
/// text follow it; `label` itself.
QLabel* namedValue(QLabel* label, const QString& name);
QString valueName(const QLabel* label);
/// The text of a label that namedValue() named.
void setValue(QLabel* label, const QString& text);

QLabel* mutedLabel(const QString& text, QWidget* parent = nullptr);
QLabel* headingLabel(const QString& text, QWidget* parent = nullptr);
/// `content` in an area that scrolls only where there is no room for all of it.
QScrollArea* scrolled(QWidget* content);
/// Gives a dialog `size` (default: its hint) or what its screen and its window have room for.
void fitToWindow(QDialog* dialog, QSize size = {});
/// Rows as high as a line of text and `air` px, whatever the font becomes.
void rowsFollowFont(QTableView* table, int air);
/// "good", "warning", "bad" or "" as the colour of a label whose text says the same.
void setBadge(QLabel* label, const char* kind);

/// The button that does what the dialog is for.
void makePrimary(QPushButton* button);

}  // namespace mpm::gui
