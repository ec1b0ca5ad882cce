// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/number_text.h"
#include "cli/report/outputs.h"
#include "monitor/age_text.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace monitor;
using namespace program;

namespace {

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
  for (const ClassArea& area : areas) {
    row(area.name,
        {percent(area.all), percent(area.day), percent(area.night), percent(area.corrected), percent(area.iou)});
  }
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
                                  : fixed(value.mean, one.meanDigits()) + " [" + fixed(value.min, one.digits) + ", " +
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

// Which series was measured when, where there are several.
void printStretches(const SourceReport& report) {
  if (report.stretches.size() < 2) return;
  const std::vector<int> widths = {-28, -28, 8, 10, -2};
  printLine("  " + tableRow({"measured from", "to", "series", "samples", "", "model, reduction, precision"}, widths));
  for (const Stretch& one : report.stretches) {
    printLine("  " + tableRow({report.clock.localTime(one.from), report.clock.localTime(one.to),
                               std::to_string(one.series.number), std::to_string(one.samples), "",
                               one.series.model_name + " " + one.series.model_digest + ", " +
                                   reductionText(one.series) + ", " + one.series.precision},
                              widths));
  }
}

void printStates(const std::vector<StateSeries>& states) {
  const std::vector<int> widths = {-18, 9, 9, 9, -3};
  if (!states.empty())
    printLine("  " + tableRow({"states", " samples", " changes", " sure, %", "", "share of the samples, %"}, widths));
  for (const StateSeries& one : states) {
    std::int64_t samples = 0, changes = -1;
    for (const auto& [state, count] : one.samples) samples += count;
    for (std::string before; const auto& [time, state] : one.changes)
      if (!state.empty() && std::exchange(before, state) != state) ++changes;
    const auto percent = [&](std::int64_t count) {
      return fixed(100.0 * static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(1, samples)), 1);
    };
    std::string shares;
    for (const auto& [state, count] : one.samples)
      shares += (shares.empty() ? "" : ", ") + (state.empty() ? "not known" : state) + " " + percent(count);
    printLine("  " + tableRow({one.name, std::to_string(samples), std::to_string(std::max<std::int64_t>(0, changes)),
                               samples > 0 ? percent(one.sure) : "-", "", shares},
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
  for (const auto& [cause, sums] : causes) {
    text += (text.empty() ? "" : "; ") + toText(cause) + " " + counted(sums.first, "time") + ", " +
            fixed(static_cast<double>(sums.second) / kHourMs, 2) + " h";
  }
  return text;
}

void printNumbers(const SourceReport& report) {
  const std::vector<int> kWidths = {-8, 11, 11, 11, 11, 11, 11, 17};
  const auto line = [](const std::string& text) { printLine("  " + text); };
  printLine(report.source.name);
  line(isoTime(report.span.from) + " to " + isoTime(report.span.to - 1) + ", " + counted(report.samples, "sample") +
       " kept");
  if (report.clock.name() != "UTC") {
    line(report.clock.localTime(report.span.from) + " to " + report.clock.localTime(report.span.to - 1) +
         " by the clock of " + report.clock.name());
  }
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
  if (const Spread rows = report.value("rows"), agreement = report.value("agreement"); rows.samples > 0) {
    line("reuse: " + fixed(rows.mean, 1) + " % of the rows computed on average" +
         (agreement.samples == 0
              ? ", no key frame compared yet"
              : "; " + counted(agreement.samples, "key frame") + " compared, with an agreement of " +
                    fixed(agreement.mean, 2) + " % on average and " + fixed(agreement.min, 2) + " % at worst"));
  }
  if (const auto left_out = report.flagged("flagged"); left_out > 0) {
    std::string why;
    for (std::size_t bit = 0; bit < kQualityFlags.size(); ++bit) {
      if (const auto pictures = report.flagged(kQualityFlags[bit]); pictures > 0)
        why += (why.empty() ? "" : ", ") + std::to_string(pictures) + " " + toText(static_cast<QualityFlag>(1 << bit));
    }
    line("quality: " + std::to_string(left_out) + " of " + counted(report.value("flagged").samples, "picture") +
         " left out: " + why);
  }
  if (!report.outages.empty()) line("outages: " + outagesText(report.outages));
  printAreas(report.areas());
  printRegions(report.regions);
  printStates(report.states);
  if (report.summed() == 0) return line("no samples of this series in this time");
  if (!knowsNight(report.regions)) {
    return line(
        "day and night are not known: 'mpm monitor --judge' decides, with --lat and --lon, --night-brightness or "
        "--night-hours");
  }
  if (report.comparable_samples == 0)
    return line("no tokens by day or night: every picture is flagged or has no tokens, or their hours are deleted");
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
  if (const auto& brightness = report.statistics.brightness) {
    line(std::string("all count as ") + (report.statistics.night.samples > 0 ? "night" : "day") +
         ", with a brightness from " + fixed(brightness->first, 0) + " to " + fixed(brightness->second, 0) +
         " of 255; 'mpm monitor --judge' judges them by another rule");
  }
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

}  // namespace

void printReport(const SourceReport& report) {
  if (report.empty()) {
    printLine(report.source.name);
    printLine("  no samples yet");
    return;
  }
  printNumbers(report);
  printLine("  methods: " + methodsText(report));
}

void printBrief(const StoreReader& store, const SourceReport& report, std::uintmax_t bytes) {
  const std::int64_t id = report.source.id;
  const UnixMs from = report.span.from, last = report.last;
  std::string text =
      report.source.name + (report.empty() ? ": no samples yet" : ": last sample " + report.clock.localTime(last));
  if (!report.empty() && !report.source.own_clock) text += " (" + ageText(unixNow() - last) + ")";
  if (!report.empty()) text += ", " + counted(report.samples, "sample");
  text += ", " + counted(store.gaps(id, from, report.known_until, report.awaited).count, "gap");
  if (const Spread flagged = report.value("flagged"); flagged.samples > 0)
    text += ", " + fixed(100 * flagged.mean, 1) + " % of the pictures bad";
  for (const StateSeries& one : report.states) {
    if (!one.changes.empty() && !one.changes.back().second.empty())
      text += ", " + one.name + " " + one.changes.back().second;
  }
  // An alarm that a camera gives nothing begins later than its last sample, also of one that is watched no more.
  std::vector<Event> alarms =
      store.events(id, from, report.upToNow() ? report.source.end : report.span.to, std::numeric_limits<int>::max());
  std::erase_if(alarms, [](const Event& event) { return event.kind != EventKind::kAlarm; });
  text += ", " + counted(alarms.size(), "alarm");
  if (!alarms.empty()) text += " (" + report.clock.localTime(alarms.back().time) + " " + alarms.back().message + ")";
  printLine(text + ", " + fixed(static_cast<double>(bytes) / 1e6, 1) + " MB");
}

}  // namespace mpm::cli
