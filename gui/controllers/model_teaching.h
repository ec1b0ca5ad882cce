// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/net_control.h"
#include "gui/models/trainer.h"
#include "gui/views/taught_models_panel.h"

namespace mpm::gui {

/// Makes models of labels, one at a time, and puts them to use: until a new one runs the one before does, and goes on
/// where the new one cannot be read.
class ModelTeaching : public QObject {
  Q_OBJECT
 public:
  ModelTeaching(NetControl* net, SettingsWriter* settings, TaughtModelsPanel* panel, QObject* parent);

  /// A model is being made.
  bool running() const { return run_ != nullptr; }
  /// Makes the next version in this folder.
  void train(const TrainerJob& job, const QString& folder);

 signals:
  /// A person wants a model of the labels.
  void wanted();
  /// One was made.
  void made();
  /// One is in use from now on.
  void taught();
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  void use(const QString& model);
  void takeModel();

  NetControl* const net_;
  SettingsWriter* const settings_;
  TaughtModelsPanel* const panel_;
  QString before_;  // what ran until one was put to use
  QString next_;    // was put to use, and does not run yet
  Job* run_ = nullptr;
};

}  // namespace mpm::gui
