// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "charts/chart.h"

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

  /// `clock`: by which their times are shown.
  void setPictures(std::vector<FolderPicture> pictures, const charts::OptionalClock& clock = {});
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
  charts::OptionalClock clock_{};
  QAction* const previous_;
  QAction* const next_;
  QSlider* const slider_;
  QLabel* const label_;
};

}  // namespace mpm::gui
