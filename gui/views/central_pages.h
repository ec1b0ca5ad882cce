// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/cameras_page.h"
#include "gui/views/folder_bar.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/teach_pane.h"
#include "gui/views/welcome_page.h"

namespace mpm::gui {

/// The middle of the window, a page at a time: how to begin, all cameras of a watch file, the pictures of a source, and
/// teaching.
class CentralPages : public QStackedWidget {
  Q_OBJECT
 public:
  /// Owns the views from then on. `demo`: the action of that name.
  CentralPages(QAction* demo, PicturesPane* pictures, FolderBar* folder, QWidget* parent = nullptr);

  WelcomePage* welcome() const { return welcome_; }
  CamerasPage* cameras() const { return cameras_; }
  /// Made when it is first asked for: most windows only watch.
  TeachPane* teach();
  bool teaching() const { return teach_ && currentWidget() == teach_; }
  bool allCameras() const { return currentWidget() == cameras_; }

  void showTeach();
  /// The page of what is on show: all cameras, the pictures of `one` source, or how to begin.
  void showSource(bool one);

 private:
  WelcomePage* const welcome_;
  CamerasPage* const cameras_;
  QWidget* const pictures_;  // with the bar of a folder
  TeachPane* teach_ = nullptr;
};

}  // namespace mpm::gui
