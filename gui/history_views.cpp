// SPDX-License-Identifier: Apache-2.0
#include "gui/history_views.h"

#include "gui/controllers/calendar_browser.h"
#include "gui/views/events_table.h"

namespace mpm::gui {

HistoryViews::HistoryViews(HistoryBrowser* history, StoredMoments* stored, PictureStore* pictures,
                           const LegendModel* legend, QAction* night, ActionRegistry* actions, QObject* parent)
    : QObject(parent),
      history_(history),
      chart_(new ChartPanel(history->history(), history->sources())),
      day_night_(new DayNightPanel(night)),
      events_(eventsTable(history->events())),
      calendar_(new CalendarPanel) {
  TimeChart* const chart = chart_->chart();
  connect(chart, &TimeChart::rangeChanged, history, &HistoryBrowser::setPeriod);
  connect(chart, &TimeChart::timePicked, stored, &StoredMoments::lookFor);
  connect(history, &HistoryBrowser::grown, chart_, &ChartPanel::refresh);
  const auto mark = [history, pictures, chart] { chart->setPictures(history->timesOf(pictures->pictures())); };
  connect(history, &HistoryBrowser::sourceChanged, chart, mark);
  connect(pictures, &PictureStore::listed, chart, mark);
  connect(legend, &LegendModel::paintChanged, chart_, [this, legend] { chart_->setClassColors(legend->colors()); });

  connect(history, &HistoryBrowser::judged, day_night_, [this](const std::optional<JudgedHistory>& judged) {
    if (!judged) return day_night_->clear();
    day_night_->setJudgedBy(judged->judged_by);
    day_night_->setStatistics(judged->statistics);
    day_night_->setAreas(judged->areas);
    // The period is two days at least, and the source may have begun later.
    const auto record = history_->sources()->current();
    const UnixMs begin = record && record->id == judged->source ? std::max(judged->from, record->first) : judged->from;
    day_night_->setPeriod(begin, judged->to, history_->clock(), judged->model);
  });

  connect(events_, &QTableView::activated, chart, [this, chart, stored](const QModelIndex& index) {
    const double time = static_cast<double>(history_->events()->eventAt(index.row()).time) / 1000;
    const double half = (chart->axis().to - chart->axis().from) / 2;
    chart->setFollowing(false);
    chart->setRange(time - half, time + half);
    stored->lookFor(time);
  });
  new CalendarBrowser(history, pictures, stored, calendar_);
  addSpans(actions);
}

ShownChart HistoryViews::shownChart() const {
  const TimeAxis& axis = chart_->chart()->axis();
  const QString source = chart_->sourceText();
  return {.from = axis.from, .to = axis.to, .source = source, .picture = [scene = chart_->chart()->scene(), source] {
            return scene.picture(QSize(1200, 480), source);
          }};
}

void HistoryViews::addSpans(ActionRegistry* actions) {
  actions->separate();
  const std::pair<const char*, QString> spans[] = {{"hour", tr("Chart: last &hour")},
                                                   {"day", tr("Chart: last &day")},
                                                   {"week", tr("Chart: last &week")},
                                                   {"all", tr("Chart: &everything")}};
  for (int i = 0; i < 4; ++i) {
    actions->add(ActionRegistry::Menu::kView, spans[i].first, spans[i].second, QKeySequence(tr("Ctrl+%1").arg(i + 1)),
                 [this, i] { chart_->chooseSpan(static_cast<ChartPanel::Span>(i)); });
  }
}

}  // namespace mpm::gui
