// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "charts/draw_chart.h"
#include "cli/verb_options.h"
#include "cli/verbs/verbs.h"
#include "cli/video.h"
#include "evaluation/numbers.h"
#include "monitor/store/averages.h"
#include "monitor/store/export.h"
#include "monitor/store/merge.h"
#include "monitor/store/store.h"
#include "monitor/watch/camera_plan.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "mpm/version.hpp"
#include "program/paths.h"
#include "vision/labels/classes.h"
#include "vision/model_files.h"
#include "vision/pictures/estimate_files.h"
#include "vision/pictures/pictures.h"
#include "vision/sources/source.h"

namespace mpm::cli {
namespace {

using namespace charts;
using namespace monitor;

struct ReportArguments {
  std::vector<std::string> databases;
  std::string merged, source, export_path, chart_path, site;
  std::optional<vision::CameraClock> time_zone;
  std::optional<ExportFormat> format;
  double days = 0;  // 0: all
  int series = 0;   // 0: the latest
  std::optional<double> lat, lon;
  FilmOptions film;
  std::string film_moment = "noon";
  bool json = false, brief = false;
};

std::vector<SourceRecord> chosenSources(const StoreReader& store, const std::string& name) {
  const std::string shown = vision::parseSourceSpec(name).name();  // as it was given to 'mpm monitor'
  std::vector<SourceRecord> chosen;
  for (SourceRecord& source : store.sources())
    if (name.empty() || source.name == name || source.name == shown || utf8Text(source.name) == name)  // of --json
      chosen.push_back(std::move(source));
  if (chosen.empty())
    throw Error(name.empty() ? "the database holds no source yet"
                             : "the database holds no source '" + vision::redactCredentials(name) + "'");
  return chosen;
}

// The camera's clock: as the option says, else as its source has it.
vision::CameraClock clockOf(const SourceRecord& source, const ReportArguments& arguments) {
  return vision::clockOrMachine(arguments.time_zone ? arguments.time_zone : source.clock);
}

struct Span {
  UnixMs from, to;
};

Span spanOf(const SourceRecord& source, double days) {
  const UnixMs to = source.last + 1;
  return {days > 0 ? std::max(source.first, to - static_cast<UnixMs>(days * kDayMs)) : source.first, to};
}

// With the time since the last sample in which a camera gives none (StoreReader::awaited()).
Span withSilence(const Span& span, const std::optional<UnixMs>& awaited) {
  return {span.from, std::max(span.to, awaited.value_or(span.to))};
}

// The series that is asked for; 0: the latest.
SeriesRecord chosenSeries(const std::vector<SeriesRecord>& all, int number) {
  for (const SeriesRecord& one : all)
    if (one.number == number) return one;
  if (number != 0)
    throw Error("there is no series " + std::to_string(number) + " of this source; it has " +
                std::to_string(all.size()));
  return all.empty() ? SeriesRecord() : all.back();
}

// How long one series was measured without an hour that only has others in between.
struct Stretch {
  SeriesRecord series{};
  UnixMs from = 0, to = 0;  // of its first and of its last sample; where these are forgotten, of their hours
  std::int64_t samples = 0;
};

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

/// The numbers of a series of a source over a period.
struct SourceReport {
  SourceReport(const StoreReader& store, const SourceRecord& record, const ReportArguments& arguments)
      : source(record),
        span(spanOf(record, arguments.days)),
        clock(clockOf(record, arguments)),
        all_series(store.series(record.id)) {
    series = chosenSeries(all_series, arguments.series);
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
    awaited = store.awaited(record.id, unixNow());
    if (!arguments.brief || !arguments.chart_path.empty())
      outages = store.outages(record.id, span.from, withSilence(span, awaited).to, awaited);
  }

  SourceRecord source;
  Span span;
  vision::CameraClock clock;
  std::vector<SeriesRecord> all_series;
  SeriesRecord series;
  std::vector<Stretch> stretches;
  std::set<std::string> night_rules;  // of the sessions of the series; "": none
  DayNightStatistics statistics;
  std::int64_t samples = 0;  // of the series, kept one by one in the span
  // Samples with tokens that know day and night, and the days of the camera on which they were taken.
  std::int64_t comparable_samples = 0, comparable_days = 0;
  std::vector<RegionMeans> regions;  // the first is the whole picture
  std::vector<StateSeries> states;
  std::vector<Outage> outages;      // of the source; not for a brief line alone, which needs no more than their gaps
  std::optional<UnixMs> awaited{};  // StoreReader::awaited()

  // The mean of a quantity, and the areas, of the whole picture.
  Spread value(std::string_view key) const { return regions.empty() ? Spread() : regions.front().value(key); }
  std::vector<ClassArea> areas() const { return regions.empty() ? std::vector<ClassArea>() : regions.front().areas; }
  bool knowsNight() const { return !regions.empty() && regions.front().knowsNight(); }
  // Samples of the series that the means know, also those that are not kept one by one any more.
  std::int64_t summed() const {
    std::int64_t all = 0;
    for (const Stretch& one : stretches)
      if (one.series.id == series.id) all += one.samples;
    return all;
  }
  // How many pictures have this flag.
  std::int64_t flagged(std::string_view key) const {
    const Spread pictures = value(key);
    return std::llround(pictures.mean * static_cast<double>(pictures.samples));
  }
};

void printAreas(const std::vector<ClassArea>& areas) {
  if (areas.empty()) return;
  const bool validated = areas.front().corrected.has_value();
  const auto row = [&](const std::string& name, const std::vector<std::string>& values) {
    std::vector<std::string> cells = {name};
    for (const std::string& value : values) cells.push_back(" " + value);
    if (!validated) cells.resize(4);
    printLine("  " + tableRow(cells, {-18, 9, 9, 9, 11, 9}));
  };
  const auto percent = [](std::optional<double> share) { return share ? fixed(100 * *share, 2) : std::string("-"); };
  row("area, %", {"all", "day", "night", "corrected", "IoU"});
  for (const ClassArea& area : areas)
    row(area.name,
        {percent(area.all), percent(area.day), percent(area.night), percent(area.corrected), percent(area.iou)});
}

// Of each region a row for each quantity, with its least and its largest value, and its largest classes.
void printRegions(const std::vector<RegionMeans>& regions) {
  constexpr std::size_t kShown = 3;
  const std::vector<int> widths = {-26, 27, 27, 27};
  for (const RegionMeans& region : regions) {
    const bool sides = region.knowsNight();
    const auto row = [&](const std::string& name, const std::vector<std::string>& cells) {
      std::vector<std::string> line = {name};
      for (const std::string& cell : cells) line.push_back("  " + cell);
      if (!sides) line.resize(2);
      printLine("  " + tableRow(line, widths));
    };
    row(region.name.empty() ? "whole picture" : region.name, {"mean [min, max]", "day", "night"});
    const auto counts = [](const std::vector<Spread>& values) {
      return std::to_string(spreadOf(values, "pixels").samples);
    };
    row("samples", {counts(region.values), counts(region.day), counts(region.night)});
    for (std::size_t q = 0; q < quantities().size(); ++q) {
      const Quantity& one = quantities()[q];
      if (!one.of_regions) continue;
      const auto cell = [&](const Spread& value) {
        return value.samples == 0 ? std::string("-")
                                  : fixed(value.mean, one.digits) + " [" + fixed(value.min, one.digits) + ", " +
                                        fixed(value.max, one.digits) + "]";
      };
      row(one.label + (*one.unit ? std::string(", ") + one.unit : ""),
          {cell(region.values[q]), cell(region.day[q]), cell(region.night[q])});
    }
    std::string classes;
    for (const ClassArea& area : largest(region.areas, kShown))
      classes += (classes.empty() ? "" : ", ") + area.name + " " + fixed(100 * area.all, 1);
    if (!region.name.empty() && !classes.empty()) printLine("  largest classes of " + region.name + ", %: " + classes);
  }
}

// How a series was measured with its model: "mpm:blocks=2,5, refine=guided".
std::string reductionText(const SeriesRecord& series) {
  return series.reduce + (series.settings.empty() ? "" : ", " + series.settings);
}

// Which series was measured when, where there are several.
void printStretches(const SourceReport& report) {
  if (report.stretches.size() < 2) return;
  const std::vector<int> widths = {-28, -28, 8, 10, -2};
  printLine("  " + tableRow({"measured from", "to", "series", "samples", "", "model, reduction"}, widths));
  for (const Stretch& one : report.stretches)
    printLine("  " +
              tableRow({report.clock.localTime(one.from), report.clock.localTime(one.to),
                        std::to_string(one.series.number), std::to_string(one.samples), "",
                        one.series.model_name + " " + one.series.model_digest + ", " + reductionText(one.series)},
                       widths));
}

// When it is night: "the sun is below -6 degrees at ...".
std::string nightText(const SourceReport& report) {
  std::string text;
  for (const std::string& rule : report.night_rules)
    if (!rule.empty()) text += (text.empty() ? "" : ", or ") + rule;
  return text;
}

// What a text about these numbers has to say of how they were made.
std::string methodsText(const SourceReport& report) {
  const SeriesRecord& series = report.series;
  std::string text = "Report of mpm_layer " MPM_VERSION "; model " + series.model_name + " (digest " +
                     series.model_digest + "), reduction " + reductionText(series) + ", precision " + series.precision +
                     ", " + std::to_string(series.tokens) +
                     " tokens before merging; n = " + counted(report.summed(), "sample");
  if (const auto left_out = report.flagged("flagged"); left_out > 0)
    text += ", " + std::to_string(left_out) + " of them flagged and left out of the means";
  return text + ", from " + report.clock.date(report.span.from) + " to " + report.clock.date(report.span.to - 1) +
         " by the clock of " + report.clock.name() + "; " +
         (report.knowsNight() ? "night where " + nightText(report) : "day and night are not told apart") + ".";
}

void printStates(const std::vector<StateSeries>& states) {
  const std::vector<int> widths = {-18, 9, 9, 9, -3};
  if (!states.empty())
    printLine("  " + tableRow({"states", " samples", " changes", " sure, %", "", "share of the samples, %"}, widths));
  for (const StateSeries& one : states) {
    std::int64_t samples = 0, changes = -1;
    for (const auto& [state, count] : one.samples) samples += count;
    for (const auto& [time, state] : one.changes) changes += !state.empty();
    const auto percent = [&](std::int64_t count) {
      return fixed(100.0 * static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(1, samples)), 1);
    };
    std::string shares;
    for (const auto& [state, count] : one.samples)
      shares += (shares.empty() ? "" : ", ") + (state.empty() ? "not known" : state) + " " + percent(count);
    printLine("  " + tableRow({one.name, std::to_string(samples), std::to_string(std::max<std::int64_t>(0, changes)),
                               percent(one.sure), "", shares},
                              widths));
  }
}

// How often and how long: "no samples 2 times, 1.00 h; covered or fogged 3 times, 0.33 h".
std::string outagesText(const std::vector<Outage>& outages) {
  std::map<OutageCause, std::pair<int, UnixMs>> causes;
  for (const Outage& one : outages) {
    auto& [times, length] = causes[one.cause];
    ++times;
    length += one.end - one.begin;
  }
  std::string text;
  for (const auto& [cause, sums] : causes)
    text += (text.empty() ? "" : "; ") + toText(cause) + " " + counted(sums.first, "time") + ", " +
            fixed(static_cast<double>(sums.second) / kHourMs, 2) + " h";
  return text;
}

void printNumbers(const SourceReport& report) {
  const std::vector<int> kWidths = {-8, 11, 11, 11, 11, 11, 11, 17};
  const auto line = [](const std::string& text) { printLine("  " + text); };
  printLine(report.source.name);
  line(isoTime(report.span.from) + " to " + isoTime(report.span.to - 1) + ", " + counted(report.samples, "sample") +
       " kept");
  if (report.clock.name() != "UTC")
    line(report.clock.localTime(report.span.from) + " to " + report.clock.localTime(report.span.to - 1) +
         " by the clock of " + report.clock.name());
  const SeriesRecord& series = report.series;
  line("model " + series.model + ", reduction " + reductionText(series) + ", " + std::to_string(series.tokens) +
       " tokens before merging");
  if (report.all_series.size() > 1) {
    std::string others;
    for (const SeriesRecord& one : report.all_series)
      if (one.id != series.id) others += (others.empty() ? "" : ", ") + std::to_string(one.number);
    line("series " + std::to_string(series.number) + " of " + std::to_string(report.all_series.size()) +
         ": samples that were measured in another way are not averaged with these; --series shows " + others);
  }
  printStretches(report);
  if (const Spread rows = report.value("rows"), agreement = report.value("agreement"); rows.samples > 0)
    line("reuse: " + fixed(rows.mean, 1) + " % of the rows computed on average" +
         (agreement.samples == 0
              ? ", no key frame compared yet"
              : "; " + counted(agreement.samples, "key frame") + " compared, with an agreement of " +
                    fixed(agreement.mean, 2) + " % on average and " + fixed(agreement.min, 2) + " % at worst"));
  if (const auto left_out = report.flagged("flagged"); left_out > 0) {
    std::string why;
    for (std::size_t bit = 0; bit < kQualityFlags.size(); ++bit)
      if (const auto pictures = report.flagged(kQualityFlags[bit]); pictures > 0)
        why += (why.empty() ? "" : ", ") + std::to_string(pictures) + " " + toText(static_cast<QualityFlag>(1 << bit));
    line("quality: " + std::to_string(left_out) + " of " + counted(report.value("flagged").samples, "picture") +
         " left out: " + why);
  }
  if (!report.outages.empty()) line("outages: " + outagesText(report.outages));
  printAreas(report.areas());
  printRegions(report.regions);
  printStates(report.states);
  if (!report.knowsNight())
    return line(
        "day and night are not known: 'mpm monitor --judge' decides, with --lat and --lon, --night-brightness or "
        "--night-hours");
  if (report.comparable_samples == 0)
    return line("no tokens by day or night: every picture is flagged, or has no tokens");
  line("comparable: " + counted(report.comparable_samples, "sample") + " of this series, on " +
       counted(report.comparable_days, "day") + " (" + report.clock.name() + ")");
  const auto withSign = [](std::optional<double> value) { return (value && *value >= 0 ? "+" : "") + fixed(value, 2); };
  const auto row = [&](const std::string& name, const Summary& summary, const std::optional<double>& change) {
    std::vector<std::string> cells = {name, std::to_string(summary.samples)};
    for (const double value : {summary.mean, summary.median, summary.p90, summary.min, summary.max})
      cells.push_back(summary.samples > 0 ? " " + fixed(value, 1) : "-");
    cells.push_back(" " + withSign(change));
    line(tableRow(cells, kWidths));
  };
  line(tableRow({"tokens", "samples", "mean", "median", "p90", "min", "max", "since yesterday"}, kWidths));
  row("day", report.statistics.day, report.statistics.day_change);
  row("night", report.statistics.night, report.statistics.night_change);
  if (const auto& brightness = report.statistics.brightness)
    line(std::string("all count as ") + (report.statistics.night.samples > 0 ? "night" : "day") +
         ", with a brightness from " + fixed(brightness->first, 0) + " to " + fixed(brightness->second, 0) +
         " of 255; 'mpm monitor --judge' judges them by another rule");
  if (!report.statistics.difference) return;
  const Difference& difference = *report.statistics.difference;
  line("night - day " + withSign(difference.tokens) +
       (difference.plus_minus
            ? " +- " + fixed(difference.plus_minus, 2) + " (95 %, " + std::to_string(difference.day_blocks) + " + " +
                  std::to_string(difference.night_blocks) +
                  (difference.block == Difference::Block::kPeriod ? " days and nights)" : " hours)") +
                  (difference.significant() ? "" : ": not significantly different from zero")
            : ", too few samples for an interval"));
}

void printReport(const SourceReport& report) {
  printNumbers(report);
  printLine("  methods: " + methodsText(report));
}

// One line for somebody who looks after many cameras: is all well?
void printBrief(const StoreReader& store, const SourceReport& report, const std::string& database) {
  const std::int64_t id = report.source.id;
  const auto [from, to] = withSilence(report.span, report.awaited);
  const UnixMs last = report.source.last;
  std::string text = report.source.name + ": last sample " + isoTime(last);
  if (!report.source.own_clock)
    for (const auto& [unit, length] : {std::pair("day", kDayMs), {"hour", kHourMs}, {"minute", kMinuteMs}})
      if (const UnixMs age = (unixNow() - last) / length; age >= 2 || (length == kMinuteMs && age >= 0)) {
        text += " (" + counted(age, unit) + " ago)";
        break;
      }
  text += ", " + counted(report.samples, "sample");
  text += ", " + counted(store.gaps(id, from, to, report.awaited).count, "gap");
  if (const Spread flagged = report.value("flagged"); flagged.samples > 0)
    text += ", " + fixed(100 * flagged.mean, 1) + " % of the pictures bad";
  for (const StateSeries& one : report.states)
    if (!one.changes.empty() && !one.changes.back().second.empty())
      text += ", " + one.name + " " + one.changes.back().second;
  std::vector<Event> alarms = store.events(id, from, to, std::numeric_limits<int>::max());
  std::erase_if(alarms, [](const Event& event) { return event.kind != EventKind::kAlarm; });
  text += ", " + counted(alarms.size(), "alarm");
  if (!alarms.empty()) text += " (" + isoTime(alarms.back().time) + " " + alarms.back().message + ")";
  printLine(text + ", " + fixed(static_cast<double>(std::filesystem::file_size(database)) / 1e6, 1) + " MB");
}

Json summaryJson(const Summary& summary, const std::optional<double>& change) {
  if (summary.samples == 0) return nullptr;
  return {{"samples", summary.samples},
          {"mean", summary.mean},
          {"median", summary.median},
          {"p90", summary.p90},
          {"min", summary.min},
          {"max", summary.max},
          {"change_since_yesterday", evaluation::orNull(change)}};
}

// Means, and the least and the largest values.
Json spreadsJson(const std::vector<Spread>& values) {
  Json json = {{"samples", spreadOf(values, "pixels").samples}};
  for (std::size_t q = 0; q < quantities().size(); ++q) {
    const Quantity& one = quantities()[q];
    if (values[q].samples == 0) continue;
    json[one.key] = rounded(one, values[q].mean);
    json["min"][one.key] = rounded(one, values[q].min);
    json["max"][one.key] = rounded(one, values[q].max);
  }
  return json;
}

Json reportJson(const SourceReport& report) {
  const SeriesRecord& series = report.series;
  Json all_series = Json::array();
  for (const SeriesRecord& one : report.all_series)
    all_series.push_back(
        {{"number", one.number}, {"model", one.model}, {"reduce", one.reduce}, {"settings", one.settings}});
  Json json = {{"source", report.source.name},
               {"from", isoTime(report.span.from, true)},
               {"to", isoTime(report.span.to - 1, true)},
               {"from_local", report.clock.localTime(report.span.from)},
               {"to_local", report.clock.localTime(report.span.to - 1)},
               {"clock", report.clock.name()},
               {"samples", report.samples},
               {"model", series.model},
               {"model_digest", series.model_digest},
               {"reduce", series.reduce},
               {"precision", series.precision},
               {"settings", series.settings},
               {"series", series.number},
               {"all_series", std::move(all_series)},
               {"stretches", Json::array()},
               {"night_where", report.knowsNight() ? Json(nightText(report)) : Json()},
               {"methods", methodsText(report)},
               {"comparable", {{"samples", report.comparable_samples}, {"days", report.comparable_days}}},
               {"day", summaryJson(report.statistics.day, report.statistics.day_change)},
               {"night", summaryJson(report.statistics.night, report.statistics.night_change)},
               {"night_minus_day", nullptr},
               {"mean", nullptr},
               {"quality", {{"pictures", report.value("flagged").samples}, {"left_out", report.flagged("flagged")}}},
               {"areas", Json::object()},
               {"regions", Json::object()},
               {"states", Json::object()},
               {"outages", Json::array()}};
  for (const Outage& one : report.outages) json["outages"].push_back(toJson(one));
  for (const Stretch& one : report.stretches)
    json["stretches"].push_back({{"series", one.series.number},
                                 {"model", one.series.model},
                                 {"model_digest", one.series.model_digest},
                                 {"reduce", one.series.reduce},
                                 {"settings", one.series.settings},
                                 {"from", isoTime(one.from, true)},
                                 {"to", isoTime(one.to, true)},
                                 {"samples", one.samples}});
  for (const StateSeries& one : report.states) {
    Json changes = Json::array();
    for (const auto& [time, state] : one.changes)
      changes.push_back({{"time", isoTime(time, true)}, {"state", state.empty() ? Json() : Json(state)}});
    json["states"][one.name] = {{"samples", one.samples}, {"sure", one.sure}, {"changes", changes}};
  }
  for (const char* flag : kQualityFlags) json["quality"][flag] = report.flagged(flag);
  for (const ClassArea& area : report.areas())
    json["areas"][area.name] = {{"all", area.all},
                                {"day", evaluation::orNull(area.day)},
                                {"night", evaluation::orNull(area.night)},
                                {"corrected", evaluation::orNull(area.corrected)},
                                {"iou", evaluation::orNull(area.iou)}};
  for (const RegionMeans& region : report.regions) {
    Json means = spreadsJson(region.values);
    if (region.knowsNight()) means.update({{"day", spreadsJson(region.day)}, {"night", spreadsJson(region.night)}});
    for (const ClassArea& area : region.areas)
      if (area.all > 0) means["area_fraction"][area.name] = area.all;
    (region.name.empty() ? json["mean"] : json["regions"][region.name]) = std::move(means);
  }
  if (const auto& difference = report.statistics.difference)
    json["night_minus_day"] = {{"tokens", difference->tokens},
                               {"plus_minus_95", evaluation::orNull(difference->plus_minus)},
                               {"block", difference->block == Difference::Block::kPeriod ? "period" : "hour"},
                               {"day_blocks", difference->day_blocks},
                               {"night_blocks", difference->night_blocks}};
  return json;
}

// The name of the place, from that of the source: the last part of a path or URL.
std::string siteOf(const std::string& source) {
  const std::filesystem::path path(source);
  return fileName((path.has_filename() ? path : path.parent_path()).filename().string());
}

// Where the camera stands: as the options say, else as its latest session with a place.
std::optional<vision::GeoPosition> placeOf(const StoreReader& store, const SourceRecord& source,
                                           const ReportArguments& said) {
  if (said.lat && said.lon) return vision::GeoPosition{*said.lat, *said.lon};
  return storedPlace(store, source.id);
}

void writePhenoCamFiles(const StoreReader& store, const SourceRecord& source, const SeriesRecord& series, Span span,
                        const ReportArguments& arguments) {
  const auto place = placeOf(store, source, arguments);
  if (!place)
    throw UsageError("PhenoCam's files need the height of the sun: say where the camera stands with --lat and --lon");
  PhenoCamOptions options;
  options.source = source.id;
  options.series = series.id;
  options.from = span.from;
  options.to = span.to;
  options.site = arguments.site.empty() ? siteOf(source.name) : fileName(arguments.site);
  options.latitude = place->latitude;
  options.longitude = place->longitude;
  options.ahead_of_utc = clockOf(source, arguments).standardTime(source.last).offset(source.last);
  makeFolder(arguments.export_path);
  for (const std::string& path : writePhenoCam(store, options, arguments.export_path)) printNote("wrote " + path);
}

// The colours of the model that measured, while its file is there.
std::map<std::string, std::uint32_t> colorsOf(const SeriesRecord& series) {
  std::map<std::string, std::uint32_t> colors;
  try {
    if (vision::modelDigest(series.model) != series.model_digest) return colors;
    const ModelInfo model = readModelInfo(series.model);
    const std::vector<cv::Vec3b> bgr = vision::classColors(model.facts, model.classes);
    const auto names = vision::classNames(model);
    for (std::size_t c = 0; c < names.size(); ++c)
      colors[names[c]] = static_cast<std::uint32_t>(bgr[c][2] << 16 | bgr[c][1] << 8 | bgr[c][0]);
  } catch (const Error&) {
  }
  return colors;
}

// Tokens, areas of classes, regions, and where it was on, the reuse of rows.
cv::Mat chartOf(const StoreReader& store, const SourceReport& report) {
  constexpr std::size_t kInLane = 4;  // as many colours
  ChartDrawing drawing{.clock = report.clock};
  std::vector<std::string> shown = {"Tokens kept"};
  const auto add = [&](const char* key, const std::string& region, bool joins) {
    const Quantity& one = *findQuantity(key);
    drawing.series.push_back({.quantity = {.quantity = key, .region = region},
                              .name = region.empty() ? one.label : key + (" of " + region),
                              .unit = one.unit,
                              .decimals = one.digits,
                              .joins = joins,
                              .sparse = one.ofFrame()});
  };
  const auto colors = colorsOf(report.series);
  const auto addAreas = [&](const RegionMeans& of) {
    const std::vector<ClassArea> most = largest(of.areas, kInLane);
    for (const ClassArea& area : most) {
      const auto color = colors.find(area.name);
      drawing.series.push_back({.quantity = {.class_name = area.name, .region = of.name},
                                .name = of.name.empty() ? area.name : area.name + " in " + of.name,
                                .unit = "%",
                                .decimals = 1,
                                .joins = &area != &most.front(),
                                .color = color == colors.end() ? std::nullopt : std::optional(color->second)});
    }
  };
  add("tokens", "", false);
  if (report.value("rows").samples > 0) {
    shown.emplace_back("rows computed");
    add("rows", "", false);
    add("agreement", "", false);
  }
  if (!report.areas().empty()) shown.emplace_back("areas of classes");
  if (report.regions.size() > 1) shown.emplace_back("regions");
  if (!report.regions.empty()) addAreas(report.regions.front());
  for (std::size_t i = 1; i < report.regions.size(); ++i) add("gcc", report.regions[i].name, (i - 1) % kInLane != 0);
  for (std::size_t i = 1; i < report.regions.size(); ++i) addAreas(report.regions[i]);
  for (std::size_t i = 0; i < shown.size(); ++i)
    drawing.title += (i == 0 ? "" : i + 1 < shown.size() ? ", " : " and ") + shown[i];
  drawing.title += ", " + report.source.name;
  ChartQuery query{.source = report.source.id,
                   .from = report.span.from,
                   .to = report.span.to,
                   .max_buckets = 1170,
                   .clock = report.clock,
                   .only = report.series.id};
  for (const ChartSeries& series : drawing.series) query.series.push_back(series.quantity);
  drawing.chart = store.chart(query);
  drawing.bands = chartBands(store.stateChanges(report.series.id, report.span.from, report.span.to), report.outages);
  drawing.axis.from = static_cast<double>(report.span.from) / kSecondMs;
  drawing.axis.to = static_cast<double>(withSilence(report.span, report.awaited).to) / kSecondMs;
  return chartPicture(std::move(drawing));
}

void makeFilm(const StoreReader& store, const SourceRecord& source, const SeriesRecord& series, Span span,
              const ReportArguments& arguments) {
  FilmOptions film = arguments.film;
  film.series = series.id;
  film.from = span.from;
  film.to = span.to;
  film.place = placeOf(store, source, arguments);
  film.clock = clockOf(source, arguments);
  film.moment = orUsageError([&] { return parseDayMoment(arguments.film_moment); });
  const FilmDays days = writeFilm(store, source, film);
  printNote("wrote " + film.path + ": " + counted(days.shown, "day") + " of " + film.clock.name() +
            (days.without > 0 ? "; " + counted(days.without, "day") + " between them without a picture" : ""));
}

int report(const ReportArguments& arguments) {
  const bool phenocam = arguments.format == ExportFormat::kPhenoCam;
  // The files of a database stand beside what a link to it leads to.
  Inputs inputs;
  for (const std::string& one : arguments.databases) {
    std::error_code ignored;
    const std::string database = std::filesystem::weakly_canonical(one, ignored).string();
    for (const char* ending : {"", "-wal", "-shm", "-journal", "-lock"}) inputs.files.push_back(database + ending);
  }
  requireOutput("--merge", arguments.merged, inputs);
  if (!phenocam) requireOutput("--export", arguments.export_path, inputs);
  requireOutput("--chart", arguments.chart_path, inputs);
  requireEnding("--chart", arguments.chart_path, ".png");
  requireOutput("--film", arguments.film.path, inputs);
  if (!arguments.export_path.empty() && !arguments.chart_path.empty() &&
      sameFile(arguments.export_path, arguments.chart_path))
    throw UsageError("--export and --chart are the same file");
  if (arguments.format && arguments.export_path.empty())
    throw UsageError("--format needs --export, the file to write, or of phenocam the folder");
  if (!arguments.site.empty() && !phenocam) throw UsageError("--site is for --format phenocam");
  if (arguments.film.ending != FilmOptions().ending && arguments.film.folder.empty())
    throw UsageError("--film-show overlay and merge need --snapshots, where these pictures are");
  std::optional<ScratchFolder> scratch;
  std::string database = arguments.databases.front();
  if (arguments.databases.size() > 1 || !arguments.merged.empty()) {
    database = arguments.merged.empty() ? scratch.emplace() / "all.db" : arguments.merged;
    mergeDatabases(arguments.databases, database);
    if (!scratch) printNote("wrote " + database);
  }
  const StoreReader store(database);
  const auto sources = chosenSources(store, arguments.source);
  const bool writes = !arguments.export_path.empty() || !arguments.chart_path.empty() || !arguments.film.path.empty();
  if (writes && sources.size() > 1)
    throw UsageError("the database holds " + counted(sources.size(), "source") + ": name one with --source");
  // Who asks for a file has it, and no report beside it.
  const bool prints = !writes || arguments.json || arguments.brief;
  for (std::size_t i = 0; prints && i < sources.size(); ++i) {
    const SourceReport found(store, sources[i], arguments);
    if (arguments.json) {
      printLine(reportJson(found));
    } else if (arguments.brief) {
      printBrief(store, found, database);
    } else {
      printReport(found);
    }
  }
  if (!writes) return kOk;
  const SourceRecord& source = sources[0];
  const Span span = spanOf(source, arguments.days);
  const SeriesRecord series = chosenSeries(store.series(source.id), arguments.series);
  if (phenocam) {
    writePhenoCamFiles(store, source, series, span, arguments);
  } else if (arguments.format == ExportFormat::kOutages) {
    // Not of a clock that was wrong: between its samples and the others lies no gap of years.
    const auto awaited = store.awaited(source.id, unixNow());
    const auto outages = store.outages(source.id, span.from, withSilence(span, awaited).to, awaited);
    writeFileAtomically(arguments.export_path, outagesCsv(outages, clockOf(source, arguments)));
    printNote("wrote " + arguments.export_path + ": " + counted(outages.size(), "outage"));
  } else if (!arguments.export_path.empty()) {
    // Every sample, also those of a clock that was wrong.
    const Span exported = arguments.days > 0 ? span : Span{INT64_MIN, INT64_MAX};
    ExportOptions options{.source = source.id,
                          .series = series.id,
                          .from = exported.from,
                          .to = exported.to,
                          .clock = clockOf(source, arguments)};
    if (arguments.format) options.format = *arguments.format;
    const auto samples = exportSamples(store, options, arguments.export_path);
    printNote("wrote " + arguments.export_path + ": " + counted(*samples, "sample"));
  }
  // A snapshot may be newer than the last sample.
  if (!arguments.film.path.empty()) makeFilm(store, source, series, {span.from, source.end}, arguments);
  if (!arguments.chart_path.empty()) {
    vision::writePicture(arguments.chart_path, chartOf(store, SourceReport(store, source, arguments)));
    printNote("wrote " + arguments.chart_path);
  }
  return kOk;
}

}  // namespace

Verb addReport(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("report", "Sum up, export or draw what 'mpm monitor' stored");
  const auto arguments = std::make_shared<ReportArguments>();
  addOption(
      *verb, "DB", arguments->databases, " ...",
      "The database; 'mpm monitor' may write it at the same time. Several\nare taken together: the parts of --shard")
      ->required();
  addOption(*verb, "--merge", arguments->merged, "FILE", "Write what the databases hold into this new one, too");
  addOption(*verb, "--source", arguments->source, "NAME", "Only this source. Default: all");
  addNumber(*verb, "--days", arguments->days, "N", 1e-3, 1e6, "Only the last days. Default: all");
  addOption(
      *verb, "--export", arguments->export_path, "FILE",
      "Write every sample into this file; with --format phenocam the three files that PhenoCam has of each region, "
      "SITE_REGION_roistats.csv, _1day.csv and _3day.csv, into this folder");
  addChoice<std::optional<ExportFormat>>(
      *verb, "--format", arguments->format,
      {{"csv", ExportFormat::kCsv},
       {"phenocam", ExportFormat::kPhenoCam},
       {"jsonl", ExportFormat::kJsonLines},
       {"outages", ExportFormat::kOutages}},
      "CSV of the samples, a line of JSON for each, PhenoCam's files, or CSV of the outages: when the camera gave "
      "nothing that counts, and why. Default: csv");
  addOption(*verb, "--site", arguments->site, "NAME",
            "SITE of PhenoCam's files. Default: the end of the source's name");
  addField(*verb, "time-zone", arguments->time_zone, [](const std::string& text) { return vision::CameraClock(text); })
      ->description(
          "The zone of the camera's clock, +01:00 or Europe/Paris with its summer time: for local times, days and "
          "--film-at. Default: the zone in which 'mpm monitor' read an archive, else that of this machine")
      ->group("Options");
  addOption(
      *verb, "--chart", arguments->chart_path, "FILE.png",
      "Draw the tokens, the classes, the regions and the states over time and, with --reuse, rows and agreement. Names "
      "in other letters than those of ASCII become question marks");
  addOption(
      *verb, "--film", arguments->film.path, "FILE.mp4",
      "Make a video of one stored picture a day: of an archive, or of the snapshots in --snapshots. Flagged pictures "
      "are left out")
      ->group("Film");
  addOption(*verb, "--snapshots", arguments->film.folder, "DIR", "The folder of snapshots of 'mpm monitor'");
  addOption(*verb, "--film-at", arguments->film_moment, "WHEN",
            "The picture of a day: noon (the sun is highest; 12:00 where the place of the camera is not known), 13:30, "
            "sun:20 (nearest to 20 degrees in the morning) or sun:20:evening. Default: noon");
  addText(*verb, "--film-show", "NAME,NAME",
          "date: write it into each picture. overlay or merge: instead of the picture of each snapshot its overlay, or "
          "the merge map that is there with 'merge-maps' of a watch file",
          [film = &arguments->film](const std::string& text) { film->show(text); });
  for (const char* name : {"--snapshots", "--film-at", "--film-show"})
    verb->get_option(name)->needs("--film")->group("Film");
  CLI::Option* const json = verb->add_flag("--json", arguments->json, "One JSON object per source");
  verb->add_flag("--brief", arguments->brief,
                 "One line per source: last sample, gaps, bad pictures, states, alarms, size of the database")
      ->excludes(json);
  addNumber(*verb, "--series", arguments->series, "N", 1, 1e6,
            "The numbers of this series: samples of one model and reduction. Default: the latest");
  addNumber(*verb, "--lat", arguments->lat, "DEG", -90, 90,
            "Where the camera stands, degrees north: for PhenoCam's files and the sun in a film. Default: as stored");
  addNumber(*verb, "--lon", arguments->lon, "DEG", -180, 180, "Degrees east");
  verb->footer(
      R"(The uncertainty of the difference is a 95 % interval over whole days and nights, or over hours before there are three
of each: the frames of one night are not independent observations.

Areas are means over the samples of the series, in percent of the picture. For a model of 'mpm teach', "IoU"
is that of its cross-validation. "corrected" moves the share that the model confused there to the true classes: see
docs/teach.md.

Examples:
  mpm report street.db
  mpm report street.db --days 30 --chart month.png
  mpm report yard.db --days 1 --brief                         is all well?
  mpm report part1.db part2.db --merge all.db
  mpm report yard.db --format outages --export outages.csv    when was there no camera?
  mpm report street.db --format phenocam --export phenocam      roistats, 1-day and 3-day files of each region
  mpm report yard.db --film season.mp4 --snapshots pictures --film-show date
  mpm report archive.db --series 1                            what the first model measured
)");
  return {verb, [arguments] { return report(*arguments); }};
}

}  // namespace mpm::cli
