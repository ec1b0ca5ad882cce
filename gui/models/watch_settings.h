// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/legend_model.h"
#include "monitor/statistics/alarms.h"
#include "monitor/statistics/day_night.h"

class QSettings;

namespace mpm::gui {

/// Time-lapse and retention of pictures and samples.
struct KeepOptions {
  double lapse_minutes = 0;  ///< 0: no time-lapse
  double picture_days = 0;   ///< forget older pictures; 0: never
  double free_mb = 0;        ///< forget the oldest pictures to leave this much free; 0: none
  double sample_days = 0;    ///< as StoreOptions::keep_days
  double database_mb = 0;    ///< as StoreOptions::max_megabytes
  friend bool operator==(const KeepOptions&, const KeepOptions&) = default;
};

/// The numbers of every rule for the night, so that a change of the rule loses none.
struct NightNumbers {
  monitor::NightBySun sun;
  monitor::NightByBrightness brightness;
  monitor::NightByHours hours;
  /// Those that `rule` has.
  void take(const monitor::NightRule& rule);
};

/// How a person wants things watched and kept, between two starts. What settings edited by hand make no sense of is the
/// default.
void save(QSettings& settings, const monitor::NightRule& rule);
void save(QSettings& settings, const monitor::AlarmOptions& alarms);
void save(QSettings& settings, const KeepOptions& keep);
void save(QSettings& settings, const ClassColors& colors);
monitor::NightRule loadNightRule(const QSettings& settings);  ///< default: by the brightness of the picture
NightNumbers loadNightNumbers(const QSettings& settings);
monitor::AlarmOptions loadAlarms(QSettings& settings);
KeepOptions loadKeepOptions(const QSettings& settings);
ClassColors loadClassColors(const QSettings& settings);

}  // namespace mpm::gui
