// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/history.h"
#include "gui/views/look.h"
#include "monitor/statistics/day_night.h"

namespace mpm::gui {

/// The list of events. A double click or Enter activates one.
QTableView* eventsTable(EventsModel* model);

/// Token counts by day and by night, and whether they differ; class areas by day and by night, with the known errors
/// of the model.
class DayNightPanel : public QWidget {
  Q_OBJECT
 public:
  /// `settings`: the action that asks what counts as night.
  explicit DayNightPanel(QAction* settings, QWidget* parent = nullptr);
  void setStatistics(const monitor::DayNightStatistics& statistics);
  void setAreas(const std::vector<monitor::ClassArea>& areas);
  /// The period of these numbers, s.
  void setStretch(double from, double to, const charts::Clock& clock);
  void clear();
  /// nullopt: samples of another program, as it judged them.
  void setRule(const std::optional<monitor::NightRule>& chosen);

  /// One sentence about the difference, with its uncertainty.
  static QString differenceText(const monitor::DayNightStatistics& statistics);

 private:
  QLabel* cells_[5][2];  // mean, median, p90, samples, change; day, night
  QLabel *difference_, *rule_, *heading_, *areas_heading_;
  QTableWidget* areas_;
};

}  // namespace mpm::gui
