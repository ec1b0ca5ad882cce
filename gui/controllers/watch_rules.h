// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/settings_writer.h"
#include "gui/models/watch_settings.h"
#include "monitor/session.h"

namespace mpm::gui {

/// What counts as night, when to ring, what is kept, and the regions of each source: as it was chosen last, and the
/// dialogs that change it. Each change is in the settings at once.
class WatchRules : public QObject {
  Q_OBJECT
 public:
  /// Alarms about areas mean classes of `legend` by their names. `window`: what the dialogs belong to.
  WatchRules(QSettings& stored, SettingsWriter* settings, const LegendModel* legend, QWidget* window);

  const monitor::NightRule& night() const { return night_; }
  const monitor::AlarmOptions& alarms() const { return alarms_; }
  const KeepOptions& keep() const { return keep_; }
  /// What is run for each event, in words; empty: nothing.
  std::vector<std::string> command() const;
  const SourceRegions& regions(const QString& source) const;
  /// Those that the database has are those of a source for which none were chosen.
  void propose(const QString& source, const std::vector<vision::Region>& regions);
  /// Those that are read of a source.
  const std::vector<evaluation::StateHead>& states(const QString& source) const { return of(source).states; }
  const QStringList& stateFiles(const QString& source) const { return of(source).state_files; }
  /// From now on, or no longer. `file`: that holds the head.
  void useStates(const QString& source, const evaluation::StateHead& head, const QString& file, bool use);
  /// How a source is watched by these rules.
  monitor::WatchOptions watchOptions(const QString& source) const;
  /// Which pictures are kept in a folder.
  monitor::SnapshotOptions snapshotOptions(const QString& pictures) const;

  /// Whether it was said how the times of these pictures are read, or they have none to be read.
  bool knowsTimes(const QString& source) const;
  PictureTimesChoice times(const QString& source) const { return of(source).times.value_or(std::nullopt); }
  /// Says timesChosen(). `of_new_folder`: asks only where some of the pictures have a time.
  void askTimes(const QString& source, bool of_new_folder);
  void askNight();
  void askAlarms();
  /// See KeepDialog.
  void askKeep(const QString& folder, const QString& database);
  /// `picture`: what the source shows; `time`: when that was taken.
  void askRegions(const QString& source, const cv::Mat& picture, UnixMs time);

 signals:
  void timesChosen(const QString& source);
  void nightChanged();
  void alarmsChanged();
  void commandChanged();
  void keepChanged();
  void regionsChanged();

 private:
  const SourceChoices& of(const QString& source) const;
  void change(const QString& source, const std::function<void(SourceChoices&)>& what);
  monitor::AlarmOptions alarmsOfModel() const;

  SettingsWriter* settings_;
  const LegendModel* legend_;
  QWidget* window_;
  monitor::NightRule night_;
  NightNumbers night_numbers_;
  monitor::AlarmOptions alarms_;
  KeepOptions keep_;
  QString command_;
  Sources sources_;
};

}  // namespace mpm::gui
