// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/camera_control.h"
#include "gui/controllers/camera_dialogs.h"
#include "gui/controllers/exports.h"
#include "gui/controllers/judging.h"
#include "gui/controllers/measure_again.h"
#include "gui/controllers/opener.h"
#include "gui/controllers/stored_moments.h"
#include "gui/controllers/teach_mode.h"
#include "gui/controllers/tuning.h"
#include "gui/controllers/window_look.h"
#include "gui/views/central_pages.h"
#include "gui/views/chart_panel.h"
#include "gui/views/folder_bar.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/status_line.h"

namespace mpm::gui {

/// The window: it makes the parts and connects them, nothing else. Models are its members; controllers know models;
/// views, but for those of one controller, are made by the method that connects them (main_window_views.cpp).
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(const WindowOptions& options, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Closes the window without a question: what stops the program is no person who could answer.
  void leave();
  LiveMonitor& live() { return *live_; }
  Opener& opener() { return *opener_; }

 protected:
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  ActionRegistry* makeActions();
  void makeToolBar();
  PicturesPane* makePictures();
  StatusLine* makeStatusLine();
  ChartPanel* makeChart();
  PanelDocks* makePanels();
  ShownChart shownChart() const;
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
  void openCamera(const monitor::CameraConfig& camera);
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
  LegendModel* const legend_;
  PatchSelection* const selection_;
  PictureStore* const pictures_;
  CameraConfigs* const configs_;
  OnShow* const on_show_;
  const std::unique_ptr<LiveMonitor> live_;

  ActionRegistry* const actions_;
  NetControl* const net_;
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
  ChartPanel* const chart_;
  Exports* const exports_;
  Tuning* const tuning_;
  MeasureAgain* const measure_again_;
  Judging* const judging_;
  CentralPages* const pages_;
  PanelDocks* const docks_;
  WindowLook* const look_;
  TeachMode* teach_ = nullptr;  // made when it is first asked for
  bool leaving_ = false;
};

}  // namespace mpm::gui
