// SPDX-License-Identifier: Apache-2.0
#include "cli/report/source_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>
#include <utility>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "mpm/version.hpp"

namespace mpm::cli {

using namespace monitor;

namespace {

// The times of the first and the last sample of a series in one of its hours or days, which has so many; of that hour
// or day where they are forgotten.
Span timesWithin(const StoreReader& store, std::int64_t source, std::int64_t series, Span within,
                 std::int64_t samples) {
  if (store.count(source, within.from, within.to, series) < samples) return within;
  Span times = within;
  const auto takeFirst = [&](const Sample& sample) {
    times.from = sample.time;
    return false;
  };
  store.samples(source, within.from, within.to, takeFirst, series);
  times.to = store.lastSamples(source, 1, within.to, series).back().time;
  return times;
}

// An hour, or a day of UTC of which not all hours are kept: how many samples each series has there.
struct Measured {
  UnixMs width = 0;
  std::map<std::size_t, std::int64_t> samples{};  // by the place of the series
};

// By their beginnings.
std::map<UnixMs, Measured> measuredIn(const StoreReader& store, const std::vector<SeriesRecord>& all,
                                      const Span& span) {
  std::map<UnixMs, Measured> hours, days;
  const auto read = [&](std::map<UnixMs, Measured>& rows, UnixMs width) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const RollupRow& row :
           store.rollup({.series = all[i].id, .from = span.from, .to = span.to, .width = width})) {
        if (const auto whole = row.regions.find(""); whole != row.regions.end()) {
          rows[row.start].width = width;
          rows[row.start].samples[i] = whole->second.samples();
        }
      }
    }
  };
  read(hours, kHourMs);
  read(days, kDayMs);
  const auto sum = [](std::int64_t samples, const auto& row) {
    for (const auto& [series, of_series] : row.second.samples) samples += of_series;
    return samples;
  };
  for (const auto& day : days) {
    const auto begin = hours.lower_bound(day.first), end = hours.lower_bound(day.first + kDayMs);
    if (std::accumulate(begin, end, std::int64_t{0}, sum) >= sum(0, day)) continue;
    hours.erase(begin, end);
    hours.insert(day);
  }
  return hours;
}

// By their beginnings. Of hours in which several were measured each has one.
std::vector<Stretch> stretchesOf(const StoreReader& store, std::int64_t source, const std::vector<SeriesRecord>& all,
                                 const Span& span) {
  const auto measured = measuredIn(store, all, span);
  struct Found {
    std::size_t series;
    UnixMs first, last;
    std::int64_t samples;
  };
  std::vector<Found> found;
  std::map<std::size_t, std::size_t> open;  // the one of each series that was measured last
  for (const auto& [start, row] : measured) {
    std::map<std::size_t, std::size_t> next;
    for (const auto& [series, samples] : row.samples) {
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
  for (const Found& one : found) {
    const auto timesOf = [&](UnixMs start) {
      const Measured& row = measured.at(start);
      const Span within{std::max(start, span.from), std::min(start + row.width, span.to)};
      return timesWithin(store, source, all[one.series].id, within, row.samples.at(one.series));
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
  if (number != 0) {
    throw Error("there is no series " + std::to_string(number) + " of this source; it has " +
                std::to_string(all.size()));
  }
  return all.empty() ? SeriesRecord() : all.back();
}

Span spanOf(const StoreReader& store, const SourceRecord& source, const SeriesRecord& series,
            const ReportScope& scope) {
  const UnixMs to = scope.series == 0 ? source.last + 1 : store.endOf(source, series.id);
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
  measured = span;
  const auto begin = std::ranges::find(stretches, series.id, [](const Stretch& one) { return one.series.id; });
  if (begin != stretches.end()) measured = {begin->from, std::min(span.to, store.endOf(record, series.id))};
  for (const auto& rule : store.nightRules(series.id, measured.from, measured.to))
    night_rules.insert(rule.value_or("a rule that is not stored says so"));
  statistics = store.dayNight(series.id, span.from, span.to);
  samples = store.count(record.id, span.from, span.to, series.id);
  comparable_samples = statistics.day.samples + statistics.night.samples;
  const auto days =
      store.rollup({.series = series.id, .from = span.from, .to = span.to, .width = kDayMs, .clock = clock});
  comparable_days = std::ranges::count_if(days, [&](const RollupRow& day) {
    const auto whole = day.regions.find("");
    return whole != day.regions.end() &&
           (whole->second.of(Side::kDay).spread("tokens").samples > 0 ||
            whole->second.of(Side::kNight).spread("tokens").samples > 0) &&
           std::ranges::any_of(statistics.hours,
                               [&](UnixMs hour) { return hour < day.end && hour + kHourMs > day.start; });
  });
  regions = regionMeans(store, series, span.from, span.to);
  states = store.states(series.id, span.from, span.to);
  const auto latest = scope.series == 0 ? store.lastSample(record, all_series) : std::nullopt;
  last = latest ? latest->sample.time : span.to - 1;
  if (upToNow()) awaited = record.awaited;
  known_until = upToNow() ? record.knownUntil() : span.to;
  if (outages_too) outages = store.outages(record.id, span.from, known_until, awaited);
}

SourceReports::SourceReports(const StoreReader& store, const std::vector<SourceRecord>& sources, std::string database,
                             ReportScope scope, bool outages)
    : store_(store), sources_(sources), database_(std::move(database)), scope_(std::move(scope)), outages_(outages) {}

SourceReport SourceReports::next() {
  const SourceRecord& source = sources_[taken_++];
  if (sources_.size() == 1 || store_.isCopy()) return {store_, source, scope_, outages_};
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  for (; begun_ < std::min(sources_.size(), taken_ + cores - 1); ++begun_) {
    running_.push_back(std::async(std::launch::async, [this, &of = sources_[begun_]] {
      return SourceReport(StoreReader(database_), of, scope_, outages_);
    }));
  }
  SourceReport report = running_.front().get();
  running_.pop_front();
  return report;
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

// A rule may have come later.
std::string notJudgedText(const SourceReport& report) {
  const std::int64_t samples = report.regions.front().notJudged();
  if (samples == 0) return "";
  return "; " + std::to_string(samples) + " of the samples " + (samples == 1 ? "was" : "were") + " not judged";
}

std::string methodsText(const SourceReport& report) {
  const SeriesRecord& series = report.series;
  std::string text = "Report of mpm_layer " MPM_VERSION "; model " + series.model_name + " (digest " +
                     series.model_digest + "), reduction " + reductionText(series) + ", precision " + series.precision +
                     ", " + std::to_string(series.tokens) +
                     " tokens before merging; n = " + counted(report.summed(), "sample");
  if (const auto left_out = report.flagged("flagged"); left_out > 0)
    text += ", " + std::to_string(left_out) + " of them flagged and left out of the means";
  return text + ", from " + report.clock.date(report.measured.from) + " to " +
         report.clock.date(report.measured.to - 1) + " by the clock of " + report.clock.name() +
         (report.summed() == 0         ? ""
          : knowsNight(report.regions) ? "; night where " + nightText(report) + notJudgedText(report)
                                       : "; day and night are not told apart") +
         ".";
}

}  // namespace mpm::cli
