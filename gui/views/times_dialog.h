// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/worker.h"
#include "gui/views/settings_dialog.h"
#include "monitor/watch/camera_config.h"
#include "vision/sources/source_spec.h"
#include "vision/times/picture_times.h"

namespace mpm::gui {

/// How the times of pictures are read; nullopt: they count as taken when they are read.
using PictureTimesChoice = std::optional<vision::TimeOptions>;

/// How the times of the pictures of a folder are read, and the place where they were taken. Shows what three of them
/// say.
class TimesDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `config`: as it was chosen before.
  TimesDialog(const vision::SourceSpec& source, const monitor::CameraConfig& config, QWidget* parent = nullptr);
  PictureTimesChoice times() const;
  /// With times and place. Where the place is known, night is by the sun, unless somebody said otherwise.
  monitor::CameraConfig config() const;

 signals:
  void chosen(const mpm::monitor::CameraConfig& config);
  void looked();

 private:
  QString wrongTimes() const;
  void look();
  void show(const QString& text, bool any);

  const vision::SourceSpec source_;
  QComboBox* from_;
  QLineEdit *list_, *zone_;
  QLabel* found_;
  std::function<monitor::CameraConfig()> place_;  // the config with it
  bool touched_ = false;                          // somebody chose
  QString unread_list_;                           // why the list on the disk cannot be used; empty: it can
  Worker thread_;
};

}  // namespace mpm::gui
