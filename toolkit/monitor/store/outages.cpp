// SPDX-License-Identifier: Apache-2.0
// When a camera gave nothing that counts, and why: gaps between samples, and samples that show nothing.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "monitor/store/store_reader_impl.h"

// The app translates the words of the strip: lupdate finds them by this name.
#ifndef QT_TRANSLATE_NOOP
#define QT_TRANSLATE_NOOP(context, text) text
#endif

namespace mpm::monitor {

// What is stored of a moment, or of an hour whose samples are not looked at.
struct StoredMoment {
  UnixMs start = 0, width = 0;
  double samples = 1;
  std::optional<OutageCause> cause{};
  bool unchanged = false;  // it shows what the one before showed
};

namespace {

constexpr std::int64_t kMaxTimes = 500000;  // samples that are looked at one by one
constexpr UnixMs kStuckFor = kHourMs;
constexpr std::array kFlagCauses = {OutageCause::kDark, OutageCause::kOverexposed, OutageCause::kBlurred,
                                    OutageCause::kFogged};  // by kQualityFlags
constexpr std::array kTexts = {
    QT_TRANSLATE_NOOP("outages", "no samples"), QT_TRANSLATE_NOOP("outages", "damaged pictures"),
    QT_TRANSLATE_NOOP("outages", "dark"),       QT_TRANSLATE_NOOP("outages", "overexposed"),
    QT_TRANSLATE_NOOP("outages", "blurred"),    QT_TRANSLATE_NOOP("outages", "covered or fogged"),
    QT_TRANSLATE_NOOP("outages", "stuck"),      QT_TRANSLATE_NOOP("outages", "too slow"),
    QT_TRANSLATE_NOOP("outages", "moved")};

// Reads samples of a source with their flags. Pictures that were measured several times have samples in several series:
// each time counts once, by the latest series that has it.
class FlaggedSamples {
 public:
  FlaggedSamples(const Database& database, std::int64_t source) : source_(source) {
    const auto there = columnsOf(database, "region_sample");
    std::string columns = nullUnless(there, "unchanged");
    for (const char* flag : kQualityFlags) columns += ", " + nullUnless(there, flag);
    rows_ = database.prepare("SELECT time_ms, session, night, " + columns +
                             " FROM sample LEFT JOIN region_sample ON region_sample.sample = sample.id AND region = 0"
                             " WHERE source = ?1 AND time_ms >= ?2 AND time_ms < ?3 ORDER BY time_ms, sample.id");
    Statement sessions =
        database.prepare("SELECT id, max(id) OVER (PARTITION BY series) FROM session WHERE source = ?");
    sessions.bind(source);
    while (sessions.step()) latest_of_series_[sessions.integer(0)] = sessions.integer(1);
  }

  void read(UnixMs from, UnixMs to, std::vector<StoredMoment>& moments) {
    rows_.bind(source_, from, to);
    for (std::int64_t counts = 0; rows_.step();) {  // which session the last moment is of
      StoredMoment one{.start = rows_.integer(0)};
      const std::int64_t session = latest_of_series_[rows_.integer(1)];
      const bool night = !rows_.isNull(2) && rows_.integer(2) != 0;
      one.unchanged = rows_.real(3) != 0;
      for (std::size_t flag = 0; flag < kFlagCauses.size(); ++flag) {
        if (rows_.real(4 + static_cast<int>(flag)) == 0) continue;
        one.unchanged = false;
        if (kFlagCauses[flag] != OutageCause::kDark || !night) one.cause = kFlagCauses[flag];
      }
      const bool again = !moments.empty() && moments.back().start == one.start;
      if (again && session < counts) continue;
      if (again) moments.pop_back();
      moments.push_back(one);
      counts = session;
    }
  }

 private:
  Statement rows_;
  std::int64_t source_;
  std::unordered_map<std::int64_t, std::int64_t> latest_of_series_{};  // by a session: the latest one of its series
};

double sum(const Spread& spread) { return spread.mean * static_cast<double>(spread.samples); }

// Any of these samples has a flag, or shows what the one before it showed.
bool hasFlags(const DayNightSums& whole) {
  return sum(whole.spread("unchanged")) > 0 ||
         std::ranges::any_of(kQualityFlags, [&](const char* flag) { return sum(whole.spread(flag)) > 0; });
}

// What an hour of a series says.
StoredMoment hourOf(const RollupRow& row, const DayNightSums& whole) {
  StoredMoment hour{.start = row.start, .width = kHourMs, .samples = static_cast<double>(whole.samples())};
  for (std::size_t flag = 0; flag < kFlagCauses.size(); ++flag) {
    double flagged = sum(whole.spread(kQualityFlags[flag]));
    if (kFlagCauses[flag] == OutageCause::kDark) flagged -= sum(whole.of(Side::kNight).spread(kQualityFlags[flag]));
    if (2 * flagged > hour.samples) hour.cause = kFlagCauses[flag];
  }
  if (const double same = sum(whole.spread("unchanged")); !hour.cause && same > 0 && same == hour.samples)
    hour.cause = OutageCause::kStuck;
  return hour;
}

// Those that show one picture for an hour or longer, without a gap in between.
void findStuck(std::vector<StoredMoment>& moments, const std::vector<bool>& gaps) {
  for (std::size_t first = 0, last = 0; first < moments.size(); first = ++last) {
    while (last < gaps.size() && !gaps[last] && !moments[last].cause && moments[last + 1].unchanged) ++last;
    if (moments[last].start - moments[first].start < kStuckFor) continue;
    for (std::size_t i = first; i <= last; ++i) moments[i].cause = OutageCause::kStuck;
  }
}

std::vector<UnixMs> timesOf(Statement& rows) {
  std::vector<UnixMs> times;
  while (rows.step()) times.push_back(rows.integer(0));
  return times;
}

// The time of the farthest of the next samples before `time`, or else from it on, that its pace depends on.
UnixMs paceAway(const Database& database, std::int64_t source, UnixMs time, bool before) {
  Statement rows = database.prepare(std::string("SELECT DISTINCT time_ms FROM sample WHERE source = ? AND time_ms ") +
                                    (before ? "< ? ORDER BY time_ms DESC" : ">= ? ORDER BY time_ms") + " LIMIT ?");
  const auto times = timesOf(rows.bind(source, time, PaceMeter::kSteps + 1));
  return times.empty() ? time : times.back();
}

// The outages of [from, to): each is cut to it, and joined with the one before if both are one.
class Outages {
 public:
  Outages(UnixMs from, UnixMs to) : from_(from), to_(to) {}

  void add(UnixMs begin, UnixMs end, OutageCause cause) {
    const bool moment = begin == end;
    begin = std::max(begin, from_);
    end = std::min(end, to_ - 1);
    if (begin > end || (begin == end && (!moment || cause == OutageCause::kGap))) return;
    if (cause != OutageCause::kGap && !found_.empty() && found_.back().cause == cause && found_.back().end == begin)
      found_.back().end = end;
    else
      found_.push_back({begin, end, cause});
  }
  std::vector<Outage> take() {
    std::ranges::stable_sort(found_, {}, &Outage::begin);
    return std::move(found_);
  }

 private:
  UnixMs from_, to_;
  std::vector<Outage> found_{};
};

// Each time between samples counts by the `every` that held for it: a new `every` makes no camera slow.
void findSlow(std::vector<StoredMoment>& moments, std::vector<StoredStep> steps) {
  for (StoredStep& step : steps) step.seconds = step.every_s > 0 ? step.seconds / step.every_s : 0;
  const std::vector<double> usual = usualSteps(steps);
  for (std::size_t i = 0; i < usual.size(); ++i)
    if (!moments[i].cause && usual[i] > 2) moments[i].cause = OutageCause::kSlow;
}

}  // namespace

std::vector<UnixMs> warningsOf(const Database& database, std::int64_t source, EventKind kind, UnixMs from, UnixMs to) {
  Statement rows = database.prepare(
      "SELECT time_ms FROM event WHERE source = ? AND time_ms >= ? AND time_ms < ? AND kind = ? AND severity = ?"
      " ORDER BY time_ms");
  return timesOf(rows.bind(source, from, to, static_cast<int>(kind), static_cast<int>(Severity::kWarning)));
}

const char* toString(OutageCause cause) {
  constexpr const char* kNames[] = {"gap",    "damaged", "dark", "overexposed", "blurred",
                                    "fogged", "stuck",   "slow", "moved"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string toText(OutageCause cause) { return kTexts[static_cast<std::size_t>(cause)]; }

Json toJson(const Outage& outage) {
  return {{"begin", isoTime(outage.begin, true)},
          {"end", isoTime(outage.end, true)},
          {"cause", toString(outage.cause)},
          {"text", toText(outage.cause)}};
}

// A gap may begin before the span and end behind it, and the pace there is that of the samples around, too; but not of
// those by a clock that was wrong. What is a night depends on all of an archive.
Extent StoreReader::Impl::aroundSpan(std::int64_t source, bool archive, const Extent& believed, UnixMs from,
                                     UnixMs to) const {
  Extent around{from, to - 1};
  if (const auto before = extent(source, believed.first, from)) {
    const UnixMs first = std::min({before->last, from - kDayMs, paceAway(database, source, from, true)});
    around.first = archive ? believed.first : std::max(believed.first, first);
  }
  if (const auto after = extent(source, to, believed.last + 1)) {
    const UnixMs last = std::max({after->first, to + kDayMs, paceAway(database, source, to, false)});
    around.last = archive ? believed.last : std::min(believed.last, last);
  }
  return around;
}

void StoreReader::Impl::eachHour(
    std::int64_t source, UnixMs from, UnixMs to,
    const std::function<void(const RollupRow& row, const DayNightSums& whole)>& visit) const {
  if (from >= to) return;
  for (const std::int64_t series : seriesOf(source)) {
    for (const RollupRow& row :
         rollup({.series = series, .from = bucketStart(from, kHourMs), .to = to, .width = kHourMs}))
      if (const auto whole = row.regions.find(""); whole != row.regions.end()) visit(row, whole->second);
  }
}

// Whole hours where samples are forgotten or too many, then samples.
std::vector<StoredMoment> StoreReader::Impl::moments(std::int64_t source, UnixMs from, UnixMs to, bool pictures) const {
  const UnixMs kept = samplesKeptFrom(source);
  UnixMs one_by_one = kept <= from ? from : kept >= to ? to : std::min(to, bucketStart(kept + kHourMs - 1, kHourMs));
  if (count(source, one_by_one, to, {}, kBucketWidths.size() - 1) > kMaxTimes) one_by_one = to;
  std::map<UnixMs, StoredMoment> hours;  // of the series that has the most samples in each; of as many, the latest
  eachHour(source, from, one_by_one, [&](const RollupRow& row, const DayNightSums& whole) {
    const StoredMoment hour = hourOf(row, whole);
    if (StoredMoment& most = hours[row.start]; most.samples <= hour.samples) most = hour;
  });
  std::vector<StoredMoment> all;
  for (const auto& [start, hour] : hours) all.push_back(hour);

  // Of most hours the sums say that no sample has a flag: only their times are read.
  std::set<UnixMs> flagged;
  if (pictures) {
    eachHour(source, one_by_one, to, [&](const RollupRow& row, const DayNightSums& whole) {
      if (hasFlags(whole)) flagged.insert(row.start);
    });
  }
  FlaggedSamples samples(database, source);
  Statement times = database.prepare(
      "SELECT DISTINCT time_ms FROM sample WHERE source = ? AND time_ms >= ? AND time_ms < ? ORDER BY time_ms");
  const auto addTimes = [&](UnixMs begin, UnixMs end) {
    for (const UnixMs time : timesOf(times.bind(source, begin, end))) all.push_back({.start = time});
  };
  UnixMs begin = one_by_one;
  for (const UnixMs hour : flagged) {
    addTimes(begin, hour);
    begin = std::min(to, hour + kHourMs);
    samples.read(std::max(one_by_one, hour), begin, all);
  }
  addTimes(begin, to);
  return all;
}

std::vector<Outage> StoreReader::Impl::outages(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now,
                                               bool pictures) const {
  const UnixMs clock = now.value_or(unixNow());
  const std::optional<Extent> believed = believedExtent(source, clock);
  if (!believed) return {};
  from = std::max(from, believed->first);
  to = std::min(to, std::max(now.value_or(INT64_MIN), believed->last + 1));
  if (from >= to) return {};
  const Meant meant = this->meant(source, clock);
  const Extent around = aroundSpan(source, meant.archive, *believed, from, to);
  std::vector<StoredMoment> moments = this->moments(source, around.first, around.last + 1, pictures);
  std::vector<StoredStep> steps;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const StoredMoment &one = moments[i - 1], &next = moments[i];
    steps.push_back({static_cast<double>(next.start - one.start) / kSecondMs, one.samples,
                     meant.everyAt(next.start, next.width), static_cast<double>(one.width) / kSecondMs});
  }
  const std::vector<double> usual = usualSteps(steps);
  const auto gaps = findGaps(steps, usual, meant.archive);
  std::vector<UnixMs> damaged, moved;
  if (pictures) {
    findStuck(moments, gaps);
    if (!meant.archive) findSlow(moments, steps);
    damaged = warningsOf(database, source, EventKind::kDamaged, around.first,
                         std::max(now.value_or(INT64_MIN), around.last + 1));
    moved = warningsOf(database, source, EventKind::kView, from, to);
  }
  // Where a picture between these times could not be read, the time of the first such picture, else `next`.
  const auto untilDamaged = [&](UnixMs start, UnixMs next) {
    const auto at = std::ranges::upper_bound(damaged, start);
    return at == damaged.end() ? next : std::min(*at, next);
  };
  Outages found(from, to);
  const auto addSilence = [&](UnixMs start, UnixMs next) {
    const UnixMs stop = untilDamaged(start, next);
    found.add(start, stop, OutageCause::kGap);
    if (stop < next) found.add(stop, next, OutageCause::kDamaged);
  };
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const bool last = i + 1 == moments.size(), gap = !last && gaps[i];
    const UnixMs start = moments[i].start, over = start + moments[i].width, next = last ? over : moments[i + 1].start;
    const UnixMs stop = gap ? over : meant.archive ? untilDamaged(start, next) : next;
    if (moments[i].cause) found.add(start, stop, *moments[i].cause);
    if (gap)
      addSilence(over, next);
    else if (stop < next)
      found.add(stop, next, OutageCause::kDamaged);
  }
  if (now && !pace(source).alive(believed->last, *now)) addSilence(believed->last, *now);
  for (const UnixMs time : moved) found.add(time, time, OutageCause::kMoved);
  return found.take();
}

Gaps StoreReader::gaps(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now) const {
  Gaps gaps;
  for (const Outage& one : eachGap(source, from, to, now)) {
    const UnixMs length = one.end - one.begin;
    ++gaps.count;
    gaps.total += length;
    gaps.longest = std::max(gaps.longest, length);
  }
  return gaps;
}

std::vector<Outage> StoreReader::eachGap(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now) const {
  std::vector<Outage> gaps = impl_->outages(source, from, to, now, false);
  std::erase_if(gaps, [](const Outage& one) { return one.cause != OutageCause::kGap; });
  return gaps;
}

std::vector<Outage> StoreReader::outages(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now) const {
  return impl_->outages(source, from, to, now, true);
}

std::optional<UnixMs> StoreReader::awaited(std::int64_t source, UnixMs now, std::optional<bool> watched) const {
  if (impl_->ownClock(source)) return std::nullopt;
  return watched.value_or(running(source)) ? std::optional(now) : std::nullopt;
}

Pace StoreReader::Impl::pace(std::int64_t source) const {
  Statement latest = database.prepare("SELECT every_s FROM session WHERE source = ? ORDER BY id DESC LIMIT 1");
  PaceMeter meter(latest.bind(source).step() ? latest.real(0) : 0);
  const std::optional<Extent> believed = believedExtent(source);
  if (!believed) return meter.pace();
  Statement times = database.prepare(
      "SELECT DISTINCT time_ms FROM sample WHERE source = ? AND time_ms >= ? AND time_ms <= ? ORDER BY time_ms DESC"
      " LIMIT ?");
  times.bind(source, believed->first, believed->last, PaceMeter::kSteps + 1);
  for (std::optional<UnixMs> next; times.step(); next = times.integer(0))
    if (next) meter.add(static_cast<double>(*next - times.integer(0)) / kSecondMs);
  return meter.pace();
}

Pace StoreReader::pace(std::int64_t source) const { return impl_->pace(source); }

Meant StoreReader::Impl::meant(std::int64_t source, UnixMs now) const {
  Meant meant{.archive = database.integer("SELECT archive FROM source WHERE id = ?", source) != 0};
  if (ownClock(source)) return meant;  // its sessions have the times of another clock than its samples
  const BelievedTimes believed(now);
  Statement rows = database.prepare("SELECT started_ms, every_s, ended_ms FROM session WHERE source = ? ORDER BY id");
  rows.bind(source);
  for (UnixMs end = INT64_MIN; rows.step();) {  // of the sessions before
    const double every_s = std::clamp(rows.real(1), 0.0, 1e9);
    meant.every_s.emplace_back(rows.integer(0), every_s);
    // A clock that was set only later: samples of the right time follow those of the session before.
    if (!believed.has(rows.integer(0)) && end != INT64_MIN) meant.every_s.emplace_back(end, every_s);
    if (!rows.isNull(2) && believed.has(rows.integer(2))) end = std::max(end, rows.integer(2));
  }
  std::ranges::stable_sort(meant.every_s, {}, &std::pair<UnixMs, double>::first);
  return meant;
}

double Meant::everyAt(UnixMs start, UnixMs width) const {
  const UnixMs time = start + std::max<UnixMs>(width, 1);
  const auto next = std::ranges::lower_bound(every_s, time, {}, &std::pair<UnixMs, double>::first);
  return next == every_s.begin() ? 0 : std::prev(next)->second;
}

std::vector<charts::ChartBand> chartBands(const std::map<std::string, StateChanges>& states,
                                          const std::map<std::string, std::set<std::string>>& known,
                                          const std::vector<Outage>& outages) {
  std::vector<charts::ChartBand> bands;
  for (const auto& [name, changes] : states) {
    charts::ChartBand& band = bands.emplace_back(charts::ChartBand{.name = name, .changes = changes});
    if (const auto of_head = known.find(name); of_head != known.end())
      band.known.assign(of_head->second.begin(), of_head->second.end());
  }
  if (outages.empty()) return bands;
  charts::ChartBand& strip =
      bands.emplace_back(charts::ChartBand{.name = QT_TRANSLATE_NOOP("outages", "outages"), .over_gaps = true});
  for (const char* text : kTexts) strip.known.emplace_back(text);
  auto& changes = strip.changes;
  for (const Outage& one : outages) {
    const UnixMs end = std::max(one.end, one.begin + 1);
    std::pair<UnixMs, std::string> rest = {0, ""};  // what goes on behind it: a camera may be moved while it is slow
    if (!changes.empty() && changes.back().first >= one.begin) {
      rest.first = changes.back().first;
      changes.pop_back();
      rest.second = changes.back().second;
    }
    changes.emplace_back(one.begin, toText(one.cause));
    if (rest.first > end) changes.emplace_back(end, rest.second);
    changes.emplace_back(std::max(end, rest.first), "");
  }
  return bands;
}

}  // namespace mpm::monitor
