// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/window_look.h"
#include "gui/history_views.h"
#include "gui/picture_views.h"
#include "gui/views/status_line.h"
#include "monitor/watch/camera_config.h"

namespace mpm::gui {

/// What another program stores of a camera, in a window of its own: it reads the database and watches nothing, also
/// while the other program goes on. Of the cameras of a watch file one is on show at a time.
class HistoryWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `cameras`: at least one. `at`: which of them comes first. `pictures`: a folder that may have pictures of them,
  /// too.
  HistoryWindow(const std::vector<monitor::CameraConfig>& cameras, int at, const QString& pictures,
                SettingsWriter* settings);
  ~HistoryWindow() override;

  /// The file on show.
  QString database() const { return history_->history()->database(); }
  /// An export goes on.
  bool running() const { return exports_->running(); }
  /// The legend of a model that runs here: classes of the same name have its colours, also in pictures that are stored.
  void borrowColors(const ClassColors& colors) { picture_->legend()->borrowColors(colors); }
  /// Closes without a question.
  void leave();

 signals:
  /// A person wants to see the window that watches, or all cameras there.
  void mainRequested();
  void allCamerasRequested();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool focusNextPrevChild(bool next) override;

 private:
  ActionRegistry* makeActions();
  PanelDocks* makePanels();
  WindowLook* makeLook(SettingsWriter* settings);
  void makeToolBar();
  void showCamera(int at);
  SaidOfSource said(const QString& source) const;
  void step(int by);
  void refreshTitle();

  const std::vector<monitor::CameraConfig> cameras_;
  PictureStore* const pictures_;
  OnShow* const on_show_;
  ActionRegistry* const actions_;
  PictureViews* const picture_;
  HistoryBrowser* const history_;
  StoredMoments* const stored_;
  HistoryViews* const views_;
  Exports* const exports_;
  StatusLine* const status_;
  PanelDocks* const docks_;
  WindowLook* const look_;
  int at_ = 0;               // of cameras_, on show
  UnixMs listed_until_ = 0;  // the time of the last sample when the pictures were listed
  bool leaving_ = false;
  QTimer tick_;
};

}  // namespace mpm::gui
