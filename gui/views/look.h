// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/theme.h"

namespace mpm::gui {
/// Gives every widget of the application this theme and a font of `font_percent` of the desktop's.
void applyLook(const Theme& theme, int font_percent);

/// assets/icons/NAME.svg, lines of "currentColor" on a field of 24 x 24, in the text colour of the theme and sharp at
/// every size; a null icon where there is none of that name.
QIcon icon(const QString& name);
/// A picture that a chosen row does not tint.
QIcon plainIcon(const QPixmap& picture);
/// The name that screen readers say; `widget` itself.
template <typename Widget>
Widget* named(Widget* widget, const QString& name) {
  widget->setAccessibleName(name);
  return widget;
}

/// Names a label whose text changes; `label` itself. Screen readers say only the name of a label that has one, so
/// setValue() adds the text to it.
QLabel* namedValue(QLabel* label, const QString& name);
/// Changes the text of a label that namedValue() named.
void setValue(QLabel* label, const QString& text);
void setValue(QLabel* label, const QString& text, Badge badge);
/// The same of a label that is seen only while it has a text.
void showValue(QLabel* label, const QString& text);

/// `text` with places where a line may break after its colons and commas: the spec of a reduction has no space.
QString breakable(QString text);
QLabel* shortLabel();            ///< ends with "…" where there is no space for its text
QLabel* wrapped(QLabel* label);  ///< `label` itself, which may take several lines
QLabel* muted(QLabel* label);    ///< `label` itself, less important
QLabel* mutedLabel(const QString& text = {});
QLabel* headingLabel(const QString& text = {});

/// What fill() adds, with its share of the space that the others leave.
struct Filling {
  Filling(QWidget* item) : widget(item) {}
  Filling(QLayout* item) : layout(item) {}

  QWidget* widget = nullptr;
  QLayout* layout = nullptr;  ///< where there is no widget
  int share = 0;
};
inline Filling stretched(Filling item, int share = 1) {
  item.share = share;
  return item;
}
/// Adds widgets, layouts and stretched() ones; `layout` itself.
template <typename... Items>
QBoxLayout* fill(QBoxLayout* layout, Items... items) {
  for (const Filling& item : {Filling(items)...}) {
    if (item.widget)
      layout->addWidget(item.widget, item.share);
    else
      layout->addLayout(item.layout, item.share);
  }
  return layout;
}
/// `layout` itself, without margins.
template <typename Layout>
Layout* unframed(Layout* layout) {
  layout->setContentsMargins(0, 0, 0, 0);
  return layout;
}
/// `layout` itself, without margins and space between its items.
inline QBoxLayout* seamless(QBoxLayout* layout) {
  layout->setSpacing(0);
  return unframed(layout);
}
/// Widgets and layouts below each other, with the margins of a panel.
template <typename... Items>
QBoxLayout* panelColumn(QWidget* panel, Items... items) {
  auto* column = new QVBoxLayout(panel);
  column->setContentsMargins(10, 8, 10, 8);
  column->setSpacing(8);
  fill(column, items...);
  column->addStretch();
  return column;
}
/// Widgets and layouts side by side, to the left.
template <typename... Items>
QBoxLayout* leftRow(Items*... items) {
  QBoxLayout* row = fill(new QHBoxLayout, items...);
  row->addStretch();
  return row;
}

/// A row that goes on below when it is full, so that no window has to be as wide as all of it. Hidden widgets take no
/// space.
QLayout* wrappingRow(int spacing, const QWidgetList& widgets = {});

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
/// A list that may be narrower than its texts.
QComboBox* choiceField(const QString& name, const QStringList& items);
/// A row with a field that counts only while its box is checked; the box.
QCheckBox* guarded(QFormLayout* form, const QString& text, bool on, QWidget* field);

/// `content` in an area as wide as that, up to a limit; it scrolls where there is less space.
QScrollArea* scrolled(QWidget* content);
/// Gives a dialog `size` (default: its hint) or what its screen and its window have space for.
void fitToWindow(QDialog* dialog, QSize size = {});
/// Shows a dialog that deletes itself when it is closed; the window behind it goes on.
void openDialog(QDialog* dialog);
/// A table without a grid and row numbers, whose columns and rows follow the font: a row is a line of text and `air`
/// px.
void makePlain(QTableView* table, int air);
/// Such a table with these titles, which nobody writes into. Its first column takes what the others leave.
QTableWidget* plainTable(const QString& name, const QStringList& titles, int air);
/// The texts of a row; those from column `numbers` on stand to the right.
void setRow(QTableWidget* table, int row, const QStringList& texts, int numbers);
/// The colour of a label whose text says the same.
void setBadge(QLabel* label, Badge badge);

/// The button that does what the dialog is for.
void makePrimary(QPushButton* button);
/// A line around a widget that paints itself, while it has the focus.
void paintFocus(QPainter& painter, const QWidget* widget);

}  // namespace mpm::gui
