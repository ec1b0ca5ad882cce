// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/action_registry.h"

namespace mpm::gui {

/// The panels around the pictures and where they stand at first. Each has a key.
class PanelDocks : public QObject {
  Q_OBJECT
 public:
  /// A dock and its content, which it owns from then on. By `id` stored layouts know it.
  struct Panel {
    const char* id;
    QString title;
    QWidget* content;
    Qt::DockWidgetArea area;
  };

  PanelDocks(const std::vector<Panel>& panels, QMainWindow* window, ActionRegistry* actions);
  ~PanelDocks() override { qDeleteAll(docks_); }  ///< and the panels

  const QVector<QDockWidget*>& docks() const { return docks_; }
  /// Shows this panel in front of those that share its place; on a small screen instead of any other.
  void raise(const QString& id);
  /// Does `step`, which moves the focus by one widget, until that is one that can be seen: none of a panel that stands
  /// behind another one. False: it cannot be moved.
  bool moveFocus(const std::function<bool()>& step) const;
  /// Every panel where it stood at first; on a small screen none is shown.
  void restore();
  /// The window has another size: between a large and a small one the panels change to those that it had at that size.
  void fit();
  /// Where the panels stand in a large and in a small window, as QMainWindow::saveState(); empty: as at first.
  struct Layouts {
    QByteArray large, small;
  };
  Layouts layouts() const;
  void setLayouts(const Layouts& layouts);

 private:
  void add(const Panel& panel);
  void bringOrHide(QDockWidget* dock);
  void hideOrShowAll();
  void showTitles();
  bool roomy() const { return window_->width() >= 1000 && window_->height() >= 600; }

  QMainWindow* const window_;
  ActionRegistry* const actions_;
  QVector<QDockWidget*> docks_;
  std::map<Qt::DockWidgetArea, QVector<QDockWidget*>> areas_;  // where each stands at first
  bool large_ = true;                                          // the layout on show is that of a large window
  QByteArray other_;                                           // that of a window of the other size
  QString last_;                                               // raised; shown where there is space for one only
};

}  // namespace mpm::gui
