// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/action_registry.h"
#include "gui/controllers/exports.h"
#include "gui/controllers/folder_browser.h"
#include "gui/controllers/history_browser.h"
#include "gui/controllers/opener.h"
#include "gui/controllers/watch_rules.h"
#include "gui/models/on_show.h"
#include "gui/views/frame_panels.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/reduction_panels.h"
#include "gui/views/source_panel.h"

namespace mpm::gui {

/// Choices of the command line.
struct WindowOptions {
  QString model;               ///< empty: the default model
  EstimatorOptions inference;  ///< of that model, and but for the reduction of every one that is opened later,
                               ///< other than of cameras of a watch file
  bool choose_reuse = false;   ///< as in monitor::InferenceWorker
  QString database;            ///< empty: nothing is stored
  QString pictures;            ///< folder of snapshots
  QString settings;            ///< an .ini file instead of the user's settings
  /// Gives what opens a source instead of vision::openSource(); empty, or giving an empty one: nothing. For tests.
  std::function<monitor::SourceFactory(const vision::SourceSpec& source)> factory{};
  bool teach_live = true;  ///< train after each stroke. For tests
  int teach_steps = 0;     ///< of training; 0: the usual number. For tests
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
  const OnShow& onShow() const { return on_show_; }
  /// The source that is watched, as open() was asked for it; empty: none.
  QString asked() const { return on_show_.live() ? on_show_.live()->asked : QString(); }
  /// A source is open, or a stored picture is on show.
  bool active() const { return !std::holds_alternative<Nothing>(on_show_.shown()); }
  /// The source of the picture on show; empty: none.
  QString source() const { return on_show_.source(); }
  const LiveFramePtr& frame() const { return parts_.pane->image()->frame(); }  ///< on show; null: none
  /// A source has given a frame.
  bool hasFrame() const { return liveFrame() != nullptr; }

  void openModel(const QString& path, const std::optional<Reduction>& variant);
  const std::shared_ptr<const ModelInfo>& model() const { return model_; }  ///< null: none has run yet
  QString modelPath() const { return QFileInfo(parts_.live->model()).absoluteFilePath(); }
  /// How its net runs.
  const EstimatorOptions& inference() const { return inference_; }

  /// A person chose it: of the live picture.
  void chooseReduction(const Reduction& variant);
  void setPaused(bool on);
  /// Shows what has changed; also twice a second.
  void tick();
  void setSharpEdges(bool on);
  void takeSnapshot();
  void backToLive();
  void askRegions();
  /// Asks for what is under a heading of monitor::cameraFields(), of the source on show.
  void ask(const QString& title, const char* group);
  /// All that is said of the source that is watched.
  monitor::CameraConfig watch() const;
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
  void takeNetOf(const QString& source);
  void endPause(bool open) const;
  void clearFrame();
  LiveFramePtr liveFrame() const;  // the last one of the source that is watched; null: none
  QString opened() const { return on_show_.live() ? on_show_.live()->opened : QString(); }
  QString storedText(const QString& when) const;
  void compareWith(const std::optional<Reduction>& variant);
  void takeModel(const std::shared_ptr<const ModelInfo>& model);
  void remember();
  void takeFrame(const LiveFramePtr& frame);
  void takeState(const monitor::CaptureStatus& status);
  void takeEvent(const monitor::Event& event, bool late);
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

  const WindowOptions options_;
  const Parts parts_;
  EstimatorOptions inference_;  // of the model that runs, but for its reduction
  bool choose_reuse_;
  bool net_of_file_ = false;  // these two are those of a watch file
  std::shared_ptr<const ModelInfo> model_;
  OnShow on_show_;
};

}  // namespace mpm::gui
