// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/action_registry.h"
#include "gui/controllers/live_monitor.h"
#include "gui/models/on_show.h"
#include "gui/models/theme.h"
#include "gui/window_options.h"

namespace mpm::gui {

/// The model of the live picture and how it runs. What is chosen shows on the next frame, or on the last one where no
/// next one comes.
class NetControl : public QObject {
  Q_OBJECT
 public:
  NetControl(const WindowOptions& options, LiveMonitor* live, OnShow* on_show, const ActionRegistry* actions,
             QObject* parent);

  const std::shared_ptr<const ModelInfo>& model() const { return model_; }  ///< null: none has run yet
  /// Of the file that was opened last; it may still be read.
  QString path() const { return QFileInfo(live_->model()).absoluteFilePath(); }
  /// The file of model().
  const QString& runningPath() const { return running_; }
  /// How it runs, with the reduction that was chosen last.
  const EstimatorOptions& inference() const { return inference_; }
  /// As in monitor::InferenceWorker.
  bool choosesReuse() const { return choose_reuse_; }

  void open(const QString& path, const std::optional<Reduction>& variant);
  void chooseReduction(const Reduction& variant);
  /// nullopt: with nothing.
  void compareWith(const std::optional<Reduction>& variant);
  void setSharpEdges(bool on);
  /// A camera of a watch file (`of_file`) runs as that says; all others as the app was started, or with what was chosen
  /// since. `camera`: as monitor::cameraOf() has it; without its choose_reuse, as of an archive, reuse is not chosen.
  void runAs(const monitor::SessionOptions& camera, bool of_file);
  /// This model has run, or is about to. Null: it is not known yet.
  void take(const std::shared_ptr<const ModelInfo>& model);
  /// What a person should find in the list of events.
  void note(const std::string& text);

 signals:
  /// Before modelChanged(), where the classes are other ones: another reduction of the same model keeps the colours and
  /// the choice of classes.
  void classesChanged(const mpm::ModelInfo& model);
  void modelChanged();
  void reductionChosen(const mpm::Reduction& variant);
  void compareChanged(bool on);
  /// What was asked for did not come about: the model before goes on.
  void refused(const QString& why);
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  void setBanner(const QString& text);
  void takeEvent(const monitor::Event& event);
  void sayWhenItShows(const QString& change);

  const WindowOptions options_;
  LiveMonitor* const live_;
  OnShow* const on_show_;
  const ActionRegistry* const actions_;
  EstimatorOptions inference_;  // of the model that runs
  bool choose_reuse_;
  bool of_file_ = false;  // these two are those of a watch file
  std::shared_ptr<const ModelInfo> model_;
  QString running_;  // its file
};

}  // namespace mpm::gui
