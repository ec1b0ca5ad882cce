// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/calendar.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/number_text.h"
#include "monitor/quantity.h"
#include "monitor/statistics/day_night.h"
#include "mpm/error.hpp"

#define QT_TRANSLATE_NOOP(context, text) text  // for lupdate, as in quantity.cpp

namespace mpm::monitor {
namespace {

using By = DayMoment::By;

// Of each day the share of the time in which a state counted, percent. What was so in a gap, or behind the end of the
// series, is not known and does not count.
std::map<UnixMs, double> sharesOf(const StoreReader& store, const SourceRecord& source, const SeriesRecord& series,
                                  const CalendarKey& key, const std::vector<RollupRow>& days, UnixMs from, UnixMs to) {
  std::map<UnixMs, double> shares;
  if (days.empty()) return shares;
  to = std::min({to, days.back().end, store.endOf(source, series.id)});
  from = std::max(from, days.front().start);
  const std::vector<Outage> gaps = store.eachGap(source.id, from, to + 1);  // one that begins just before `to`, too
  struct Time {
    double known = 0, counted = 0;
  };
  std::map<UnixMs, Time> times;
  const auto add = [&](UnixMs begin, UnixMs end, bool counts) {
    auto day = std::ranges::upper_bound(days, begin, {}, &RollupRow::start);
    if (day != days.begin()) --day;
    for (; day != days.end() && day->start < end; ++day) {
      const auto lasts = static_cast<double>(std::min(end, day->end) - std::max(begin, day->start));
      if (lasts <= 0) continue;
      times[day->start].known += lasts;
      if (counts) times[day->start].counted += lasts;
    }
  };
  for (const auto& [name, changes] : store.stateChanges(series.id, from, to)) {
    if (name != key.states) continue;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const auto& [changed, state] = changes[i];
      if (state.empty()) continue;
      UnixMs begin = std::max(changed, from);
      const UnixMs end = i + 1 < changes.size() ? std::min(to, changes[i + 1].first) : to;
      for (auto gap = std::ranges::upper_bound(gaps, begin, {}, &Outage::end); gap != gaps.end() && gap->begin < end;
           ++gap) {
        add(begin, gap->begin, state == key.state);
        begin = gap->end;
      }
      add(begin, end, state == key.state);
    }
  }
  for (const auto& [day, time] : times) shares[day] = 100 * time.counted / time.known;
  return shares;
}

}  // namespace

DayMoment parseDayMoment(const std::string& text) {
  if (text == "noon") return {};
  if (const auto time = readNumbers(text, ':'); time && text.find('-') == std::string::npos)  // no "-0:30" either
    if (const auto [hour, minute] = *time; hour < 24 && minute < 60) return {By::kClock, hour * 60.0 + minute};
  const bool evening = text.ends_with(":evening");
  const std::string sun = text.substr(0, evening ? text.rfind(':') : text.size());
  const auto height = sun.starts_with("sun:") ? readNumber<double>(sun.substr(4)) : std::nullopt;
  if (height && std::abs(*height) < 90) return {evening ? By::kSinkingSun : By::kRisingSun, *height};
  throw Error("'" + text +
              "' is neither noon, a time of the day such as 13:30, nor a height of the sun in degrees such as "
              "sun:20 or sun:20:evening");
}

std::span<const NamedMoment> dayMoments() {
  static constexpr NamedMoment kMoments[] = {{"noon", QT_TRANSLATE_NOOP("moments", "highest sun")},
                                             {"sun:20", QT_TRANSLATE_NOOP("moments", "sun at 20°, morning")},
                                             {"sun:20:evening", QT_TRANSLATE_NOOP("moments", "sun at 20°, evening")},
                                             {"sun:5", QT_TRANSLATE_NOOP("moments", "sun at 5°, morning")},
                                             {"sun:5:evening", QT_TRANSLATE_NOOP("moments", "sun at 5°, evening")},
                                             {"12:00", "12:00"}};
  return kMoments;
}

DayPictures::DayPictures(const DayMoment& moment, const std::optional<vision::GeoPosition>& place,
                         vision::CameraClock clock)
    : moment_(moment), place_(place), clock_(std::move(clock)) {
  if (place || moment.by == By::kClock) return;
  if (moment.by != By::kHighestSun) {
    throw Error(
        "the height of the sun needs the place of the camera, which its samples do not have: give --lat and --lon, or "
        "name a time, such as 12:00");
  }
  moment_ = {By::kClock, 12 * 60};
}

std::optional<double> DayPictures::away(UnixMs time) const {
  if (moment_.by == By::kClock)
    return std::abs(static_cast<double>(clock_.wall(time) % kDayMs) / kMinuteMs - moment_.value);
  const auto height = [&](UnixMs at) { return sunElevation(at, place_->latitude, place_->longitude); };
  if (moment_.by == By::kHighestSun) return -height(time);
  if ((height(time + kMinuteMs) > height(time)) != (moment_.by == By::kRisingSun)) return std::nullopt;
  return std::abs(height(time) - moment_.value);
}

std::vector<std::size_t> DayPictures::choose(const std::vector<UnixMs>& times,
                                             const std::function<bool(std::size_t)>& good) const {
  std::map<std::int64_t, std::vector<std::pair<double, std::size_t>>> days;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (const auto from = away(times[i])) days[dayOf(times[i])].emplace_back(*from, i);
  std::vector<std::size_t> chosen;
  for (auto& [day, pictures] : days) {
    std::ranges::sort(pictures);
    const auto first = std::ranges::find_if(pictures, [&](const auto& picture) { return good(picture.second); });
    if (first != pictures.end()) chosen.push_back(first->second);
  }
  return chosen;
}

std::optional<vision::GeoPosition> storedPlace(const StoreReader& store, std::int64_t source) {
  std::optional<vision::GeoPosition> place;
  for (const SessionRecord& session : store.sessions(source))
    if (session.latitude && session.longitude) place = {*session.latitude, *session.longitude};
  return place;
}

std::vector<CalendarYear> calendarYears(const SourceRecord& source) {
  std::vector<CalendarYear> years;
  if (source.empty()) return years;
  const vision::CameraClock clock = vision::clockOrMachine(source.clock);
  const auto start = [&](int year) { return clock.time(vision::wallTime({.year = year})); };
  const int last = vision::civilTime(clock.wall(source.last)).year;
  for (int year = vision::civilTime(clock.wall(source.first)).year; year <= last; ++year)
    years.push_back({year, std::max(source.first, start(year)), std::min(source.last + 1, start(year + 1))});
  return years;
}

charts::CalendarDrawing calendarOf(const StoreReader& store, const SourceRecord& source, const SeriesRecord& series,
                                   const CalendarKey& key, const std::vector<DayPicture>& pictures, UnixMs from,
                                   UnixMs to) {
  const vision::CameraClock clock = vision::clockOrMachine(source.clock);
  std::map<UnixMs, charts::DayCell> cells;  // by the start of the whole day: the first one may begin with `from`
  const auto cellOf = [&](UnixMs time) -> charts::DayCell& {
    const UnixMs start = clock.startOfDay(time);
    charts::DayCell& cell = cells[start];
    cell.start = start;
    return cell;
  };
  const auto rows = store.rollup({.series = series.id,
                                  .from = from,
                                  .to = to,
                                  .width = kDayMs,
                                  .clock = clock,
                                  .regions = !key.series.region.empty()});
  const bool of_state = !key.states.empty();
  const auto shares = of_state ? sharesOf(store, source, series, key, rows, from, to) : std::map<UnixMs, double>();
  const auto label = std::ranges::find(series.classes, key.series.class_name) - series.classes.begin();
  for (const RollupRow& row : rows) {
    charts::DayCell& cell = cellOf(row.start);
    if (of_state) {
      if (const auto share = shares.find(row.start); share != shares.end()) cell.value = share->second;
    } else if (const auto sums = row.regions.find(key.series.region); sums != row.regions.end()) {
      const Spread spread = key.series.quantity.empty() ? sums->second.area(static_cast<int>(label))
                                                        : sums->second.spread(key.series.quantity);
      if (spread.samples > 0) cell.value = spread.mean;
    }
  }
  for (const DayPicture& picture : pictures) {
    charts::DayCell& cell = cellOf(picture.taken);
    cell.picture = picture.address;
    cell.taken = picture.taken;
  }
  charts::CalendarDrawing calendar{.from = from, .to = to, .clock = clock};
  for (auto& [start, cell] : cells) calendar.days.push_back(std::move(cell));
  const Quantity* quantity = of_state ? nullptr : findQuantity(key.series.quantity);
  calendar.unit = quantity ? quantity->unit : "%";
  calendar.decimals = quantity ? quantity->meanDigits() : 1;
  return calendar;
}

}  // namespace mpm::monitor
