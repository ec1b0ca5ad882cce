// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/history_browser.h"

#include "gui/models/recents.h"

namespace mpm::gui {

HistoryBrowser::HistoryBrowser(const LiveMonitor* live, QAction* night, QObject* parent)
    : QObject(parent),
      live_(live),
      events_(new EventsModel(this)),
      history_(new History(this)),
      chart_(new ChartPanel(history_)),
      day_night_(new DayNightPanel(night)),
      events_table_(gui::eventsTable(events_)) {
  connect(history_, &History::statisticsReady, this,
          [this](qint64 source, const monitor::DayNightStatistics& statistics,
                 const std::vector<monitor::ClassArea>& areas, const NightRules& judged_by) {
            if (chart_->source() != source) return;
            day_night_->setJudgedBy(judged_by);
            day_night_->setStatistics(statistics);
            day_night_->setAreas(areas);
            day_night_->setStretch(judged_.first, judged_.second, chart_->chart()->clock());
          });
  connect(history_, &History::eventsReady, this, [this](qint64 source, const std::vector<monitor::Event>& events) {
    events_->setClock(chart_->chart()->clock());
    if (!showsWatched() && chart_->source() == source) events_->setEvents(events);
  });
  connect(history_, &History::failed, this, &HistoryBrowser::failed);
  connect(chart_, &ChartPanel::sourcePicked, this, &HistoryBrowser::takeSource);
  connect(chart_->chart(), &TimeChart::timePicked, this, &HistoryBrowser::timePicked);
  connect(chart_->chart(), &TimeChart::rangeChanged, this, [this] {
    const auto [from, to] = stretchToJudge();
    const double apart = (to - from) / 50;  // a chart that follows the clock moves every 2 s
    if (std::abs(from - judged_.first) > apart || std::abs(to - judged_.second) > apart) refreshStatistics();
  });
  connect(chart_, &ChartPanel::backRequested, this, &HistoryBrowser::closeForeign);
  connect(events_table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    const double time = static_cast<double>(events_->eventAt(index.row()).time) / 1000;
    TimeChart* chart = chart_->chart();
    const double half = (chart->axis().to - chart->axis().from) / 2;
    chart->setFollowing(false);
    chart->setRange(time - half, time + half);
    emit timePicked(time);
  });
}

void HistoryBrowser::watch(const QString& source) {
  watched_ = source;
  live_events_.clear();
  showOwn();
  if (sourceSpec(source).kind == vision::SourceKind::kDemo) chart_->showSpan(ChartPanel::Span::kDay);
}

// Events of what is watched are at hand, also where nothing is stored; all others are read.
bool HistoryBrowser::showsWatched() const { return watched_ && source() == *watched_ && foreign_.isEmpty(); }

void HistoryBrowser::showNewDatabase() {
  if (foreign_.isEmpty()) showOwn();
}

void HistoryBrowser::showOwn() {
  foreign_.clear();
  chart_->setForeign({}, watched_.has_value());
  day_night_->clear();
  next_statistics_ = 0;
  events_->setEvents(watched_ ? live_events_ : std::vector<monitor::Event>());
  if (history_->database() != live_->database()) {
    chart_->forgetSources();
    history_->setDatabase(live_->database());
  }
  if (watched_) {
    chart_->setPresent(*watched_, std::nullopt);
    chart_->setSourceName(*watched_);
  }
  emit foreignChanged();
}

void HistoryBrowser::closeForeign() {
  if (!foreign_.isEmpty()) showOwn();
}

void HistoryBrowser::showWatched() {
  if (!watched_ || showsWatched()) return;
  if (!foreign_.isEmpty()) return showOwn();
  events_->setEvents(live_events_);  // also where nothing is stored of it yet
  day_night_->clear();
  chart_->setSourceName(*watched_);
}

void HistoryBrowser::stopWatching() {
  watched_.reset();
  chart_->setPresent({}, std::nullopt);
  chart_->setForeign(foreignName(), false);
}

void HistoryBrowser::openForeign(const QString& path) {
  foreign_ = path;
  chart_->setForeign(foreignName(), watched_.has_value());
  events_->setEvents({});
  day_night_->clear();
  chart_->forgetSources();
  chart_->setPresent({}, std::nullopt);
  history_->setDatabase(path);
  emit foreignChanged();
}

void HistoryBrowser::setNightRule(const std::optional<monitor::NightRule>& rule) { day_night_->setRule(rule); }

void HistoryBrowser::takeJudged() {
  chart_->refresh();
  refreshStatistics();
}

void HistoryBrowser::add(const monitor::Event& event) {
  live_events_.push_back(event);
  if (live_events_.size() > EventsModel::kMax) live_events_.erase(live_events_.begin());
  if (foreign_.isEmpty() && (!watched_ || showsWatched())) events_->add(event);
}

void HistoryBrowser::takeSource(qint64 source) {
  if (showsWatched()) {
    events_->setEvents(live_events_);
  } else {
    events_->setEvents({});  // of the source before
    history_->askEvents(source);
  }
  if (const auto record = chart_->record(); record && !showsWatched()) history_->askLast(*record);
  day_night_->clear();  // of the source before
  refreshStatistics();
  emit sourceChanged();
}

// By the steady clock: the other one may be set back.
void HistoryBrowser::refresh(UnixMs shown) {
  if (!watched_ && foreign_.isEmpty()) return;
  const std::int64_t now = steadyNow();
  if (now < next_chart_) return;
  next_chart_ = now + period_;
  // The demo's days pass in minutes: its chart ends at its own present.
  const bool own_time = shown > 0 && watched_ && sourceSpec(*watched_).kind == vision::SourceKind::kDemo;
  if (foreign_.isEmpty() && watched_)
    chart_->setPresent(*watched_, own_time ? std::optional(static_cast<double>(shown) / 1000) : std::nullopt);
  chart_->refresh();
  events_->setClock(chart_->chart()->clock());
  if (const auto source = chart_->source(); source && !showsWatched()) history_->askEvents(*source);
  if (now < next_statistics_) return;
  next_statistics_ = now + 15 * period_;
  refreshStatistics();
}

void HistoryBrowser::refreshStatistics() {
  const auto source = chart_->source();
  if (!source) return;
  judged_ = stretchToJudge();
  history_->askStatistics(*source, static_cast<UnixMs>(judged_.first * 1000),
                          static_cast<UnixMs>(judged_.second * 1000) + 1);
}

// The stretch of the chart that has samples, but two days at least: one has no day and night to compare.
std::pair<double, double> HistoryBrowser::stretchToJudge() const {
  constexpr double kShortest = 2 * 86400;
  auto [from, to] = std::pair(chart_->chart()->axis().from, chart_->chart()->axis().to);
  if (const auto record = chart_->record(); record && record->last > 0) {
    from = std::max(from, static_cast<double>(record->first) / 1000);
    to = std::min(to, static_cast<double>(record->last) / 1000);
  }
  return {std::min(from, to - kShortest), to};
}

QString HistoryBrowser::source() const {
  const QString name = chart_->sourceName();
  return name.isEmpty() && foreign_.isEmpty() ? watched_.value_or(QString()) : name;
}

std::optional<monitor::PictureOwner> HistoryBrowser::owner() const {
  const auto& facts = history_->facts();
  if (!facts && !history_->database().isEmpty()) return std::nullopt;
  return monitor::PictureOwner{.source = source().toStdString(), .database = facts ? facts->id : ""};
}

SourceFacts HistoryBrowser::facts() const {
  const auto& facts = history_->facts();
  if (!facts) return {};
  const auto found = facts->sources.find(source());
  return found == facts->sources.end() ? SourceFacts() : found->second;
}

void HistoryBrowser::showPictures(const std::vector<StoredPicture>& pictures) {
  std::vector<double> times;
  const auto of = owner();
  for (const StoredPicture& picture : pictures)
    if (of && picture.owner.sameAs(*of)) times.push_back(picture.time);
  chart_->chart()->setPictures(std::move(times));
}

double HistoryBrowser::nearness() const {
  const TimeAxis& axis = chart_->chart()->axis();
  return std::max(2.0, (axis.to - axis.from) / 50);
}

}  // namespace mpm::gui
