// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/watching.h"
#include "gui/models/picture_analysis.h"
#include "gui/views/teach_pane.h"

namespace mpm::gui {

/// The Teach mode: the pictures of a folder of labels, drawn on in a TeachPane, and the models that are trained on
/// them. The model that is watched with is their start: its clusters are filled, and its encoder is trained on.
class TeachMode : public QObject {
  Q_OBJECT
 public:
  TeachMode(const WindowOptions& options, Watching* watching, SettingsWriter* settings, TeachPane* pane,
            QObject* parent);
  ~TeachMode() override;

  /// The picture on show is to be labelled, by the name of its file or by its time. False: there is none.
  bool take();
  /// Lets go of the trainer, which holds much memory.
  void rest();
  /// A model is being made.
  bool training() const { return run_ != nullptr; }

  // For tests.
  const LabelState& state() const { return state_; }
  const QString& shown() const { return shown_; }
  LabelEditor* editor();

 signals:
  void said(const QString& text, mpm::gui::Badge badge);
  /// A model or states of this mode are in use from now on.
  void taught();

 private:
  void wireWatching();
  void wirePane();
  void wireStore();
  void wireStates();
  void takeModel();
  void takeRegions();
  void takeState(const LabelState& state);
  void show(const QString& name);
  void load(const QString& name);
  void changeLabels(const std::function<void(vision::LabelFolder&)>& change, const std::function<void()>& then = {});
  void showLoaded(const QString& name, const cv::Mat& image, const cv::Mat& labels);
  void showClasses(const vision::ClassList& list);
  void showPrediction();
  void removeClass(const QString& picture, int label);
  void copyLabels(const QString& from, const cv::Mat& image, const cv::Mat& labels);
  void keepStroke();
  void changeClasses(const std::function<void(std::vector<ClassInfo>&)>& change);
  void addModelClasses();
  void suggest();
  void use(const QString& model);
  void useStates(const std::shared_ptr<const evaluation::StateHead>& head, bool use);
  void askTrainer();
  void endComparing();
  void train();
  void fail(const QString& message) { emit said(message, Badge::kBad); }
  TrainerJob job() const;

  const WindowOptions options_;
  Watching* watching_;
  SettingsWriter* settings_;
  TeachPane* pane_;
  LabelState state_;
  std::map<QString, LabelEditor> editors_;  // of the pictures that were on show, so that each can be undone
  QString shown_, wanted_;                  // picture on show; asked for, and not loaded yet
  int loads_ = 0;                           // the number of the last load(), which alone is answered
  // Labels that are removed once their picture is on show.
  std::optional<std::pair<QString, int>> unwanted_;
  LiveFramePtr frame_;  // what the model makes of the picture on show; null: not yet
  cv::Mat trained_;     // what the trainer makes of it; empty: not yet
  QStringList names_;   // of the classes on show
  std::vector<QColor> colors_;
  std::string model_path_;
  std::shared_ptr<const ModelInfo> model_;  // that is watched with
  QString model_before_, model_wanted_;     // by "Use it": what ran until then; what does not run yet
  bool comparing_ = false;                  // until suggestions come
  QTemporaryDir scratch_;                   // holds that picture

  LabelStore store_;
  StateTrainer states_;
  Thumbnails thumbnails_;
  PictureAnalysis analysis_;
  LiveTrainer trainer_;
  Job* run_ = nullptr;
};

}  // namespace mpm::gui
