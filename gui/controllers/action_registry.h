// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// The actions of a window, each once: menus, keys and the list behind `?` are made from it.
class ActionRegistry : public QObject {
  Q_OBJECT
 public:
  /// A menu without actions is not shown.
  enum class Menu { kFile, kView, kWatch, kPanels, kHelp };

  explicit ActionRegistry(QMainWindow* window);

  /// `menu`: where it stands. `key` is never empty: every action has one. The icon is that of its id, where there is
  /// one; of an id that begins with next_ or previous_ that of this word.
  QAction* add(Menu menu, const QString& id, const QString& text, const QKeySequence& key, std::function<void()> run);
  QAction* addToggle(Menu menu, const QString& id, const QString& text, const QKeySequence& key, bool on,
                     std::function<void(bool)> run);
  /// The next action gets a line above it.
  void separate() { separate_ = true; }

  QAction* action(const QString& id) const { return findChild<QAction*>(id); }
  /// As a person reads it.
  QString keyOf(const QString& id) const { return action(id)->shortcut().toString(QKeySequence::NativeText); }
  /// Enables an action; with `reason`, which its tool tip then says, disables it.
  void setPossible(const QString& id, const QString& reason) const;
  /// The list of keys; deletes itself when closed.
  QDialog* showHelp(QWidget* parent) const;
  /// The name, the version and what the program was built with.
  static void showAbout(QWidget* parent);

 private:
  QAction* enter(Menu menu, const QString& id, const QString& text, const QKeySequence& key);

  QMainWindow* const window_;
  std::vector<QMenu*> menus_;  // by Menu
  bool separate_ = false;
};

}  // namespace mpm::gui
