// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

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

/// `content` in an area as wide as that, up to a limit; it scrolls where there is less space. `bar`: the name of its
/// scroll bar, which takes the focus then; empty: it takes none, as a dialog begins with its first field.
QScrollArea* scrolled(QWidget* content, const QString& bar = {});

}  // namespace mpm::gui
