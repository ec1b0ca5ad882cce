// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/history_browser.h"

#include "gui/models/recents.h"

namespace mpm::gui {
namespace {

// The database does not keep all of an event.
bool isSame(const monitor::Event& one, const monitor::Event& other) {
  return one.time == other.time && one.kind == other.kind && one.message == other.message;
}

}  // namespace

HistoryBrowser::HistoryBrowser(QObject* parent)
    : QObject(parent),
      events_(new EventsModel(this)),
      history_(new History(this)),
      sources_(new HistorySources(history_, this)) {
  connect(history_, &History::statisticsReady, this, [this](const JudgedHistory& history) {
    if (sources_->id() == history.source) emit judged(history);
  });
  connect(history_, &History::eventsReady, this, [this](qint64 source, const std::vector<monitor::Event>& events) {
    events_->setClock(clock());
    if (eventsOnShow() == source) events_->setEvents(showsOpened() ? withLiveEvents(events) : events);
  });
  connect(history_, &History::failed, this, &HistoryBrowser::failed);
  connect(sources_, &HistorySources::changed, this, &HistoryBrowser::takeSource);
  connect(history_, &History::sourcesChanged, this, &HistoryBrowser::takeGrowth);
}

void HistoryBrowser::setPeriod(double from, double to) {
  period_ = {from, to};
  const auto [begin, end] = periodToJudge();
  const double apart = (end - begin) / 50;  // a chart that follows the clock moves every 2 s
  const auto& [judged_begin, judged_end] = judged_.period;
  if (std::abs(begin - judged_begin) > apart || std::abs(end - judged_end) > apart) refreshStatistics();
}

charts::OptionalClock HistoryBrowser::clock() const {
  const auto record = sources_->current();
  return record ? record->clock : charts::OptionalClock();
}

void HistoryBrowser::setDatabase(const QString& path, const QString& source) {
  emit judged(std::nullopt);
  next_chart_ = next_statistics_ = 0;
  events_->setEvents(opened_ ? live_events_ : std::vector<monitor::Event>());
  sources_->beginWith(source);
  history_->setDatabase(path);
  if (opened_) sources_->want(*opened_);
}

void HistoryBrowser::open(const QString& source) {
  opened_ = source;
  live_events_.clear();
  events_->setEvents({});
  emit judged(std::nullopt);
  next_statistics_ = 0;
  sources_->setPresent(source, std::nullopt);
  sources_->want(source);
  if (!sources_->id()) emit sourceChanged();  // source() is this one, of which nothing is stored yet
}

// Events of the source that is open are at hand, also where nothing is stored; those of earlier runs are read.
bool HistoryBrowser::showsOpened() const { return opened_ && source() == *opened_; }

void HistoryBrowser::showOpened() {
  if (!opened_ || showsOpened()) return;
  events_->setEvents(live_events_);  // also where nothing is stored of it yet
  emit judged(std::nullopt);
  sources_->want(*opened_);
}

void HistoryBrowser::close() {
  const QString before = source();
  opened_.reset();
  sources_->setPresent({}, std::nullopt);
  if (source() != before) takeSource();
}

void HistoryBrowser::takeJudged() {
  emit grown();
  refreshStatistics();
}

void HistoryBrowser::add(const monitor::Event& event) {
  live_events_.push_back(event);
  if (live_events_.size() > EventsModel::kMax) live_events_.erase(live_events_.begin());
  // It may have been read from the database before it came here.
  if ((!opened_ || showsOpened()) && !events_->has([&](const monitor::Event& one) { return isSame(one, event); }))
    events_->add(event);
}

// Live events are stored a little later, or not at all. They stay on top in the order in which they came: those of an
// archive have the times of its pictures.
std::vector<monitor::Event> HistoryBrowser::withLiveEvents(std::vector<monitor::Event> stored) const {
  std::erase_if(stored, [&](const monitor::Event& one) {
    return std::ranges::any_of(live_events_, [&](const monitor::Event& live) { return isSame(one, live); });
  });
  stored.insert(stored.end(), live_events_.begin(), live_events_.end());
  return stored;
}

void HistoryBrowser::takeSource() {
  const auto record = sources_->current();
  emit judged(std::nullopt);  // of the source before
  if (!record) return emit sourceChanged();
  events_->setEvents(showsOpened() ? live_events_ : std::vector<monitor::Event>());  // not of the source before
  history_->askEvents(record->id);
  refreshStatistics();
  emit sourceChanged();
}

// By the steady clock: the other one may be set back.
void HistoryBrowser::refresh(UnixMs shown) {
  const std::int64_t now = steadyNow();
  if (now < next_chart_) return;
  next_chart_ = now + pace_;
  // The demo's days pass in minutes: its chart ends at its own present.
  const bool own_time = shown > 0 && opened_ && sourceSpec(*opened_).kind == vision::SourceKind::kDemo;
  if (opened_)
    sources_->setPresent(*opened_, own_time ? std::optional(static_cast<double>(shown) / 1000) : std::nullopt);
  emit grown();
  events_->setClock(clock());
  if (const auto source = eventsOnShow()) history_->askEvents(*source);
  if (now < next_statistics_) return;
  next_statistics_ = now + 15 * pace_;
  refreshStatistics();
}

// A camera of another program that never gave a frame is no source yet: why is said by the events of source 0.
std::optional<std::int64_t> HistoryBrowser::eventsOnShow() const {
  return sources_->id() || opened_ ? sources_->id() : 0;
}

void HistoryBrowser::refreshStatistics() {
  const auto source = sources_->id();
  if (!source) return;
  judged_ = {periodToJudge(), facts().measured};
  const auto& [begin, end] = judged_.period;
  history_->askStatistics(*source, static_cast<UnixMs>(begin * 1000), static_cast<UnixMs>(end * 1000) + 1);
}

// While samples come, the statistics are asked for seldom. They are asked for at once where another series is the
// latest one, and where no more samples came since the last look: the source may have ended.
void HistoryBrowser::takeGrowth() {
  const MeasuredSeries now = facts().measured, before = std::exchange(seen_, now);
  if (now != judged_.of && (now == before || now.id != judged_.of.id)) refreshStatistics();
}

// The period of the chart that has samples, but two days at least: one has no day and night to compare.
std::pair<double, double> HistoryBrowser::periodToJudge() const {
  constexpr double kShortest = 2 * 86400;
  auto [from, to] = period_;
  if (const auto record = sources_->current(); record && !record->empty()) {
    from = std::max(from, static_cast<double>(record->first) / 1000);
    to = std::min(to, static_cast<double>(record->last) / 1000);
  }
  return {std::min(from, to - kShortest), to};
}

QString HistoryBrowser::source() const {
  const QString name = sources_->name();
  return name.isEmpty() ? opened_.value_or(QString()) : name;
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

std::vector<double> HistoryBrowser::timesOf(const std::vector<StoredPicture>& pictures) const {
  std::vector<double> times;
  const auto of = owner();
  for (const StoredPicture& picture : pictures)
    if (of && picture.owner.sameAs(*of)) times.push_back(picture.time);
  return times;
}

}  // namespace mpm::gui
