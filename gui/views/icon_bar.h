// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// The bar at the top of a window with the most used of its actions. It stays there.
class IconBar : public QToolBar {
  Q_OBJECT
 public:
  explicit IconBar(QMainWindow* window);

  void put(QAction* action, Qt::ToolButtonStyle style = Qt::ToolButtonIconOnly);
  /// What follows stands at the right.
  void putSpace();
};

}  // namespace mpm::gui
