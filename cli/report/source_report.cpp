// SPDX-License-Identifier: Apache-2.0
#include "cli/report/source_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "mpm/version.hpp"

namespace mpm::cli {

using namespace monitor;

namespace {

// The times of the first and the last sample of a series in one of its hours, which has so many; of that hour where
// they are forgotten.
Span timesWithin(const StoreReader& store, std::int64_t source, std::int64_t series, Span hour, std::int64_t samples) {
  if (store.count(source, hour.from, hour.to, series) < samples) return hour;
  Span times = hour;
  const auto takeFirst = [&](const Sample& sample) {
    times.from = sample.time;
    return false;
  };
  store.samples(source, hour.from, hour.to, takeFirst, series);
  times.to = store.lastSamples(source, 1, hour.to, series).back().time;
  return times;
}

// By their beginnings. Of hours in which several were measured each has one.
std::vector<Stretch> stretchesOf(const StoreReader& store, std::int64_t source, const std::vector<SeriesRecord>& all,
                                 const Span& span) {
  std::map<UnixMs, std::map<std::size_t, std::int64_t>> hours;  // samples by series
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const RollupRow& row : store.rollup({.series = all[i].id, .from = span.from, .to = span.to, .width = kHourMs}))
      if (const auto whole = row.regions.find(""); whole != row.regions.end())
        hours[row.start][i] += whole->second.samples();
  struct Hours {
    std::size_t series;
    UnixMs first, last;
    std::int64_t samples;
  };
  std::vector<Hours> found;
  std::map<std::size_t, std::size_t> open;  // the one of each series that was measured last
  for (const auto& [start, series_samples] : hours) {
    std::map<std::size_t, std::size_t> next;
    for (const auto& [series, samples] : series_samples) {
      const auto before = open.find(series);
      const std::size_t at = before == open.end() ? found.size() : before->second;
      if (before == open.end()) found.push_back({.series = series, .first = start, .last = start, .samples = 0});
      found[at].last = start;
      found[at].samples += samples;
      next[series] = at;
    }
    // One that has no sample in an hour of others ends with it.
    open = std::move(next);
  }
  std::vector<Stretch> stretches;
  for (const Hours& one : found) {
    const auto timesOf = [&](UnixMs hour) {
      const Span within{std::max(hour, span.from), std::min(hour + kHourMs, span.to)};
      return timesWithin(store, source, all[one.series].id, within, hours.at(hour).at(one.series));
    };
    stretches.push_back({all[one.series], timesOf(one.first).from, timesOf(one.last).to, one.samples});
  }
  std::ranges::stable_sort(stretches, {}, &Stretch::from);
  return stretches;
}

// The series with this number; 0: the latest.
SeriesRecord chosenSeries(const std::vector<SeriesRecord>& all, int number) {
  for (const SeriesRecord& one : all)
    if (one.number == number) return one;
  if (number != 0)
    throw Error("there is no series " + std::to_string(number) + " of this source; it has " +
                std::to_string(all.size()));
  return all.empty() ? SeriesRecord() : all.back();
}

// Behind the last sample of a series; where it is forgotten, behind its hour.
UnixMs endOf(const StoreReader& store, const SourceRecord& source, const SeriesRecord& series) {
  if (const auto last = store.lastSample(source, series.id)) return last->time + 1;
  const UnixMs end = source.last + 1;
  const auto hours = store.rollup({.series = series.id, .from = source.first, .to = end, .width = kHourMs});
  return hours.empty() ? end : std::min(end, hours.back().end);
}

Span spanOf(const StoreReader& store, const SourceRecord& source, const SeriesRecord& series,
            const ReportScope& scope) {
  const UnixMs to = scope.series == 0 ? source.last + 1 : endOf(store, source, series);
  return {scope.days > 0 ? std::max(source.first, to - static_cast<UnixMs>(scope.days * kDayMs)) : source.first, to};
}

}  // namespace

SourceReport::SourceReport(const StoreReader& store, const SourceRecord& record, const ReportScope& scope,
                           bool outages_too)
    : source(record),
      clock(vision::clockOrMachine(scope.clock ? scope.clock : record.clock)),
      all_series(store.series(record.id)),
      series(chosenSeries(all_series, scope.series)),
      span(spanOf(store, record, series, scope)) {
  stretches = stretchesOf(store, record.id, all_series, span);
  for (const SessionRecord& session : store.sessions(record.id))
    if (session.series == series.id)
      night_rules.insert(session.night_rule.value_or("a rule that is not stored says so"));
  statistics = store.dayNight(series.id, span.from, span.to);
  samples = store.count(record.id, span.from, span.to, series.id);
  comparable_samples = statistics.day.samples + statistics.night.samples;
  const auto days =
      store.rollup({.series = series.id, .from = span.from, .to = span.to, .width = kDayMs, .clock = clock});
  comparable_days = std::ranges::count_if(days, [](const RollupRow& day) {
    const auto whole = day.regions.find("");
    return whole != day.regions.end() && (whole->second.of(Side::kDay).spread("tokens").samples > 0 ||
                                          whole->second.of(Side::kNight).spread("tokens").samples > 0);
  });
  regions = regionMeans(store, series, span.from, span.to);
  states = store.states(series.id, span.from, span.to);
  const auto latest = scope.series == 0 ? store.lastSample(record, all_series) : std::nullopt;
  last = latest ? latest->sample.time : span.to - 1;
  if (upToNow()) awaited = store.awaited(record.id, unixNow());
  known_until = upToNow() ? record.knownUntil(awaited) : span.to;
  if (outages_too) outages = store.outages(record.id, span.from, known_until, awaited);
}

Spread SourceReport::value(std::string_view key) const {
  return regions.empty() ? Spread() : regions.front().value(key);
}

std::vector<ClassArea> SourceReport::areas() const {
  return regions.empty() ? std::vector<ClassArea>() : regions.front().areas;
}

std::int64_t SourceReport::summed() const {
  std::int64_t all = 0;
  for (const Stretch& one : stretches)
    if (one.series.id == series.id) all += one.samples;
  return all;
}

std::int64_t SourceReport::flagged(std::string_view key) const {
  const Spread pictures = value(key);
  return std::llround(pictures.mean * static_cast<double>(pictures.samples));
}

std::string reductionText(const SeriesRecord& series) {
  return series.reduce + (series.settings.empty() ? "" : ", " + series.settings);
}

std::string nightText(const SourceReport& report) {
  std::string text;
  for (const std::string& rule : report.night_rules)
    if (!rule.empty()) text += (text.empty() ? "" : ", or ") + rule;
  return text;
}

std::string methodsText(const SourceReport& report) {
  const SeriesRecord& series = report.series;
  std::string text = "Report of mpm_layer " MPM_VERSION "; model " + series.model_name + " (digest " +
                     series.model_digest + "), reduction " + reductionText(series) + ", precision " + series.precision +
                     ", " + std::to_string(series.tokens) +
                     " tokens before merging; n = " + counted(report.summed(), "sample");
  if (const auto left_out = report.flagged("flagged"); left_out > 0)
    text += ", " + std::to_string(left_out) + " of them flagged and left out of the means";
  return text + ", from " + report.clock.date(report.span.from) + " to " + report.clock.date(report.span.to - 1) +
         " by the clock of " + report.clock.name() +
         (report.summed() == 0         ? ""
          : knowsNight(report.regions) ? "; night where " + nightText(report)
                                       : "; day and night are not told apart") +
         ".";
}

}  // namespace mpm::cli
