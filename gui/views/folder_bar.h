// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/look.h"
#include "vision/time.h"

namespace mpm::gui {

/// A picture of a folder, and when it was taken; 0: not known.
struct FolderPicture {
  QString file;
  UnixMs time = 0;
};

/// Goes through the pictures of a folder: a button back, a slider that says the name and the time of its picture, a
/// button forward. Hidden while there are none.
class FolderBar : public QWidget {
  Q_OBJECT
 public:
  FolderBar(QAction* previous, QAction* next, QWidget* parent = nullptr);

  void setPictures(std::vector<FolderPicture> pictures);
  const std::vector<FolderPicture>& pictures() const { return pictures_; }
  /// Does not emit picked(). `time`: when that picture was taken, where the caller knows it.
  void setCurrent(int index, UnixMs time = 0);
  int current() const { return slider_->value(); }

 signals:
  /// The user moved the slider.
  void picked(int index);

 private:
  void refresh();

  std::vector<FolderPicture> pictures_;
  QAction *previous_, *next_;
  QSlider* slider_;
  QLabel* label_;
};

}  // namespace mpm::gui
