// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/model_teaching.h"
#include "gui/controllers/picture_suggestions.h"
#include "gui/controllers/state_teaching.h"
#include "gui/models/edited_picture.h"
#include "gui/models/picture_analysis.h"
#include "gui/models/picture_store.h"
#include "gui/views/teach_pane.h"

namespace mpm::gui {

/// The Teach mode: the pictures of a folder of labels, drawn on in a TeachPane, and what is trained on them: a head
/// after each stroke here, models by ModelTeaching, states by StateTeaching. The model that runs is their start: its
/// clusters are filled, and its encoder is trained on.
class TeachMode : public QObject {
  Q_OBJECT
 public:
  TeachMode(const WindowOptions& options, OnShow* on_show, NetControl* net, CameraConfigs* configs,
            const SourcePictures& pictures, SettingsWriter* settings, TeachPane* pane, QObject* parent);
  ~TeachMode() override;

  /// The picture on show is to be labelled, by the name of its file or by its time. False: there is none.
  bool take();
  /// Lets go of the trainer, which holds much memory.
  void rest();
  /// A model is being made.
  bool training() const { return models_->running(); }

  // For tests.
  const LabelState& state() const { return state_; }
  const QString& shown() const { return picture_.name(); }
  LabelEditor* editor() { return picture_.editor(); }

 signals:
  void said(const QString& text, mpm::gui::Badge badge);
  /// A model or states of this mode are in use from now on.
  void taught();

 private:
  void connectSource();
  void connectPictures();
  void connectClasses();
  void connectStore();
  void connectTrainer();
  void takeModel();
  void takeState(const LabelState& state);
  void show(const QString& name);
  void load(const QString& name);
  void changeLabels(const std::function<void(vision::LabelFolder&)>& change, const std::function<void()>& then = {});
  void showLoaded(const QString& name, const cv::Mat& image, const cv::Mat& labels);
  void showClasses(const vision::ClassList& list);
  void showPrediction();
  void removeClass(const QString& picture, int label);
  void importLabels(const QString& from);
  void copyLabels(const QString& from, const cv::Mat& image, const cv::Mat& labels);
  void keepStroke();
  void changeClasses(const std::function<void(std::vector<ClassInfo>&)>& change);
  void addClass(const QString& name);
  void addModelClasses();
  void suggest();
  void askTrainer();
  void train();
  void fail(const QString& message) { emit said(message, Badge::kBad); }
  TrainerJob job() const;

  // Classes as they are shown: names and colours.
  struct ShownClasses {
    QStringList names{};
    std::vector<QColor> colors{};
    bool operator==(const ShownClasses&) const = default;
  };

  const WindowOptions options_;
  OnShow* const on_show_;
  NetControl* const net_;
  TeachPane* const pane_;
  LabelState state_;
  EditedPicture picture_;
  std::optional<std::pair<QString, int>> unwanted_;  // labels that are removed once their picture is on show
  ShownClasses classes_;

  LabelStore store_;
  Thumbnails thumbnails_;
  PictureAnalysis analysis_;
  LiveTrainer trainer_;
  ModelTeaching* const models_;
  StateTeaching* const states_;
  PictureSuggestions* const suggestions_;
};

}  // namespace mpm::gui
