// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/net_control.h"
#include "gui/models/camera_configs.h"
#include "gui/models/trainer.h"
#include "gui/views/states_panel.h"

namespace mpm::gui {

/// Teaches which state a picture, or a region of it, shows: keeps the examples, trains on them, and puts the result to
/// use for the source on show.
class StateTeaching : public QObject {
  Q_OBJECT
 public:
  /// `folder`: of the labels.
  StateTeaching(const QString& folder, OnShow* on_show, const NetControl* net, CameraConfigs* configs,
                StatesPanel* panel, QObject* parent);

 signals:
  /// States are in use from now on.
  void taught();

 private:
  void showSource();
  void beginWith(const QStringList& sets);
  void train();
  void use(const std::shared_ptr<const evaluation::StateHead>& head, bool use);

  OnShow* const on_show_;
  const NetControl* const net_;
  CameraConfigs* const configs_;
  StatesPanel* const panel_;
  StateTrainer trainer_;
};

}  // namespace mpm::gui
