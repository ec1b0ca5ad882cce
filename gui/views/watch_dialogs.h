// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/worker.h"
#include "gui/views/settings_dialog.h"
#include "monitor/watch/camera_config.h"
#include "vision/sources/source_spec.h"
#include "vision/times/picture_times.h"

namespace mpm::gui {

/// The fields of a watch under one heading. What makes no sense is refused.
class WatchDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `notes`: what else is to be known, a line each.
  WatchDialog(const QString& title, const char* group, const monitor::CameraConfig& watch,
              const QStringList& notes = {}, QWidget* parent = nullptr);
  monitor::CameraConfig watch() const { return rows_(); }

 signals:
  void chosen(const mpm::monitor::CameraConfig& watch);

 private:
  void addTest();

  std::function<monitor::CameraConfig()> rows_;  // the watch as they say
};

/// How the times of pictures are read; nullopt: they count as taken when they are read.
using PictureTimesChoice = std::optional<vision::TimeOptions>;

/// How the times of the pictures of a folder are read, and the place where they were taken. Shows what three of them
/// say.
class TimesDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `watch`: as it was chosen before.
  TimesDialog(const vision::SourceSpec& source, const monitor::CameraConfig& watch, QWidget* parent = nullptr);
  PictureTimesChoice times() const;
  /// With times and place. Where the place is known, night is by the sun, unless somebody said otherwise.
  monitor::CameraConfig watch() const;

 signals:
  void chosen(const mpm::monitor::CameraConfig& watch);
  void looked();

 private:
  void look();
  void show(const QString& text, bool any);

  vision::SourceSpec source_;
  QComboBox* from_;
  QLineEdit *list_, *zone_;
  QLabel* found_;
  std::function<monitor::CameraConfig()> place_;  // the watch with it
  bool touched_ = false;                          // somebody chose
  Worker thread_;
};

}  // namespace mpm::gui
