// SPDX-License-Identifier: Apache-2.0
#include "gui/views/icon_bar.h"

namespace mpm::gui {

IconBar::IconBar(QMainWindow* window) : QToolBar(tr("Tools"), window) {
  setObjectName(QStringLiteral("tools"));
  setMovable(false);
  setIconSize(QSize(18, 18));
  setContextMenuPolicy(Qt::PreventContextMenu);
  window->addToolBar(this);
}

void IconBar::put(QAction* action, Qt::ToolButtonStyle style) {
  addAction(action);
  auto* button = static_cast<QToolButton*>(widgetForAction(action));
  button->setToolButtonStyle(style);
  button->setFocusPolicy(Qt::TabFocus);
  button->setAccessibleName(action->text().remove(QLatin1Char('&')));
}

void IconBar::putSpace() {
  auto* space = new QWidget(this);
  space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  addWidget(space);
}

}  // namespace mpm::gui
