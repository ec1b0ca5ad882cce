// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/action_registry.h"
#include "gui/controllers/exports.h"
#include "gui/controllers/folder_browser.h"
#include "gui/controllers/history_browser.h"
#include "gui/controllers/opener.h"
#include "gui/controllers/watch_rules.h"
#include "gui/views/frame_panels.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/reduction_panels.h"
#include "gui/views/source_panel.h"

namespace mpm::gui {

/// Choices of the command line.
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

/// Watches a source: opens and closes it, and shows its frames, or a stored picture, with what the model makes of them.
class Watching : public QObject {
  Q_OBJECT
 public:
  /// The models, views and controllers that it works with. The other controllers know the same session.
  struct Parts {
    LiveMonitor* live;
    WatchRules* rules;
    Opener* opener;
    FolderBrowser* folder;
    Exports* exports;
    HistoryBrowser* history;
    PictureStore* pictures;
    LegendModel* legend;
    PatchSelection* selection;
    const ActionRegistry* actions;
    PicturesPane* pane;
    SourcePanel* source;
    ReductionPanel* reduction;
    LegendPanel* legend_panel;
    SpeedPanel* speed;
    ComparePanel* compare;
    StatusLine* status;
  };

  Watching(const WindowOptions& options, const Parts& parts, QObject* parent);
  const Parts& parts() const { return parts_; }

  /// Opens what vision::openSource() understands, or gst:PIPELINE.
  void open(const QString& asked);
  void openAgain();
  /// Opens the archive again and measures all its pictures, into a series of their own.
  void measureAgain();
  void close();
  /// The source that open() was asked for last.
  const QString& asked() const { return asked_; }
  /// A source is open, or a stored picture is on show.
  bool active() const { return frozen_ || session().isOpen(); }
  /// The source of the picture on show; empty: none.
  QString source() const { return frozen_ ? frozen_->source : parts_.live->source(); }
  const LiveFramePtr& frame() const { return parts_.pane->image()->frame(); }  ///< on show; null: none
  /// A source has given a frame.
  bool hasFrame() const { return live_frame_ != nullptr; }

  void openModel(const QString& path, const std::optional<Reduction>& variant);
  const std::shared_ptr<const ModelInfo>& model() const { return model_; }  ///< null: none has run yet
  QString modelPath() const { return QFileInfo(parts_.live->model()).absoluteFilePath(); }
  const EstimatorOptions& inference() const { return options_.inference; }

  /// A person chose it: of the live picture.
  void chooseReduction(const Reduction& variant);
  void setPaused(bool on);
  /// Shows what has changed; also twice a second.
  void tick();
  void setSharpEdges(bool on);
  void takeSnapshot();
  void backToLive();
  void askRegions();
  /// Asks for what is under a heading of monitor::watchFields(), of the source on show.
  void ask(const QString& title, const char* group);
  /// All that is said of the source that is watched.
  monitor::Watch watch() const;
  /// Writes watch() into the file of the source, and copies the command that takes it.
  void copyCommandLine();

 signals:
  /// active() may have changed, or the source.
  void pageChanged();
  /// Null: none.
  void frameShown(const mpm::gui::LiveFramePtr& frame);
  void modelChanged();
  void regionsChanged();
  /// hasFrame() changed.
  void liveChanged(bool live);
  void said(const QString& text, mpm::gui::Badge badge);
  void logged(const QString& text);

 private:
  void begin(const QString& asked, bool again);
  void endPause(bool open) const;
  void forgetFrame();
  void clearFrame();
  QString storedText(const QString& when) const;
  void compareWith(const std::optional<Reduction>& variant);
  void takeModel(const std::shared_ptr<const ModelInfo>& model);
  void remember();
  void takeFrame(const LiveFramePtr& frame);
  void takeState(const monitor::CaptureStatus& status);
  void takeEvent(const monitor::Event& event);
  void showFrame(const LiveFramePtr& frame);
  void lookForStored(double time);
  // What is said about the privacy of the stored pictures of the source of the chart, and what they must not show.
  monitor::PrivacyChoice saidOfStored() const;
  monitor::PrivacyOptions hiddenInStored() const;
  void showStored(const StoredSample& sample, const QString& banner);
  void showSample(const StoredSample& sample);
  void loadLastPicture();
  void showAreas();
  void refreshRegions();
  void keepByRules();
  void sayWhenItShows(const QString& change);
  monitor::OverlayStyle overlayStyle() const;
  monitor::Session& session() const { return parts_.live->session(); }

  WindowOptions options_;
  const std::optional<Refine> refine_at_start_;
  const Parts parts_;
  QString asked_, opened_;  // a demo is opened at a moment of its own
  std::shared_ptr<const ModelInfo> model_;
  LiveFramePtr live_frame_;
  std::optional<StoredSample> frozen_;  // the stored picture on show
  bool wanted_ = false;                 // a stored picture, and nothing else since
  SourceNames foreign_;                 // of another program's database
  bool end_reported_ = false;           // of the source, how many of its pictures are stored
};

}  // namespace mpm::gui
