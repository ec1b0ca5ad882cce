// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/action_registry.h"
#include "gui/controllers/exports.h"
#include "gui/controllers/stored_moments.h"
#include "gui/views/calendar_panel.h"
#include "gui/views/chart_panel.h"
#include "gui/views/day_night_panel.h"

namespace mpm::gui {

/// Shows a history: chart, day and night, events and calendar. A person who picks a moment in one of them sees what is
/// stored of it. Makes the actions under View that choose how much the chart shows.
class HistoryViews : public QObject {
  Q_OBJECT
 public:
  /// The panels belong to who puts them into a window. `night`: as of DayNightPanel.
  HistoryViews(HistoryBrowser* history, StoredMoments* stored, PictureStore* pictures, const LegendModel* legend,
               QAction* night, ActionRegistry* actions, QObject* parent);

  ChartPanel* chart() const { return chart_; }
  DayNightPanel* dayNight() const { return day_night_; }
  QTableView* events() const { return events_; }
  CalendarPanel* calendar() const { return calendar_; }
  ShownChart shownChart() const;

 private:
  void addSpans(ActionRegistry* actions);

  HistoryBrowser* const history_;
  ChartPanel* const chart_;
  DayNightPanel* const day_night_;
  QTableView* const events_;
  CalendarPanel* const calendar_;
};

}  // namespace mpm::gui
