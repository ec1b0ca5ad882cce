// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/live_monitor.h"
#include "gui/models/camera_configs.h"

namespace mpm::gui {

/// The dialogs that change what is said of a source.
class CameraDialogs : public QObject {
  Q_OBJECT
 public:
  CameraDialogs(CameraConfigs* configs, const LiveMonitor* live, QWidget* window);

  /// Asks for times and place of its pictures. Says timesChosen(). `of_new_folder`: asks only where some of the
  /// pictures have a time.
  void askTimes(const QString& source, bool of_new_folder);
  /// Forgets that question: something else was opened.
  void forgetTimes();
  /// Shows the fields under a heading of monitor::cameraFields(). See CameraFieldsDialog.
  void ask(const QString& source, const QString& title, const char* group);
  /// `shown`: of the source.
  void askRegions(const QString& source, const LiveFrame& shown);

 signals:
  void timesChosen(const QString& source);

 private:
  void showTimes(const QString& source, const monitor::CameraConfig& said, bool of_new_folder);

  CameraConfigs* const configs_;
  const LiveMonitor* const live_;
  QWidget* const window_;
  QPointer<QDialog> asking_;  // for times
  Worker thread_;
};

}  // namespace mpm::gui
