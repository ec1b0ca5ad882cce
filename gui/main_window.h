// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>
#include <memory>
#include <optional>

#include "gui/controllers/history_view.h"
#include "gui/controllers/live_monitor.h"
#include "gui/models/legend_model.h"
#include "gui/models/patch_selection.h"
#include "gui/models/picture_store.h"
#include "gui/models/settings_writer.h"
#include "gui/models/theme.h"
#include "gui/models/watch_settings.h"
#include "gui/views/settings_dialogs.h"

namespace mpm::gui {

class ActionRegistry;
class ComparePanel;
class Exports;
class FolderBar;
class FolderView;
class ImageView;
class InspectorPanel;
class LegendPanel;
class MergeView;
class Opener;
class PanelDocks;
class PicturesPane;
class ReductionPanel;
class SourcePanel;
class SpeedPanel;
class StatusLine;
class Tuning;
class TeachMode;
class TeachPane;
class WatchRules;
class WelcomePage;
class WindowMemory;

/// What the command line decided.
struct WindowOptions {
  QString model;                     ///< empty: the default model
  EstimatorOptions inference;        ///< of that model, and but for the reduction of every one that is opened later
  bool choose_reuse = false;         ///< as in monitor::InferenceWorker
  QString database;                  ///< empty: nothing is stored
  QString pictures;                  ///< folder of snapshots
  QString settings;                  ///< an .ini file instead of the user's settings
  monitor::SourceFactory factory{};  ///< instead of every source's own; for tests
  bool teach_live = true;            ///< train after each stroke. For tests
  int teach_steps = 0;               ///< of training; 0: the usual number. For tests
};

/// The window: it makes the parts and wires them, nothing else.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(const WindowOptions& options, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Opens what vision::openSource() understands, or gst:PIPELINE.
  void openSource(const QString& asked);
  void closeSource();
  /// Closes the window without a question: what stops the program is no person who could answer.
  void leave();
  /// A source, a model, or a database, by what it is; also as file:///.
  void openDropped(const QString& asked);
  /// The same, from the command line: a source goes on with the model that it was watched with last.
  void openNamed(const QString& asked);
  /// What was watched last; asks for its password if it has one.
  void resumeLast();
  /// The history of another program's database, read-only, while that goes on.
  void openDatabase(const QString& path);
  /// The Teach mode takes the place of the live view, which goes on behind it.
  void setTeaching(bool on);

  // The parts that are no QObject below the window, for tests.
  LiveMonitor& live() { return *live_; }
  ActionRegistry& actions() { return *actions_; }
  LegendModel& legend() { return legend_; }
  PatchSelection& selection() { return selection_; }
  EventsModel& events() { return history_view_.events(); }
  PictureStore& pictures() { return *pictures_; }
  History& history() { return history_view_.history(); }
  TeachMode& teach();
  const QVector<QDockWidget*>& docks() const;
  void exportSamples(ExportDialog::Format format, UnixMs from, UnixMs to, const QString& path);
  QString commandLine() const;
  void restoreDefaultLayout();
  void setDark(bool dark);
  void setFontPercent(int percent);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  // What a person can do: main_window_actions.cpp.
  void makeActions();
  void makeToolBar();

  void makeCentral();
  void makeDocks();
  // Connections between the parts: main_window_wiring.cpp.
  void wireOpening();
  void wirePictures();
  void wireWatching();
  void wireHistory();

  // main_window_teach.cpp.
  void offerWhatFits(const ModelInfo& model);
  void giveModelToTeach();
  void giveFolderToTeach();
  void giveStatesToTeach();
  void takeToTeach();
  void suggestToTeach();
  void useTaughtModel(const QString& path);
  void noteTaughtModel();

  void takeFrame(const LiveFramePtr& frame);
  void remember();
  void takeModel(const std::shared_ptr<const ModelInfo>& model);
  void takeState(const monitor::CaptureStatus& status);
  void takeEvent(const monitor::Event& event);
  void tick();
  void showFrame(const LiveFramePtr& frame);
  void takeSnapshot();
  void showStored(double time);
  void backToLive();
  void forgetFrame();
  void setPaused(bool on);
  void endPause(bool open);
  void refreshTitle();
  QString sourceOnShow() const;  ///< of the picture; empty: none
  void askRegions();
  void refreshRegions();
  void setRecording(bool recording);
  monitor::OverlayStyle overlayStyle() const;
  void openModel(const QString& path, const std::optional<Reduction>& variant);
  void chooseReduction(const Reduction& variant);
  void showNotice(const QString& text, Badge badge = Badge::kNone);
  void sayWhenItShows(const QString& change);
  void log(const QString& text);
  void fail(const QString& message);
  void setLanguage(const QString& language);
  void copyCommandLine();

  WindowOptions options_;
  const std::optional<Refine> refine_at_start_;
  SettingsWriter settings_;
  int font_percent_ = 100;
  LegendModel legend_;
  PatchSelection selection_;
  HistoryView history_view_;
  std::unique_ptr<PictureStore> pictures_;

  ActionRegistry* actions_;
  Opener* opener_;
  WatchRules* rules_;
  PanelDocks* docks_ = nullptr;
  Exports* exports_;
  Tuning* tuning_;
  QStackedWidget* stack_;
  WelcomePage* welcome_;
  QWidget* watch_page_;  // the pictures, and the bar of a folder
  PicturesPane* pane_;
  FolderBar* folder_bar_;
  FolderView* folder_;
  QSlider* opacity_;
  SourcePanel* source_;
  ReductionPanel* reduction_;
  LegendPanel* legend_panel_;
  InspectorPanel* inspector_;
  SpeedPanel* speed_;
  ComparePanel* compare_;
  QPlainTextEdit* log_;
  StatusLine* status_;

  QString asked_;  // what vision::openSource() was asked for
  std::shared_ptr<const ModelInfo> model_;
  LiveFramePtr live_frame_;
  bool frozen_ = false;  // a stored picture is on show
  bool leaving_ = false;
  TeachPane* teach_pane_ = nullptr;
  TeachMode* teach_ = nullptr;
  QByteArray layout_;                    // of the live view while the Teach mode is on show
  QString model_before_, model_wanted_;  // by "Use it": what ran until then; what does not run yet
  std::unique_ptr<WindowMemory> memory_;
  std::unique_ptr<LiveMonitor> live_;  // last: its threads end before the rest goes
};

}  // namespace mpm::gui
