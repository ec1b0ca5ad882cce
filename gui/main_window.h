// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/camera_control.h"
#include "gui/controllers/camera_dialogs.h"
#include "gui/controllers/judging.h"
#include "gui/controllers/measure_again.h"
#include "gui/controllers/opener.h"
#include "gui/controllers/recording.h"
#include "gui/controllers/teach_mode.h"
#include "gui/controllers/tuning.h"
#include "gui/controllers/window_look.h"
#include "gui/history_views.h"
#include "gui/history_window.h"
#include "gui/picture_views.h"
#include "gui/views/central_pages.h"
#include "gui/views/folder_bar.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/status_line.h"

namespace mpm::gui {

/// The window that watches: it makes the parts and connects them, nothing else. Models are its members; controllers
/// know models; views, but for those of one controller, are made by the method that connects them
/// (main_window_views.cpp). Databases of other programs open in windows of their own, which close with it.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(const WindowOptions& options);
  ~MainWindow() override;

  /// Closes the window without a question: what stops the program is no person who could answer.
  void leave();
  LiveMonitor& live() { return *live_; }
  Opener& opener() { return *opener_; }
  /// There are only databases of other programs to be seen: this window shows nothing of its own.
  bool showsOnlyOthers() const;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  ActionRegistry* makeActions();
  void addLanguages();
  void makeToolBar();
  PicturesPane* makePictures();
  StatusLine* makeStatusLine();
  SaidOfSource said(const QString& source) const;
  PanelDocks* makePanels();
  std::vector<RememberedPart> rememberedParts() const;
  void connectOpening();
  void connectHistory();
  void connectPages();
  void connectMessages();

  /// The Teach mode takes the place of the live view, which goes on behind it.
  TeachMode& teach();
  void setTeaching(bool on);
  void offerWhatFits();
  void showPage();
  void refreshTitle();
  void showStatus(const monitor::SessionStatus& status);
  void openDatabase(const QString& path);
  void openCamera(int row);
  bool isOwn(const monitor::CameraConfig& camera) const;
  /// In a window of its own, which comes to the front if it is there. One of the cameras first.
  void openWindow(std::vector<monitor::CameraConfig> cameras, int at);
  void bringUp();
  /// Asks for what is under a heading of monitor::cameraFields(), of the source on show.
  void ask(const QString& title, const char* group);
  void askRegions();
  void takeSnapshot();
  void setLanguage(const QString& language);
  void log(const QString& text);
  void report(const QString& text, Badge badge);
  void fail(const QString& message) { report(message, Badge::kBad); }

  const WindowOptions options_;
  SettingsWriter settings_;
  PictureStore* const pictures_;
  CameraConfigs* const configs_;
  OnShow* const on_show_;
  const std::unique_ptr<LiveMonitor> live_;

  ActionRegistry* const actions_;
  NetControl* const net_;
  PictureViews* const picture_;
  PicturesPane* const pane_;
  FolderBar* const folder_bar_;
  QPlainTextEdit* const log_;
  StatusLine* const status_;
  HistoryBrowser* const history_;
  CameraControl* const camera_;
  CameraDialogs* const dialogs_;
  StoredMoments* const stored_;
  Opener* const opener_;
  FolderBrowser* const folder_;
  HistoryViews* const views_;
  Exports* const exports_;
  Recording* const recording_;
  Tuning* const tuning_;
  MeasureAgain* const measure_again_;
  Judging* const judging_;
  CentralPages* const pages_;
  PanelDocks* const docks_;
  WindowLook* const look_;
  TeachMode* teach_ = nullptr;  // made when it is first asked for
  std::vector<QPointer<HistoryWindow>> others_;
  bool leaving_ = false;
};

}  // namespace mpm::gui
