// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QMainWindow>
#include <memory>

#include "live_monitor.h"
#include "models/events_model.h"
#include "models/history.h"
#include "models/legend_model.h"
#include "models/patch_selection.h"
#include "models/picture_store.h"
#include "models/recents.h"
#include "models/settings_writer.h"
#include "views/settings_dialogs.h"

class QDockWidget;
class QPlainTextEdit;
class QSlider;
class QStackedWidget;

namespace mpm {

class ActionRegistry;
class ChartPanel;
class ComparePanel;
class DayNightPanel;
class EventsPanel;
class ImageView;
class InspectorPanel;
class LegendPanel;
class MergeView;
class PanelDocks;
class PicturesPane;
class SchedulePanel;
class SourceDialog;
class SourcePanel;
class SpeedPanel;
class StatusLine;
class WatchRules;
class WelcomePage;

/// What the command line decided.
struct WindowOptions {
  QString model;                     ///< empty: the default model
  SegmenterOptions inference;        ///< of that model, and but for the schedule of every one that is opened later
  QString database;                  ///< empty: nothing is stored
  QString pictures;                  ///< folder of snapshots
  QString settings;                  ///< an .ini file instead of the user's settings
  monitor::SourceFactory factory{};  ///< instead of every source's own; for tests
};

/// The window: it makes the parts and wires them, nothing else.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(const WindowOptions& options, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Opens what openSource() understands, or gst:PIPELINE.
  void openSource(const QString& asked);
  void closeSource();
  /// A source, a model, or a database, by what it is; also as file:///.
  void openDropped(const QString& asked);
  /// What was watched last; asks for its password if it has one.
  void resumeLast();
  /// The history of another program's database, read-only, while that goes on. Empty: asks which.
  void openDatabase(const QString& path);

  // The parts, for tests.
  LiveMonitor& live() { return *live_; }
  ActionRegistry& actions() { return *actions_; }
  ImageView* imageView() const;
  MergeView* mergeView() const;
  LegendModel& legend() { return legend_; }
  PatchSelection& selection() { return selection_; }
  SchedulePanel* schedulePanel() const { return schedule_; }
  InspectorPanel* inspector() const { return inspector_; }
  ChartPanel* chartPanel() const { return chart_; }
  DayNightPanel* dayNightPanel() const { return day_night_; }
  SpeedPanel* speedPanel() const { return speed_; }
  ComparePanel* comparePanel() const { return compare_; }
  WelcomePage* welcomePage() const { return welcome_; }
  EventsPanel* eventsPanel() const { return events_panel_; }
  LegendPanel* legendPanel() const { return legend_panel_; }
  const monitor::NightRule& nightRule() const;
  const monitor::AlarmOptions& alarms() const;
  const KeepOptions& keepOptions() const;
  EventsModel& events() { return events_; }
  PictureStore& pictures() { return *pictures_; }
  History& history() { return history_; }
  QSlider* opacitySlider() const { return opacity_; }
  QString tokensText() const;
  QString stateText() const;
  QString ageText() const;
  QString noticeText() const;
  QString storageText() const;
  QString recordText() const;
  QString logText() const;
  bool showsWelcome() const;
  const QVector<QDockWidget*>& docks() const;
  void exportSamples(ExportDialog::Format format, monitor::UnixMs from, monitor::UnixMs to, const QString& path);
  QString commandLine() const;
  void restoreDefaultLayout();
  void setDark(bool dark);
  void setFontPercent(int percent);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void makeActions();
  void makeToolBar();
  void makeCentral();
  void makeDocks();
  void wire();

  void takeFrame(const LiveFramePtr& frame);
  void takeModel(const std::shared_ptr<const ModelInfo>& model);
  void takeState(const monitor::CaptureStatus& status);
  void tick();
  void showFrame(const LiveFramePtr& frame);
  void showStored(double time);
  void backToLive();
  void snapshot();
  void setRecording(bool recording);
  PictureFacts pictureFacts() const;
  std::int64_t leftOut() const;
  void changeModel();
  void openModel(const QString& path, const std::optional<Schedule>& schedule = std::nullopt);
  void askForSource(SourceKind kind);
  void showNotice(const QString& text, const char* badge = "");
  void sayWhenItShows(const QString& change);
  void log(const QString& text);
  void refreshHistory();
  void refreshCharts();
  void showPictureMarks();
  void openRecent(const Recent& recent);
  void openRemembered(const Recent& recent, bool take_model, bool take_schedule);
  void remember();
  QString watched() const;
  void askExport();
  void setLanguage(const QString& language);
  LiveOptions liveOptions(const QString& source) const;
  void copyCommandLine();

  WindowOptions options_;
  SettingsWriter settings_;
  QVector<Recent> recents_;
  int font_percent_ = 100;
  LegendModel legend_;
  EventsModel events_;
  PatchSelection selection_;
  History history_;
  std::unique_ptr<PictureStore> pictures_;

  ActionRegistry* actions_;
  QStackedWidget* stack_;
  WelcomePage* welcome_;
  PicturesPane* pane_;
  QSlider* opacity_;
  SourcePanel* source_;
  SchedulePanel* schedule_;
  LegendPanel* legend_panel_;
  InspectorPanel* inspector_;
  SpeedPanel* speed_;
  DayNightPanel* day_night_;
  ComparePanel* compare_;
  ChartPanel* chart_;
  EventsPanel* events_panel_;
  QPlainTextEdit* log_;
  PanelDocks* docks_;
  WatchRules* rules_;
  StatusLine* status_;

  std::shared_ptr<const ModelInfo> model_;
  LiveFramePtr live_frame_;
  bool frozen_ = false;  // a stored picture is on show
  bool recording_ = false;
  int recorded_ = 0, refused_ = 0;  // pictures of the recording: written, and too many at a time
  std::int64_t stale_before_ = 0;   // LiveMonitor::stale() when it began
  bool said_left_out_ = false;
  qint64 last_lapse_ = 0;
  std::int64_t next_chart_ = 0, next_statistics_ = 0;  // steady ms
  bool foreign_database_ = false;
  std::unique_ptr<LiveMonitor> live_;  // last: its threads end before the rest goes
};

}  // namespace mpm
