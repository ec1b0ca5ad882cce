// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// Goes through the pictures of a folder: a button back, a slider that says the name and the time of its picture, a
/// button forward. Hidden while there are none.
class FolderBar : public QWidget {
  Q_OBJECT
 public:
  FolderBar(QAction* previous, QAction* next, QWidget* parent = nullptr);

  void setFiles(const QStringList& files);
  /// Does not emit picked().
  void setCurrent(int index);
  int current() const;

 signals:
  /// The user moved the slider.
  void picked(int index);

 private:
  void refresh();

  QStringList files_;
  QAction *previous_, *next_;
  QSlider* slider_;
  QLabel* label_;
};

}  // namespace mpm::gui
