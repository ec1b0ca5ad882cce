// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "charts/chart.h"
#include "gui/models/history.h"
#include "monitor/statistics/day_night.h"
#include "monitor/store/averages.h"

namespace mpm::gui {

/// Token counts by day and by night, and whether they differ; class areas by day and by night, with the known errors
/// of the model.
class DayNightPanel : public QWidget {
  Q_OBJECT
 public:
  /// `settings`: the action that asks what counts as night; null: that is not chosen here.
  explicit DayNightPanel(QAction* settings, QWidget* parent = nullptr);
  void setStatistics(const monitor::DayNightStatistics& statistics);
  void setAreas(const std::vector<monitor::ClassArea>& areas);
  /// The period of these numbers, [from, to), and the model that measured them, which another one may have taken the
  /// place of; empty: not known.
  void setPeriod(UnixMs from, UnixMs to, const charts::OptionalClock& clock, const QString& model);
  void clear();
  /// By which samples are judged from now on; nullopt: another program does that. Shown until setJudgedBy().
  void setRule(const std::optional<monitor::NightRule>& rule);
  /// By which the samples of these numbers were judged.
  void setJudgedBy(const NightRules& rules);

  /// One sentence about the difference, with its uncertainty.
  static QString differenceText(const monitor::DayNightStatistics& statistics);
  static QString ruleText(const monitor::NightRule& rule);

 private:
  static QString storedText(const std::optional<std::string>& rule);
  void showRule();

  QLabel* cells_[5][2];  // mean, median, p90, samples, change; day, night
  QLabel* const difference_;
  QLabel* const rule_label_;
  QLabel* const heading_;
  QLabel* const areas_heading_;
  QTableWidget* const areas_;
  std::optional<monitor::NightRule> rule_;  // from now on
  NightRules judged_by_;                    // the samples on show
};

}  // namespace mpm::gui
