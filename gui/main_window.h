// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/judging.h"
#include "gui/controllers/measuring.h"
#include "gui/controllers/panel_docks.h"
#include "gui/controllers/teach_mode.h"
#include "gui/controllers/tuning.h"
#include "gui/views/pages.h"

namespace mpm::gui {

/// The window: it makes the parts and wires them, nothing else.
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
  void makeActions();
  void makeToolBar();

  void makeCentral();
  void makeDocks();
  void makeControllers(QSettings& stored);
  void wire();

  // How the window looks, between two starts: where it stands, its panels, what pictures and chart show.
  void restoreLook(const QSettings& stored);
  void rememberLook();

  // The Teach mode takes the place of the live view, which goes on behind it.
  TeachMode& teach();
  void setTeaching(bool on);
  void setPanelsAside(bool on);
  void offerWhatFits();
  void showPage();
  void refreshTitle();
  void openDatabase(const QString& path);
  void openCamera(const monitor::CameraConfig& camera);
  void setMode(ViewMode mode);
  void setDark(bool dark);
  void setFontPercent(int percent);
  void setLanguage(const QString& language);
  void log(const QString& text);
  void report(const QString& text, Badge badge);
  void fail(const QString& message) { report(message, Badge::kBad); }

  const WindowOptions options_;
  SettingsWriter settings_;
  int font_percent_ = 100;
  LegendModel legend_;
  PatchSelection selection_;
  PictureStore* pictures_;

  ActionRegistry* actions_;
  HistoryBrowser* history_;
  Opener* opener_;
  WatchRules* rules_;
  PanelDocks* docks_ = nullptr;
  Exports* exports_;
  Tuning* tuning_;
  QStackedWidget* stack_;
  WelcomePage* welcome_;
  CamerasPage* cameras_;
  QWidget* watch_page_;  // the pictures, and the bar of a folder
  PicturesPane* pane_;
  FolderBar* folder_bar_;
  FolderBrowser* folder_;
  QSlider* opacity_;
  SourcePanel* source_;
  ReductionPanel* reduction_;
  LegendPanel* legend_panel_;
  InspectorPanel* inspector_;
  SpeedPanel* speed_;
  ComparePanel* compare_;
  QPlainTextEdit* log_;
  StatusLine* status_;
  Watching* watching_;
  Measuring* measuring_;
  Judging* judging_;
  TeachPane* teach_pane_ = nullptr;
  TeachMode* teach_ = nullptr;
  bool leaving_ = false;
  QByteArray layout_;  // of the live view while the Teach mode or all cameras are on show
  QVariantMap remembered_;
  QTimer remember_;
  std::unique_ptr<LiveMonitor> live_;  // last: its threads end before the rest goes
};

}  // namespace mpm::gui
