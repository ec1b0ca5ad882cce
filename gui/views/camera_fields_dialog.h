// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/settings_dialog.h"
#include "monitor/watch/camera_config.h"

namespace mpm::gui {

/// The fields of a camera under one heading of monitor::cameraFields(). What makes no sense is refused.
class CameraFieldsDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `usual`: what counts where `config` says nothing. `notes`: what else is to be known, a line each.
  CameraFieldsDialog(const QString& title, const char* group, const monitor::CameraConfig& config,
                     const monitor::CameraConfig& usual = {}, const QStringList& notes = {}, QWidget* parent = nullptr);
  monitor::CameraConfig config() const { return rows_(); }

 signals:
  void chosen(const mpm::monitor::CameraConfig& config);

 private:
  void addTest();

  std::function<monitor::CameraConfig()> rows_;  // the config as they say
};

}  // namespace mpm::gui
