// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "evaluation/states.h"
#include "gui/models/legend_model.h"
#include "monitor/statistics/alarms.h"
#include "monitor/statistics/day_night.h"
#include "vision/regions/region.h"
#include "vision/times/picture_times.h"

namespace mpm::gui {

/// Time-lapse and retention of pictures and samples.
struct KeepOptions {
  double lapse_minutes = 0;  ///< 0: no time-lapse
  double picture_days = 0;   ///< delete older pictures; 0: never
  double free_mb = 0;        ///< delete the oldest pictures to leave this much free; 0: none
  double sample_days = 0;    ///< as StoreOptions::keep_days
  double database_mb = 0;    ///< as StoreOptions::max_megabytes
  friend bool operator==(const KeepOptions&, const KeepOptions&) = default;
};

/// How the times of pictures are read; nullopt: they count as taken when they are read.
using PictureTimesChoice = std::optional<vision::TimeOptions>;

/// The numbers of every night rule, so that choosing another rule keeps them.
struct NightNumbers {
  monitor::NightBySun sun;
  monitor::NightByBrightness brightness;
  monitor::NightByHours hours;
  /// Sets the numbers that `rule` has.
  void take(const monitor::NightRule& rule);
};

/// The regions of a source.
struct SourceRegions {
  std::vector<vision::Region> regions{};
  QString file{};  ///< that they were last read from or written to; empty: none
  /// The file, where it holds these regions and no others; else empty.
  QString savedIn() const;
};

/// What was chosen for a source.
struct SourceChoices {
  std::optional<PictureTimesChoice> times{};    ///< nullopt: nobody was asked
  std::optional<SourceRegions> regions{};       ///< nullopt: none were drawn or stored
  std::vector<evaluation::StateHead> states{};  ///< that are read
  QStringList state_files{};                    ///< that they were read from
};
using Sources = std::map<QString, SourceChoices>;  ///< by the source without credentials

/// What is watched and kept, stored between two starts. Settings that make no sense, edited by hand, give the default.
void save(QSettings& settings, const monitor::NightRule& rule);
void save(QSettings& settings, monitor::AlarmOptions alarms);
void saveCommand(QSettings& settings, const QString& command);  ///< that is run for each event, as one line
void save(QSettings& settings, const KeepOptions& keep);
void save(QSettings& settings, const ClassColors& colors);
void save(QSettings& settings, const Sources& sources);
monitor::NightRule loadNightRule(QSettings& settings);  ///< default: by the brightness of the picture
NightNumbers loadNightNumbers(QSettings& settings);
monitor::AlarmOptions loadAlarms(QSettings& settings);
QString loadCommand(const QSettings& settings);
KeepOptions loadKeepOptions(const QSettings& settings);
ClassColors loadClassColors(const QSettings& settings);
Sources loadSources(QSettings& settings);  ///< without states whose files are gone

}  // namespace mpm::gui
